// Package frontend speaks the NATS client protocol to the world and puts mailboxes into it.
//
// Behind the front stands an embedded nats-server that does not listen. The front gives it a connection for each client, of a kind of its own, and
// splices the two: frames whose subject begins with `$mq9.` are taken and handed to the
// broker of package actors, every other byte passes unchanged and in order. mq9 messages never enter the embedded server's
// subject space, so no wildcard can see them.
//
// # One connection
//
//	          ┌────────────────────── session ───────────────────────┐
//	client ──►│ reader: parser ──(plain bytes)──► uplink ──► pipe ───┼──► embedded nats-server
//	          │   └─(mq9 frames)─► actors.Client                     │
//	          │                        │ replies, refusals, deliveries│
//	client ◄──│ writer ◄── outbox ◄────┴──────────────── splice ◄────┼─── embedded nats-server
//	          └──────────────────────────────────────────────────────┘
//
// Goroutines of a connection: the reader (which is the session), and a writer that lives only while there is something to write.
// The embedded server writes to the splice on its own goroutine, which puts into the outbox what the client gets, and into the client's
// socket at once what that takes without waiting, if nobody else writes: a plain message costs one copy and no switch of goroutines
// on its way out. The reply to a durable message goes the same way, on the store's goroutine, if nobody but its sender waits for the disk.
// Callbacks of the broker run on its goroutines; they never block here.
//
// # Users
//
// The embedded server alone says who a client is: no mq9 frame acts before it has accepted the CONNECT. Which account the client is in,
// and what its user may publish and subscribe to, the front then looks up in-process: the embedded server's list of connections names
// the user, the configuration or the user's JWT his permissions. (Asking `$SYS.REQ.USER.INFO` instead needs the very permissions that a
// bounded user lacks.) A user of whom they are not known is refused everything in mq9. They are looked up again
// after a reload, and every few seconds where JWTs may be replaced.
//
// The way to the embedded server is in-process, except with a cluster, an operator's JWTs or verify_and_map: nats-server wants a listener
// then, and gets one that opens to this front alone. A goroutine of the session reads then what the splice would be given.
//
// # Ways in
//
// Besides the ordinary listener there may be one for WebSockets and a Unix socket. All feed the same session: a WebSocket is
// a stream of bytes, with its TLS outside; a Unix socket has none.
//
// # Locks
//
// Taken in this order, never the other way round; nothing blocks while one of them is held:
//
//	session.calls, session.drain  →  table.mu, barrier.mu, admission.mu  →  outbox.mu
//	uplink.turn  →  uplink.mu, pipe.mu
//	nats-server's, of a client  →  splice.mu  →  table.mu, barrier.mu, admission.mu, uplink.mu, outbox.mu
//	Server.mu  →  table.mu, outbox.mu
//
// uplink.turn alone is held across a blocking write (to the embedded server). session.calls alone is held while the
// broker's [actors.Client] is called; an [actors.Subscription] is called with none of them held.
//
// # What it takes
//
// An idle subscription has 290 bytes of Go heap here (outlet 128, entry and its names 112, its place in the table 45) and 180 in package
// actors: 470 in all.
//
// An idle connection takes about 28 KiB, resident memory 46 KiB (go run ./benchmarks/scale connections, 5,000 of them), against 20 KiB of
// nats-server alone and an aim of 24. Of them 15 are the stacks of three goroutines, two of which are nats-server's (readLoop, writeLoop)
// and one is ours (the reader); 8 are nats-server's client, 5 the session with all that belongs to it.
//
// What is left to save is the reader's goroutine: the embedded server's read loop could read the client's socket through the splice, which would
// take the frames of mq9 out on the way. Frames of our own would then have to interrupt a read that waits.
//
// A connection has at most 256 KiB of deliveries in flight, whatever the number of its subscriptions, 1 MiB of replies and 1 MiB of
// nats-server's frames.
//
// # What is not quite as in nats-server
//
// A connection's bytes come from two servers. Each of them keeps its order, and a PONG stands behind all that was read
// before its PING; but a +OK or -ERR for an mq9 frame may pass one for a plain frame sent just before it, and the other way round.
// A control line with a CR inside, an LF where its first argument should be, and HMSG from a client are refused
// with `Unknown Protocol Operation`: what nats-server makes of the first depends on where the stream was cut.
//
// [Server] is safe for concurrent use.
package frontend
