package actors

import (
	"sync"
	"sync/atomic"

	"github.com/mq9-broker/broker/mq9"
)

// What the store reports to a mailbox comes in batches, as it was written: one message to the actor for all of them.

// landing gathers the parcels of a mailbox of which the store has reported, until the actor collects them. The committer and the actor
// share it.
type landing struct {
	sync.Mutex
	settled []*parcel
	told    bool // the actor is at it, or a landed is on its way: it will look again
	watched bool // somebody waits for what lands. Written by the actor, which may read it unlocked

	// answered says that the sender of something in settled knows already that it is stored: what he asks next must find it. Changed with the lock
	// held, before he is answered, and read by the actor without.
	answered atomic.Bool
}

// parcel is durable messages that go to disk together. It stands for itself: a restarted actor understands it. It belongs to the
// mailbox, between Commit and the report to the store.
type parcel struct {
	messages []*mq9.Message
	receipts []Receipt  // of each message; nil once answered
	bare     *mq9.Entry // in place of a message that was answered already: its bytes are not kept for a mailbox that may rest
	err      error      // why they are not stored
}

// landed has a mailbox collect what the store has reported. If somebody was answered already, it does so ahead of whatever message is next.
type landed struct{}

// parcels are what was collected at a time.
type parcels []*parcel

// refuse answers the senders with an error, unless an answer was given.
func (p *parcel) refuse(err *mq9.Error) {
	for i := range p.receipts {
		if receipt := take(&p.receipts[i]); receipt != nil {
			receipt.Sent(0, err, false)
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
			receipt.Sent(message.ID, nil, false)
		}
	}
}

func (all parcels) refuse(err *mq9.Error) {
	for _, p := range all {
		p.refuse(err)
	}
}

// land reports what became of a parcel. The order of reports is kept. A message for whose outcome nobody else waits is answered here and
// now; what is asked about it after that finds it, so the actor is woken for it only if somebody watches the mailbox.
func (b *Broker) land(at *ref, p *parcel) {
	p.count(b.tallyOf(at), 1)
	id, err := p.messages[0].ID, p.err
	lone, tell := at.landing.add(p, b.store.Outstanding() == 0)
	switch {
	case lone == nil:
	case err != nil:
		lone.Sent(0, mq9.AsError(err), true)
	default:
		lone.Sent(id, nil, true)
	}
	if tell && at.send(&landed{}) || !tell && !at.ended() {
		return
	}
	for all := at.landing.take(); len(all) > 0; all = at.landing.take() {
		b.discard(at, all) // the mailbox expired while it was stored
	}
}

// each calls fn for every message.
func (p *parcel) each(fn func(mq9.Entry)) {
	if p.bare != nil {
		fn(*p.bare)
	}
	for _, message := range p.messages {
		fn(message.Entry())
	}
}

// count adds the messages of a parcel, if they are stored, to what was published; by -1 it takes them away again.
func (p *parcel) count(t *tally, by int) {
	if p.err == nil {
		p.each(func(e mq9.Entry) { t.published[e.Priority].add(by, int64(by*e.Size)) })
	}
}

// discard ends parcels of a mailbox that has ended.
func (b *Broker) discard(at *ref, all parcels) {
	for _, p := range all {
		if p.err == nil {
			p.each(func(e mq9.Entry) { b.tallyOf(at).expired[e.Priority].add(1, int64(e.Size)) })
		}
	}
	all.refuse(mq9.ErrNoMailbox)
}

// add puts a parcel to the others. It says who is to be answered at once, and whether the actor has to be told. With idle nobody else waits for
// the caller. Nobody is answered before those who came earlier.
func (l *landing) add(p *parcel, idle bool) (lone Receipt, tell bool) {
	l.Lock()
	defer l.Unlock()
	if idle && len(p.receipts) == 1 && !l.told {
		lone = take(&p.receipts[0])
		l.answered.Store(true)
	}
	tell = !l.told && (lone == nil || l.watched)
	if lone != nil && !tell {
		entry := p.messages[0].Entry()
		p.bare, p.messages, p.receipts = &entry, nil, nil
	}
	l.told = l.told || tell
	l.settled = append(l.settled, p)
	return lone, tell
}

// take returns what was reported and has not been taken. Whoever takes something must come back until there is nothing.
func (l *landing) take() parcels {
	l.Lock()
	defer l.Unlock()
	l.told = len(l.settled) > 0
	l.answered.Store(false)
	return take(&l.settled)
}

// watch notes whether somebody waits for what lands, and reports whether something has landed of which the actor was not told and has to be now.
func (l *landing) watch(watched bool) (missed bool) {
	if l.watched == watched {
		return false
	}
	l.Lock()
	defer l.Unlock()
	l.watched = watched
	missed = watched && !l.told && len(l.settled) > 0
	l.told = l.told || missed
	return missed
}

// watch has the store's reports wake the actor while somebody waits for them: subscribers, queue groups, LISTs. After a crash they do so in any
// case: what was on its way then may be read from disk before it lands, and is counted twice until the mailbox has seen both.
func (m *mailbox) watch() {
	if m.at.landing.watch(m.crashed || len(m.readers)+len(m.groups) > 0 || m.contents != nil && len(m.waiting) > 0) {
		m.at.send(&landed{})
	}
}

// collect makes durable messages visible, tells their senders, and goes on with what waited for them.
func (m *mailbox) collect() {
	for all := m.at.landing.take(); len(all) > 0; all = m.at.landing.take() {
		m.unload(all)
	}
}

// unload is collect for some parcels.
func (m *mailbox) unload(all parcels) {
	defer answerCrash(all)
	if m.phase == ending {
		m.broker.discard(m.at, all)
		return
	}
	loaded := m.load() == nil // or it was restarted, and the store cannot say what is there
	for _, p := range all {
		if loaded {
			m.settle(p)
		} else {
			p.count(m.tally(), -1) // it will be found
		}
		p.answer()
	}
	if loaded {
		m.listWaiting()
		m.stir()
	}
}

// settle makes durable messages visible, or forgets them if they were not stored. What was read from disk before it landed was counted there, too.
func (m *mailbox) settle(parcel *parcel) {
	failed := parcel.err != nil
	parcel.each(func(e mq9.Entry) {
		if known := m.queues[e.Priority].settle(e, failed); known && !failed {
			m.tally().found[e.Priority].add(-1, -int64(e.Size))
		}
	})
	if !failed && len(m.readers)+len(m.groups) > 0 {
		for _, message := range parcel.messages {
			m.keepWarm(message)
		}
	}
}
