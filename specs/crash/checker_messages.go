package crash

// message is what is known of one message. Places are 0 for what has not happened.
type message struct {
	token    string // empty: known from a LIST only
	id       string // empty: not known yet
	box      string
	inc      *incarnation // nil: not known yet, or never known
	conn     int
	nth      int // of its connection's messages
	priority int
	sum      uint64
	stamp    int64
	life     int   // in which it was sent, or first seen
	calledAt int64 // when it was sent

	stored  int  // from when on it was certainly there: acknowledged, delivered or listed
	refused bool // it may have been
	gone    int  // from when on it is certainly not there: its deletion acknowledged, or shown to be absent when nothing was under way

	deletion     int  // the latest call of a deletion that may have happened
	deletionLife int  // when that was
	tries        int  // how many of them there are
	firstTry     int  // the first call of a deletion ever
	wasDeleted   bool // a reply said so
}

// drafted notes a message that is about to be sent.
func (c *Checker) drafted(k *call) *message {
	if c.tokens[k.Token] != nil {
		c.blame("the token %s is not unique", k.Token)
	}
	m := &message{
		token: k.Token, box: k.Box, conn: k.Conn, nth: k.Op, priority: k.Priority, sum: k.Sum, life: c.life, calledAt: k.At,
	}
	c.tokens[k.Token] = m
	n := c.name(k.Box)
	n.messages = append(n.messages, m)
	return m
}

// acknowledged judges the reply to a message.
func (c *Checker) acknowledged(k *call, id string) {
	m := k.msg
	c.checkLate(k)
	c.identify(m, id)
	if inc := c.aliveAll(m.box, k.seq, k.At); inc != nil && m.inc == nil {
		m.inc = inc
	}
	c.seenStored(m)
}

// flushed acknowledges what a connection sent and deleted without a reply.
func (c *Checker) flushed(k *call) {
	for _, p := range c.pending[k.Conn] {
		if p.Kind == Drop {
			c.totals.Deleted++
			c.seenGone(c.ids[p.Msg])
			continue
		}
		// If the mailbox may have ended meanwhile, so may the message.
		inc := c.aliveAll(p.Box, p.seq, p.At)
		if inc == nil || p.msg.refused {
			continue
		}
		c.totals.Acknowledged++
		p.msg.inc = inc
		c.seenStored(p.msg)
	}
	delete(c.pending, k.Conn)
}

// identify binds a message and its id.
func (c *Checker) identify(m *message, id string) {
	other := c.ids[id]
	switch {
	case id == "":
		c.blame("message %s got no id", m.token)
		return
	case other == m:
		return
	case m.id != "":
		c.blame("message %s has two ids, %s and %s: it is there twice", m.token, m.id, id)
		return
	case other != nil && other.token != "":
		c.blame("the id %s was used for message %s and again for %s", id, other.token, m.token)
		return
	case other != nil:
		c.merge(m, other)
	}
	m.id = id
	c.ids[id] = m
	n := c.name(m.box)
	if m.life == c.life && id <= n.before {
		c.blame("the id %s of a new message in %s is not above %s, which an earlier life used", id, m.box, n.before)
	}
	n.highest = max(n.highest, id)
}

// merge moves what a LIST told of an id into the message that it turned out to be.
func (c *Checker) merge(m, listed *message) {
	if listed.box != m.box {
		c.blame("message %s for %s is shown in %s", m.token, m.box, listed.box)
	}
	if listed.stored > 0 && (m.stored == 0 || listed.stored < m.stored) {
		m.stored = listed.stored
	}
	m.deletion, m.deletionLife, m.tries, m.firstTry = listed.deletion, listed.deletionLife, listed.tries, listed.firstTry
	m.wasDeleted = listed.wasDeleted
	if listed.gone > 0 {
		m.gone = listed.gone
	}
	n := c.name(listed.box)
	for i, other := range n.messages {
		if other == listed {
			n.messages = append(n.messages[:i], n.messages[i+1:]...)
			break
		}
	}
}

// seenStored notes that a message is there.
func (c *Checker) seenStored(m *message) {
	if m.stored == 0 {
		m.stored = c.seq
	}
	if m.deletionLife < c.life { // a deletion that an earlier life left without an answer did not happen
		m.deletion, m.tries = 0, 0
	}
}

// seenGone notes that a message is not there, and will not be again.
func (c *Checker) seenGone(m *message) {
	if m != nil && m.gone == 0 {
		m.gone = c.seq
	}
}

// deletionCalled notes that a message may be gone from now on.
func (c *Checker) deletionCalled(k *call) {
	m := c.ids[k.Msg]
	if m == nil {
		c.blame("a deletion of %s, which nobody was told", k.Msg)
		return
	}
	m.deletion, m.deletionLife = c.seq, c.life
	if m.tries++; m.firstTry == 0 {
		m.firstTry = c.seq
	}
}

// deleted judges the reply to a deletion.
func (c *Checker) deleted(k *call, existed bool) {
	m := c.ids[k.Msg]
	if m == nil {
		return
	}
	c.checkLate(k)
	inc := c.aliveAll(k.Box, k.seq, k.At)
	there := m.stored > 0 && m.stored < k.seq && m.gone == 0 && m.tries < 2 && m.inc != nil && m.inc == inc
	passed := m.priority == normal && m.life < c.life // with the life that it was sent in
	switch {
	case existed && m.wasDeleted:
		c.blame("message %s was deleted twice", m.id)
	case existed && m.gone > 0 && m.gone < k.seq:
		c.blame("message %s could be deleted although it was gone", m.id)
	case !existed && there && !passed:
		c.blame("message lost: a deletion did not find %s", c.describe(m))
	}
	if existed {
		c.totals.Deleted++
		m.wasDeleted = true
	}
	c.seenGone(m)
}
