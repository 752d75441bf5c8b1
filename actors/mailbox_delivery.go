package actors

import (
	"sync"

	"github.com/mq9-broker/broker/mq9"
)

// How a mailbox delivers: in turns. Operations that are here already go before a turn, so they are stored first and pushed
// together, and neither a long replay nor ten thousand readers keep a sender waiting for more than one turn.

const (
	// turn is about how many messages a mailbox delivers before it looks at what else it has to do.
	turn = 2048

	// stride is how many of them go to one reader before it is another's turn.
	stride = 256
)

type (
	// deliver is a turn. It is sent by the mailbox to itself.
	deliver struct{}

	// proceed goes on with a reader that has had its stride. It is sent by the mailbox to itself.
	proceed struct{ reader *reader }
)

// stir has every reader and group offered what is new, soon.
func (m *mailbox) stir() {
	if len(m.readers)+len(m.groups) == 0 {
		m.cool()
		return
	}
	m.due = len(m.readers)
	m.takeTurn()
}

// takeTurn asks for a turn, unless one is on its way.
func (m *mailbox) takeTurn() {
	if !m.stirred {
		m.stirred = true
		m.at.send(&deliver{})
	}
}

// deliver takes a turn: the groups, and as many readers as fit, beginning behind the last one of the turn before.
func (m *mailbox) deliver() {
	m.expireIfDue()
	if m.phase != living || m.load() != nil { // after a crash; with the next event it is tried again
		return
	}
	m.stirred = false
	for _, g := range m.groups {
		m.pumpGroup(g)
	}
	sent := 0
	for m.due = min(m.due, len(m.readers)); m.due > 0; m.due-- {
		if sent >= turn {
			m.takeTurn()
			return
		}
		m.place = (m.place + 1) % len(m.readers)
		sent += m.offerReader(m.readers[m.place])
	}
	m.cool()
}

// offerReader sends what is new to a reader, unless it is known that it would not take it: a parked one is asked again only when
// something more pressing came than what it was parked with. It returns how many it sent.
func (m *mailbox) offerReader(r *reader) int {
	switch {
	case r.ended, r.going:
		return 0
	case r.parked:
		if p, e := m.queues.next(&r.view, r.sub.set); e == nil || p >= r.wish {
			return 0
		}
	}
	return m.pump(r)
}

// proceed goes on with a reader.
func (m *mailbox) proceed(r *reader) {
	r.going = false
	m.expireIfDue()
	if r.sub.reader != r || m.phase != living || m.load() != nil {
		return // it left; or the next event tries again
	}
	m.pump(r)
	m.cool()
}

// pump sends to a reader, most pressing first, until its outlet is full, nothing is left, or it has had its stride. It returns how many it sent.
func (m *mailbox) pump(r *reader) (sent int) {
	out := r.sub.out
	batch := batches.Get().(*batch)
	defer batch.put()
	for sent < stride {
		messages := m.queues.ahead(&r.view, r.sub.set, batch)
		if len(messages) == 0 {
			if p, e := m.queues.next(&r.view, r.sub.set); e == nil {
				r.rest(out)
				return sent
			} else if !m.fetch(r, p, e) {
				return sent
			}
			continue
		}
		n, verdict := out.Offer(messages)
		for _, message := range messages[:n] {
			r.view.advance(message.Priority, message.ID)
		}
		sent += n
		if verdict != Granted {
			r.refused(verdict, messages[n].Priority)
			return sent
		}
		r.parked = false
	}
	r.going = true
	m.at.send(&proceed{r})
	return sent
}

// batch is room for what is offered at once.
type batch [64]*mq9.Message

var batches = sync.Pool{New: func() any { return new(batch) }}

func (b *batch) put() {
	clear(b[:])
	batches.Put(b)
}

// fetch brings a message into memory if the reader's outlet has room for it. It reports false when the reader has to wait.
func (m *mailbox) fetch(r *reader, p mq9.Priority, e *entry) bool {
	if verdict := r.sub.out.Room(p, int(e.size)); verdict != Granted {
		r.refused(verdict, p)
		return false
	}
	r.parked, r.woken = false, true
	id := e.id
	if m.body(p, e) || m.queues[p].find(id) == nil {
		return true
	}
	r.rest(r.sub.out) // with the next event it is tried again
	return false
}

// rest notes that there is nothing to send for now.
func (r *reader) rest(out Outlet) {
	r.parked = false
	if r.woken {
		r.woken = false
		out.Idle()
	}
}

// refused notes that the outlet did not take what it was offered, of that priority.
func (r *reader) refused(why Verdict, p mq9.Priority) {
	if why == Ended {
		r.parked, r.ended = false, true
	} else {
		r.parked, r.wish, r.woken = true, p, false
	}
}
