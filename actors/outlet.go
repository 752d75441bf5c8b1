package actors

import "github.com/mq9-broker/broker/mq9"

// Verdict is an outlet's answer to a wish to send.
type Verdict uint8

const (
	// Granted means that the bytes are set aside; Deliver, Event or Cancel must follow.
	Granted Verdict = iota
	// Parked means that the window is full. The outlet has noted the wish and calls Subscription.Resume when there is room for it.
	Parked
	// Ended means that the subscription takes no more (it reached its UNSUB max, or its connection is gone).
	Ended
)

// Outlet is one subscription's way to its client. The frontend implements it; the actor that serves the subscription
// calls it. No method blocks.
//
// The bytes in flight to one connection are bounded by a window that its subscriptions share. An actor asks for
// room before each message and goes on until it is parked or has nothing left; so the next message is chosen when there is
// room for it, by priority, and nothing is copied for a reader that stands still.
type Outlet interface {
	// Reserve asks for room for one message of the given priority and Size. A parked outlet may be asked again,
	// with another priority (a more pressing message came) or size: the last wish counts.
	Reserve(p mq9.Priority, size int) Verdict

	// Cancel gives back what the last Reserve of this size was granted.
	Cancel(size int)

	// Deliver sends a message for which room was granted.
	Deliver(id mq9.MailID, m *mq9.Message)

	// Event sends a discovery event for which room was granted; size is len(body).
	Event(body []byte)

	// Idle says that the actor has nothing more to send for now. It ends what a Resume began.
	Idle()
}
