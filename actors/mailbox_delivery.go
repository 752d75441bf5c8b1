package actors

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
	for ; sent < stride; sent++ {
		p, e := m.queues.next(&r.view, r.sub.set)
		if e == nil {
			r.parked = false
			if r.woken {
				r.woken = false
				out.Idle()
			}
			return sent
		}
		switch out.Reserve(p, int(e.size)) {
		case Parked:
			r.parked, r.wish, r.woken = true, p, false
			return sent
		case Ended:
			r.parked, r.ended = false, true
			return sent
		}
		r.parked = false
		id, size := e.id, int(e.size)
		message := m.body(p, e)
		if message == nil {
			out.Cancel(size)
			if m.queues[p].find(id) == nil {
				continue
			}
			return sent
		}
		r.view.advance(p, message.ID)
		out.Deliver(m.at.box.ID, message)
	}
	r.going = true
	m.at.send(&proceed{r})
	return sent
}
