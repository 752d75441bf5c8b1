package crash

import (
	"fmt"
	"time"
)

func (c *Checker) describe(m *message) string {
	tier := "odd"
	if m.priority >= 0 && m.priority < len(tierNames) {
		tier = tierNames[m.priority]
	}
	return fmt.Sprintf("%s (%s, token %s, sent in life %d to %s)", m.id, tier, m.token, m.life, m.box)
}

// listed judges a LIST: its order, what it shows, and what it lacks.
func (c *Checker) listed(k *call, e Event) {
	c.read = max(c.read, c.life)
	c.checkLate(k)
	there := map[*message]bool{}
	last := &message{priority: -1}
	for i, id := range e.IDs {
		m := c.ids[id]
		if m == nil { // a message that was not delivered yet
			m = &message{id: id, box: k.Box, priority: e.Tiers[i], life: c.life, calledAt: k.At}
			c.ids[id] = m
			n := c.name(k.Box)
			n.messages = append(n.messages, m)
		}
		if there[m] {
			c.blame("LIST of %s shows %s twice", k.Box, id)
		}
		there[m] = true
		c.shown(m, k, "LIST")
		if m.priority != e.Tiers[i] {
			c.blame("LIST shows %s with the priority %d", c.describe(m), e.Tiers[i])
		}
		if m.priority < last.priority || m.priority == last.priority && m.id <= last.id {
			c.blame("LIST of %s shows %s behind %s", k.Box, c.describe(m), c.describe(last))
		}
		last = m
	}
	if !e.More {
		c.complete(k, there, true)
	}
}

// shown judges that a message is seen by a reading that was called at k.
func (c *Checker) shown(m *message, k *call, where string) {
	switch {
	case m.box != k.Box:
		c.blame("%s of %s shows a message of %s: %s", where, k.Box, m.box, c.describe(m))
		return
	case m.gone > 0 && m.gone < k.seq:
		c.blame("%s of %s shows a message that was deleted, or not there, since event %d: %s", where, k.Box, m.gone, c.describe(m))
	case m.priority == normal && m.life < c.life:
		c.blame("%s of %s shows a normal message of an earlier life: %s", where, k.Box, c.describe(m))
	case m.inc != nil && k.At > m.inc.info.Expires+slack:
		c.blame("%s of %s shows a message that should have gone with its mailbox %v before: %s",
			where, k.Box, time.Duration(k.At-m.inc.info.Expires), c.describe(m))
	}
	c.seenStored(m)
}

// complete judges what a reading that showed everything lacks. byID: it shows ids and not tokens, so it says nothing of messages whose id
// is not known.
func (c *Checker) complete(k *call, there map[*message]bool, byID bool) {
	inc := c.aliveAll(k.Box, k.seq, k.At)
	if inc == nil {
		return // it may have ended meanwhile
	}
	for _, m := range c.name(k.Box).messages {
		if there[m] {
			if m.inc == nil {
				m.inc = inc
			}
			continue
		}
		if m.gone > 0 || byID && m.id == "" {
			continue
		}
		if m.inc == nil && (m.calledAt > inc.info.Created || !inc.info.Public) && m.life < c.life && !m.refused {
			m.inc = inc // it cannot have gone elsewhere
		}
		switch {
		case m.inc != inc:
		case m.priority == normal && m.life < c.life:
			m.gone = c.seq
		case m.stored > 0 && m.stored < k.seq && m.deletion == 0:
			c.blame("message lost: %s is not in %s", c.describe(m), k.Box)
			m.gone = c.seq
		case m.deletion == 0 && m.life < c.life, m.deletion > 0 && m.deletionLife < c.life:
			m.gone = c.seq // what the kill left open: so it was not stored, or it was deleted
		}
	}
}

// reader is a subscription.
type reader struct {
	*call
	last     int // the place of the latest delivery
	left     int // the place of its end
	seen     map[*message]bool
	progress map[*incarnation]*progress
}

// progress is how far a subscription has come in a mailbox.
type progress struct {
	last  [3]*message // by priority
	lower [3]*message // the delivered message of a lower priority with the highest id, by priority
}

// team is a queue group: who got each message last.
type team struct{ holder map[*message]*reader }

func newReader(k *call) *reader {
	return &reader{call: k, seen: map[*message]bool{}, progress: map[*incarnation]*progress{}}
}

func (c *Checker) team(e Event) *team {
	key := e.Group + " " + e.Box
	t := c.groups[key]
	if t == nil {
		t = &team{holder: map[*message]*reader{}}
		c.groups[key] = t
	}
	return t
}

func (c *Checker) onSubscription(e Event) {
	r := c.subs[e.Op]
	switch {
	case r == nil:
		c.blame("an event on a subscription that does not exist: %+v", e)
	case r.left > 0: // it was on its way
	case e.Kind == Left:
		c.endSubscription(r)
	case e.Kind == Replayed:
		c.read = max(c.read, c.life)
		c.complete(r.call, r.seen, false)
	default:
		c.delivered(r, e)
	}
}

func (c *Checker) endSubscription(r *reader) {
	if r.left == 0 {
		r.left = c.seq
		if r.Group == "" {
			c.ended = append(c.ended, r)
		}
	}
}

// delivered judges a delivery.
func (c *Checker) delivered(r *reader, e Event) {
	m := c.tokens[e.Token]
	switch {
	case m == nil:
		c.blame("%s got a message that nobody sent: token %q, id %s", r.Box, e.Token, e.Msg)
		return
	case e.Wrong != "":
		c.blame("the delivery of %s in %s is malformed: %s", m.token, r.Box, e.Wrong)
		return
	case m.sum != e.Sum:
		c.blame("the bytes of %s are not those that were sent", c.describe(m))
	case m.priority != e.Priority:
		c.blame("%s was delivered with priority %d", c.describe(m), e.Priority)
	case m.stamp != 0 && m.stamp != e.Stamp:
		c.blame("the time of %s changed", c.describe(m))
	}
	c.identify(m, e.Msg)
	if r.seen[m] {
		c.blame("%s came twice on one subscription", c.describe(m))
		return
	}
	r.seen[m] = true
	r.last = c.seq
	if m.stamp == 0 {
		m.stamp = e.Stamp
		if m.inc == nil {
			m.inc = c.name(m.box).at(e.Stamp)
		}
	}
	earlier := m.stored > 0 && m.stored < r.seq
	c.shown(m, r.call, "a subscription")
	if m.inc != nil && c.now > m.inc.info.Expires+late {
		c.blame("%s came %v after its mailbox expired", c.describe(m), time.Duration(c.now-m.inc.info.Expires))
	}
	if r.Group == "" {
		c.inOrder(r, m, earlier)
	} else {
		c.handed(r, m)
	}
}

// handed judges the delivery to a member of a queue group: a message has one living holder, and none after its holder deleted it.
func (c *Checker) handed(r *reader, m *message) {
	holder := c.team(r.Event).holder
	switch before := holder[m]; {
	case before == nil:
	case before.left == 0:
		c.blame("%s was handed to two living members of %s", c.describe(m), r.Group)
	case m.gone > 0 && m.gone < before.left:
		c.blame("%s was deleted by a member of %s and handed again", c.describe(m), r.Group)
	}
	holder[m] = r
}
