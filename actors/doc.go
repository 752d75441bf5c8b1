// Package actors is the broker itself: who holds which message, who is owed which, and what ends when.
//
// # The cast
//
//	Supervisor   restarts, with back-off, the one actor that crashed (supervisor.go)
//	Router       mail_id → mailbox; creation is serialised here and so idempotent (router.go)
//	Mailbox      one per mailbox: three queues, the TTL timer, the subscriptions (mailbox*.go)
//	Queue group  one per mailbox and queue name: members, and who holds what (group*.go)
//	Directory    the public mailboxes and those who watch them (directory.go)
//
// The actors run on protoactor-go. Their state has no locks: only the actor touches it. What crosses the border is a
// [Client], one connection's door, a [Subscription], and what the other packages bring: a [Store] and an [Outlet] for
// each subscription.
//
// # Nothing is lost around a stop
//
// protoactor-go drops messages sent to an actor that is stopping. So nobody sends to a mailbox's PID: they send through
// its [ref], which says whether the message was taken. A mailbox that ends seals its ref first and stops only when the
// last message that the ref took has been answered.
//
// # The way in
//
// Messages of one connection to one mailbox travel together (run.go), and so does what the store reports of them (landing.go).
// A sender who alone waits for the disk is answered by the store's goroutine; his mailbox collects the message ahead of the next thing it does, and is woken
// for it only if somebody watches.
//
// # Delivery
//
// A subscription is a cursor per priority (view.go). Messages are never copied per subscriber: what comes next by priority is
// offered many at a time, and sent as far as there is room. Room is the connection's window, kept by the [Outlet].
// A mailbox delivers in turns (mailbox_delivery.go): what has arrived is stored first, then pushed together.
// A queue group is one more reader with a view of its own: the mailbox offers it messages within a
// credit, the group picks the member and gives back what nobody can take.
//
// # Crashes
//
// A panic costs the operation at hand, and the rest of its run (run.go), an answer of code 500. The actor restarts: durable messages come back from the store, normal
// ones are gone, subscriptions and their cursors are carried over ([legacy]).
//
// # What operators see
//
// What is done is counted where it is done (tally.go); mailboxes and groups answer for themselves when they are looked at (look.go),
// in pages of the router's ordered view (atlas.go). One goroutine of the [Broker] counts, after a start, what is on disk (census.go); Stop ends it.
//
// # What it takes
//
// Bytes of Go heap, 64-bit; resident memory is up to twice that, as Go's collector works:
//
//	idle mailbox                     1,420   of which protoactor-go 570, the timer 100, the router's table 150
//	the same once it has been used    +320   its queues (contents)
//	idle subscription                  180   Subscription and reader; the front's part is in its documentation
//	message, durable, at rest           40   its place in the index; the body is on disk
//	message, normal                     40   and header and payload with 80 bytes around them
//
// Seen on two virtual processors of 2026, shared with other work, with the programs of benchmarks/scale (go run ./benchmarks/scale NAME):
//
//	mailboxes       1,000,000 idle ones: 1,739 bytes resident each, made at 22,000/s, served again 25 s after SIGKILL
//	subscriptions   100,000 over 200 connections, each on its own mailbox: 912 bytes resident each, the mailbox's first use included
//	fanout          10,000 subscriptions of one mailbox: 17 ms a message, 579,000 deliveries/s
//	storm           2,000 clients with 100 messages each: all served again 4.9 s after the restart began
//
// # Goroutine safety
//
// A [Broker] and a [Subscription] are safe for concurrent use, a [Client] belongs to one goroutine. Callbacks run on the
// goroutines of the actors and of the store, and must not block.
package actors
