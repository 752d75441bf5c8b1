// Package load makes load and measures it: the engine of `mq9 bench` and of the comparisons with other brokers.
//
// A workload is a function of a [Job], and a Job says everything in terms of NATS subjects, so that the same function drives
// a mailbox, plain NATS or JetStream: what differs is in Subject, Pattern and Check. [NewMailbox] makes what a Job needs of mq9.
//
//	Send     requests, many in flight through one inbox      latency: request to reply
//	Publish  publishes and one flush at the end              no latency: nothing answers a single message
//	Replay   a new subscription to what is stored already    latency: SUB to arrival
//	Live     publish while somebody subscribes               latency: publish to push
//	Fanout   the same to several subscribers                 latency: publish to each push
//	Workers  the same for a queue group that replies         latency: publish to hand-over
//
// What makes the generator strong: nothing waits for one round trip. Messages go out while earlier ones are under way, up to
// Job.InFlight, so that the client library writes many of them at once; each connection has a goroutine of its own for what
// arrives; each latency is a sample in an HDR histogram, and showing progress happens ten times a second beside all that.
//
// A workload opens its connections itself and has closed them when it returns. It ends early, with an error, when its context
// ends, a connection is lost, the server refuses something, or nothing moves for [Standstill]. Functions may run
// at the same time with Jobs of their own.
package load
