package actors

import "github.com/mq9-broker/broker/mq9"

// Verdict is an outlet's answer to a wish to send.
type Verdict uint8

const (
	// Granted means that there was room for all of it.
	Granted Verdict = iota
	// Parked means that the window is full. The outlet has noted the wish and calls Subscription.Resume when there is room for it.
	Parked
	// Ended means that the subscription takes no more (it reached its UNSUB max, or its connection is gone).
	Ended
)

// Outlet is one subscription's way to its client. The frontend implements it; the actor that serves the subscription
// calls it. No method blocks.
//
// The bytes in flight to one connection are bounded by a window that its subscriptions share. An actor offers what comes next
// until it is parked or has nothing left; so what goes out is chosen when there is room for it, by priority, and nothing is
// copied or read from disk for a reader that stands still. A parked outlet may be asked again, with another priority (a more
// pressing message came) or size: the last wish counts.
type Outlet interface {
	// Offer sends messages from the first on, as many as there is room for, and says how many. The verdict is Granted for
	// all of them, or else about the first that was not sent.
	Offer(messages []*mq9.Message) (sent int, verdict Verdict)

	// Room asks whether there is room for one message of the given priority and Size. What is granted stays set aside for
	// what is offered next, or until Idle.
	Room(p mq9.Priority, size int) Verdict

	// Event sends a discovery event, or does not if the verdict is not Granted.
	Event(body []byte) Verdict

	// Idle says that the actor has nothing more to send for now. It ends what a Resume or Room began.
	Idle()
}
