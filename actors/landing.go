package actors

import (
	"sync"

	"github.com/mq9-broker/broker/mq9"
)

// What the store reports to a mailbox comes in batches, as it was written: one message to the actor for all of them.

// landing gathers the durable messages of a mailbox of which the store has reported, until the actor looks. The committer and the actor
// share it.
type landing struct {
	sync.Mutex
	settled []settled
}

type (
	// settled says that a durable message is on disk, or why not. It stands for itself: a restarted actor understands it.
	settled struct {
		message *mq9.Message
		receipt Receipt // nil once answered
		err     error
	}

	// landed has the mailbox look at what the store has reported.
	landed struct{ settled []settled } // what it found; nil before
)

// refuse answers the sender with an error, unless an answer was given.
func (s *settled) refuse(err *mq9.Error) {
	if receipt := take(&s.receipt); receipt != nil {
		receipt.Sent(0, err)
	}
}

// answer tells the sender how it went.
func (s *settled) answer() {
	if s.err != nil {
		s.refuse(mq9.AsError(s.err))
	} else if receipt := take(&s.receipt); receipt != nil {
		receipt.Sent(s.message.ID, nil)
	}
}

func (l *landed) refuse(err *mq9.Error) {
	for i := range l.settled {
		l.settled[i].refuse(err)
	}
}

// land reports what became of a durable message. The order of reports is kept.
func (r *ref) land(s settled) {
	l := &r.landing
	l.Lock()
	l.settled = append(l.settled, s)
	first := len(l.settled) == 1
	l.Unlock()
	if first && !r.send(&landed{}) { // expired while it was stored
		(&landed{l.take()}).refuse(mq9.ErrNoMailbox)
	}
}

// take returns what was reported and has not been taken.
func (l *landing) take() []settled {
	l.Lock()
	defer l.Unlock()
	return take(&l.settled)
}

// landed makes durable messages visible, tells their senders, and goes on with what waited for them.
func (m *mailbox) landed(l *landed) {
	l.settled = m.at.landing.take()
	if m.phase == ending {
		l.refuse(mq9.ErrNoMailbox)
		return
	}
	loaded := m.load() == nil // or it was restarted, and the store cannot say what is there
	for i := range l.settled {
		s := &l.settled[i]
		if loaded {
			m.settle(s)
		}
		s.answer()
	}
	if loaded {
		m.listWaiting()
		m.stir()
	}
}

// settle makes a durable message visible, or forgets it if it was not stored.
func (m *mailbox) settle(s *settled) {
	p, size := s.message.Priority, int64(s.message.Size())
	known := m.queues[p].settle(s.message, s.err != nil)
	if s.err != nil {
		return
	}
	m.tally().published[p].add(1, size)
	if known {
		m.tally().found[p].add(-1, -size)
	}
	m.keepWarm(s.message)
}
