package actors

import (
	"sync"

	"github.com/mq9-broker/broker/mq9"
)

// What the store reports to a mailbox comes in batches, as it was written: one message to the actor for all of them.

// landing gathers the parcels of a mailbox of which the store has reported, until the actor looks. The committer and the actor
// share it.
type landing struct {
	sync.Mutex
	settled []*parcel
}

// parcel is durable messages that go to disk together. It stands for itself: a restarted actor understands it. It belongs to the
// mailbox, between Commit and the report to the store.
type parcel struct {
	messages []*mq9.Message
	receipts []Receipt // of each message; nil once answered
	err      error     // why they are not stored
}

// landed has the mailbox look at what the store has reported.
type landed struct{ settled []*parcel } // what it found; nil before

// refuse answers the senders with an error, unless an answer was given.
func (p *parcel) refuse(err *mq9.Error) {
	for i := range p.receipts {
		if receipt := take(&p.receipts[i]); receipt != nil {
			receipt.Sent(0, err)
		}
	}
}

// answer tells the senders how it went.
func (p *parcel) answer() {
	if p.err != nil {
		p.refuse(mq9.AsError(p.err))
		return
	}
	for i, message := range p.messages {
		if receipt := take(&p.receipts[i]); receipt != nil {
			receipt.Sent(message.ID, nil)
		}
	}
}

func (l *landed) refuse(err *mq9.Error) {
	for _, p := range l.settled {
		p.refuse(err)
	}
}

// land reports what became of a parcel. The order of reports is kept.
func (r *ref) land(p *parcel) {
	l := &r.landing
	l.Lock()
	l.settled = append(l.settled, p)
	first := len(l.settled) == 1
	l.Unlock()
	if first && !r.send(&landed{}) { // expired while it was stored
		(&landed{l.take()}).refuse(mq9.ErrNoMailbox)
	}
}

// take returns what was reported and has not been taken.
func (l *landing) take() []*parcel {
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
	for _, p := range l.settled {
		if loaded {
			m.settle(p)
		}
		p.answer()
	}
	if loaded {
		m.listWaiting()
		m.stir()
	}
}

// settle makes durable messages visible, or forgets them if they were not stored.
func (m *mailbox) settle(parcel *parcel) {
	for _, message := range parcel.messages {
		p, size := message.Priority, int64(message.Size())
		known := m.queues[p].settle(message.Entry(), parcel.err != nil)
		if parcel.err != nil {
			continue
		}
		m.tally().published[p].add(1, size)
		if known {
			m.tally().found[p].add(-1, -size)
		}
		if len(m.readers)+len(m.groups) > 0 {
			m.keepWarm(message)
		}
	}
}
