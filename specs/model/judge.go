package model

import (
	"fmt"
	"slices"
)

// claim is a delivery that a connection saw.
type claim struct {
	by *member
	x  *message
	at int64 // where it begins in the connection's stream
}

// observe notes a delivery. A message that is somebody's already is an error at once; all else is judged when the broker has come
// to rest, since who got what is known then.
func (w *world) observe(m *member, x *message, at int64) error {
	switch p := m.line.place(x); {
	case p.holder == m || p.claim != nil && m.line.queue == "":
		return fmt.Errorf("%s came twice on one subscription", x.name)
	case p.holder != nil || p.claim != nil:
		return fmt.Errorf("%s was handed out again while its holder lives", x.name)
	default:
		p.claim = &claim{m, x, at}
		m.claims = append(m.claims, p.claim)
		return nil
	}
}

// rest reports what somebody must still be sent, or nothing when the broker may be at rest.
func (w *world) rest() string {
	for i, b := range w.boxes {
		for _, l := range b.lines {
			for _, x := range b.messages {
				if p := l.place(x); !x.stored(w.now) || p.holder != nil || p.claim != nil {
					continue
				}
				able := false
				for _, m := range l.members {
					if m.conn.stalled && w.could(m, x) { // it may have been sent it
						able = false
						break
					}
					able = able || w.could(m, x)
				}
				if able {
					return fmt.Sprintf("%s of mailbox %d was not delivered to the subscription or group %q", x.name, i, l.queue)
				}
			}
		}
	}
	return ""
}

// could reports whether a member can be sent one more message now.
func (w *world) could(m *member, x *message) bool {
	if m.left != never || m.draining || !m.wants(x, w.wrong) || m.max > 0 && m.had+len(m.claims) >= w.most(m) {
		return false
	}
	holds := m.holds(w.now)
	for _, c := range m.claims {
		if w.now < c.x.died {
			holds++
		}
	}
	return !w.full(m, holds) || m.conn.stalled
}

func (w *world) most(m *member) int {
	if w.wrong == maxIsOneMore {
		return m.max + 1
	}
	return m.max
}

// full reports whether a member that holds so many is given no more.
func (w *world) full(m *member, holds int) bool {
	most := m.line.box.inflight
	if most > 1 && w.wrong == inflightIsLess {
		most--
	}
	return m.line.queue != "" && most > 0 && holds >= most
}

// judge finds a moment for each delivery that was seen, and ends the subscriptions that had their max.
func (w *world) judge() error {
	defer func() { w.judged, w.removed = w.now, false }()
	crowded := w.crowded()
	for _, b := range w.boxes {
		for _, l := range slices.Clone(b.lines) {
			given := map[*member][]*claim{}
			for _, m := range l.members {
				given[m] = m.claims
			}
			for _, m := range slices.Clone(l.members) {
				if err := w.judgeMember(m); err != nil {
					return err
				}
			}
			if err := w.fair(given); err != nil && !crowded {
				return err
			}
			for _, m := range slices.Clone(l.members) {
				if m.left == never && m.max > 0 && m.had >= w.most(m) {
					w.leave(m)
				}
				if m.draining && m.holds(w.now) == 0 {
					w.dismiss(m, true)
				}
			}
		}
	}
	return nil
}

// judgeMember judges what one member saw, in its order.
func (w *world) judgeMember(m *member) error {
	claims := m.claims
	m.claims = nil
	for _, c := range claims {
		var objection string
		at := max(m.last, c.x.born)
		for ; at <= w.now; at++ {
			if objection = w.objection(m, c, at); objection == "" {
				break
			}
		}
		if at > w.now {
			return fmt.Errorf("%s must not come as number %d of subscription %q queue %q: %s",
				c.x.name, m.had+1, patterns[m.pattern], m.line.queue, objection)
		}
		p := m.line.place(c.x)
		p.holder, p.claim = m, nil
		m.last = at
		m.had++
	}
	return nil
}

// objection says why a message was not due to a member at a moment.
func (w *world) objection(m *member, c *claim, at int) string {
	x, l := c.x, m.line
	switch {
	case !m.wants(x, w.wrong):
		return "its pattern does not match"
	case !x.stored(at):
		return "it is not stored"
	case at < m.joined || at >= m.left:
		return "the subscription does not stand"
	case w.wrong == noReplay && x.born < m.joined:
		return "it is old"
	case l.place(x).since > at:
		return "somebody held it"
	case m.max > 0 && m.had >= w.most(m) && at >= m.maxFrom:
		return "the subscription had its max"
	case w.full(m, m.holds(at)):
		return "the member holds max_inflight messages"
	case m.conn.stallAt <= at && at < m.conn.end && c.at > m.conn.reach:
		return "it was far beyond the window of a connection that did not read"
	}
	for _, y := range l.box.messages {
		// What was accepted before x is never overtaken by it, not even while it is still being stored.
		if y.before(x, w.wrong) && y.stored(at) && (y.born < x.born || y.sure <= at) && m.wants(y, w.wrong) && w.waits(m, y, at) {
			return y.name + " goes before it"
		}
	}
	return ""
}

// waits reports whether it is sure that a message was in line at a moment.
func (w *world) waits(m *member, y *message, at int) bool {
	p := m.line.place(y)
	if p.holder != nil || p.since > at || p.doubt > at {
		return false
	}
	if p.claim != nil {
		return p.claim.by == m // it came later on the same subscription
	}
	for _, o := range m.line.members {
		if o.conn.stalled && o.wants(y, w.wrong) {
			return false
		}
	}
	return true
}

// crowded reports whether a connection's window may have been full for a moment: then its members were passed over.
func (w *world) crowded() bool {
	const much = 100_000
	bytes := 0
	for _, b := range w.boxes {
		for _, l := range b.lines {
			for _, m := range l.members {
				for _, c := range m.claims {
					bytes += c.x.size
				}
			}
		}
	}
	return bytes > much
}

// fair checks that nobody was given a message while another member of the group, which could have taken it, held fewer.
// Since nobody's hold became smaller meanwhile, that can be told from what they hold in the end.
func (w *world) fair(given map[*member][]*claim) error {
	for m := range given {
		if m.line.queue == "" || m.conn.stalled || m.conn.end > w.judged || w.removed {
			return nil
		}
	}
	for a, claims := range given {
		for b := range given {
			holds := a.holds(w.now)
			more := holds - b.holds(w.now)
			if w.wrong != alwaysEven {
				more--
			}
			missed := func(c *claim) bool { return b.joined > w.judged || !w.could(b, c.x) }
			if len(claims) > 0 && more > 0 && !slices.ContainsFunc(claims, missed) {
				return fmt.Errorf("a member of group %q was given messages until it held %d, while another held %d", a.line.queue, holds, b.holds(w.now))
			}
		}
	}
	return nil
}
