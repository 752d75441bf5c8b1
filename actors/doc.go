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
// # Delivery
//
// A subscription is a cursor per priority (view.go). Messages are never copied per subscriber: whoever has room
// asks for the next message, which is then chosen by priority. Room is the connection's window, kept by the [Outlet].
// A queue group is one more reader with a view of its own: the mailbox offers it messages within a
// credit, the group picks the member and gives back what nobody can take.
//
// # Crashes
//
// A panic costs the operation at hand an answer of code 500. The actor restarts: durable messages come back from the store, normal
// ones are gone, subscriptions and their cursors are carried over ([legacy]).
//
// # Goroutine safety
//
// A [Broker] and a [Subscription] are safe for concurrent use, a [Client] belongs to one goroutine. Callbacks run on the
// actors' goroutines and must not block.
package actors
