package actors

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/mq9-broker/broker/mq9"
)

// Subscription is one SUB of one connection: the handle that its session keeps. It follows the mailbox's name: when a
// public mailbox expires and is created again, the same subscription is served by the new one (protocol section 4).
type Subscription struct {
	// immutable
	broker *Broker
	key    key             // zero for a discovery subscription, but for the account
	set    mq9.PrioritySet // what it asks for
	queue  string          // its queue group; empty = independent
	out    Outlet

	at    atomic.Pointer[ref]       // the mailbox that serves it now; nil while none does. Written by router and client
	watch atomic.Pointer[actor.PID] // the directory, for a discovery subscription
	holds atomic.Bool               // see Holds; written by the queue-group actor

	reader *reader // owned by the mailbox actor that serves it; nil for a queue-group member
	member *member // owned by the queue-group actor that serves it
}

// Resume tells the actor that serves the subscription that its outlet has room again. Safe for concurrent use.
func (s *Subscription) Resume() {
	message := &resume{s}
	if pid := s.watch.Load(); pid != nil {
		s.broker.root.Send(pid, message)
		return
	}
	if at := s.at.Load(); at == nil || !at.send(message) {
		s.out.Idle() // the mailbox has ended: there is nothing to send
	}
}

// Leave ends the subscription: closed says that the whole connection ended, so that a queue group hands its messages
// on at once; otherwise a member keeps what it holds for a while (protocol section 6). done, if any, is called when nothing
// more will be delivered. Safe for concurrent use.
//
// Call it once; but a subscription that left with closed = false and still [Subscription.Holds] messages when its connection
// ends must be left once more, with closed = true.
func (s *Subscription) Leave(closed bool, done func()) {
	if done == nil {
		done = func() {}
	}
	message := &leave{s, closed, done}
	if pid := s.watch.Load(); pid != nil {
		s.broker.root.Send(pid, message)
		return
	}
	if at := s.at.Load(); at == nil || !at.send(message) {
		s.broker.root.Send(s.broker.router, message)
	}
}

// Holds reports whether a queue group still counts undeleted messages against this subscription. Safe for concurrent use.
func (s *Subscription) Holds() bool { return s.holds.Load() }
