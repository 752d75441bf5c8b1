package crash

import (
	"cmp"
	"slices"
)

// inOrder judges the place of a delivery on an independent subscription. earlier: it was stored when the subscription was called.
func (c *Checker) inOrder(r *reader, m *message, earlier bool) {
	p := r.progress[m.inc]
	if p == nil {
		p = &progress{}
		r.progress[m.inc] = p
	}
	if last := p.last[m.priority]; last != nil && last.id >= m.id {
		c.blame("order: %s came behind %s", c.describe(m), c.describe(last))
	}
	if lower := p.lower[m.priority]; lower != nil {
		if lower.id > m.id {
			c.blame("inversion: %s came behind %s, which was accepted later", c.describe(m), c.describe(lower))
		} else if earlier {
			c.blame("priority: %s was stored before the subscription and came behind %s", c.describe(m), c.describe(lower))
		}
	}
	p.last[m.priority] = m
	for higher := range m.priority {
		if lower := p.lower[higher]; lower == nil || lower.id < m.id {
			p.lower[higher] = m
		}
	}
}

// settle draws the conclusions that need to know what a life left, for the lives before the last one that was read, and lets go of what
// is decided.
func (c *Checker) settle() {
	c.ended = slices.DeleteFunc(c.ended, func(r *reader) bool {
		if r.life >= c.read {
			return false
		}
		c.skipped(r)
		return true
	})
	for _, n := range c.names {
		c.sendOrder(n)
		n.before = n.highest
		n.messages = slices.DeleteFunc(n.messages, func(m *message) bool {
			over := m.inc != nil && c.now > m.inc.info.Expires+late
			return m.life < c.read && (m.gone > 0 || over)
		})
	}
}

// skipped judges what an independent subscription passed over: it got a message, and not one that stood before it.
func (c *Checker) skipped(r *reader) {
	for _, m := range c.name(r.Box).messages {
		p := r.progress[m.inc]
		if m.inc == nil || p == nil || m.id == "" || m.stored == 0 || m.stored > r.last || r.seen[m] {
			continue
		}
		if m.priority == normal && m.life != r.life || m.firstTry > 0 && m.firstTry < r.last {
			continue
		}
		if m.gone > 0 && m.gone < r.last {
			continue
		}
		if last := p.last[m.priority]; last != nil && last.id > m.id {
			c.blame("a subscription to %s in life %d got %s and skipped %s", r.Box, r.life, c.describe(last), c.describe(m))
		}
	}
}

// sendOrder judges what each connection sent to a mailbox in lives that are decided: the ids rise in the order of sending, and of durable
// messages nothing is missing before one that is there.
func (c *Checker) sendOrder(n *mailboxes) {
	byConn := map[int][]*message{}
	for _, m := range n.messages {
		if m.token != "" && m.life < c.read {
			byConn[m.conn] = append(byConn[m.conn], m)
		}
	}
	for _, sent := range byConn {
		slices.SortFunc(sent, func(a, b *message) int { return cmp.Compare(a.nth, b.nth) })
		var last, missing *message
		for _, m := range sent {
			switch {
			case m.id == "":
				if m.gone > 0 && m.priority != normal && !m.refused && missing == nil {
					missing = m
				}
				continue
			case last != nil && last.id >= m.id:
				c.blame("order: one connection sent %s before %s", c.describe(last), c.describe(m))
			case missing != nil && m.priority != normal && missing.inc == m.inc:
				c.blame("gap: one connection sent %s, which is lost, before %s, which is there", c.describe(missing), c.describe(m))
			}
			last = m
		}
	}
}
