package actors

import (
	"errors"
	"slices"

	"github.com/mq9-broker/broker/mq9"
)

// Who reads a mailbox: independent subscriptions here, queue groups in mailbox_groups.go.

// reader is an independent subscription as its mailbox sees it. It belongs to the mailbox actor and survives its crash.
type reader struct {
	sub    *Subscription
	view   view
	parked bool         // its outlet has no room and will call Resume
	wish   mq9.Priority // what it was parked with
	woken  bool         // its outlet called Resume, or set room aside, and is owed an Idle
	ended  bool         // its outlet takes no more; its leave is on the way
	going  bool         // it has had its stride, and its proceed is on the way
}

// subscribe attaches a subscription, whose replay begins at the oldest message (protocol section 6).
func (m *mailbox) subscribe(op *subscribe) {
	if err := m.load(); err != nil {
		op.refuse(err)
		return
	}
	if op.sub.queue != "" {
		m.join(op)
		return
	}
	r := &reader{sub: op.sub}
	op.sub.reader = r
	m.readers = append(m.readers, r)
	if m.due > 0 {
		m.due++ // it may stand before those that a turn has yet to look at
	}
	m.pump(r)
	take(&op.done)(nil)
	m.cool()
}

// leave detaches a subscription.
func (m *mailbox) leave(op *leave) {
	if op.sub.queue != "" {
		m.part(op)
		return
	}
	if r := op.sub.reader; r != nil {
		op.sub.reader = nil
		i := slices.Index(m.readers, r)
		m.readers = slices.Delete(m.readers, i, i+1)
		if m.contents != nil && i <= m.place {
			m.place--
		}
	}
	op.answer()
	m.cool()
}

// resume goes on with a subscription whose outlet has room again.
func (m *mailbox) resume(sub *Subscription) {
	switch r := sub.reader; {
	case sub.queue != "":
		m.resumeMember(sub)
	case r == nil || m.load() != nil:
		sub.out.Idle()
	default:
		r.parked, r.woken = false, true
		m.pump(r)
		m.cool()
	}
}

// readAhead is how many bytes of bodies are read from disk at once.
const readAhead = 128 << 10

// warm names a durable message whose bytes are in memory.
type warm struct {
	id   mq9.MsgID
	size int
}

// warmLimit bounds the bytes of durable bodies that a mailbox keeps in memory for readers that are on their way.
const warmLimit = 256 << 10

// body brings a message's bytes into memory, and those of what stands behind it. It reports false when the store fails, which is logged. It
// does so, too, when the store does not have the message, which then leaves the index: a
// deletion that was refused because its sync failed may have taken effect all the same, when the store was opened again.
func (m *mailbox) body(p mq9.Priority, e *entry) bool {
	read, err := m.broker.store.Read(m.at.box.Number, p, e.id, readAhead)
	if err != nil {
		m.logFailure("reading a message", err)
		return false
	}
	if len(read) == 0 || read[0].ID != e.id {
		m.logFailure("reading a message", errMissing)
		id := e.id
		m.tally().found[p].add(-1, -int64(e.size))
		m.queues[p].remove(id)
		m.tellGroups(id)
		return false
	}
	for _, message := range read {
		m.keepWarm(message)
	}
	return true
}

// errMissing says that the index names a message that the store does not have.
var errMissing = errors.New("a message of the index is not in the store")

// keepWarm keeps a durable message's bytes in memory for the readers to come, within the limit. What is in memory already stands in warm
// once, and must: chilled for the sake of one place, it would be missing at the other.
func (m *mailbox) keepWarm(message *mq9.Message) {
	e := m.queues[message.Priority].find(message.ID)
	if e == nil || e.message != nil {
		return
	}
	e.message = message
	m.warm = append(m.warm, warm{message.ID, message.Size()})
	m.warmth += message.Size()
	for m.warmth > warmLimit && len(m.warm) > 1 {
		m.chill(m.warm[0])
		m.warm = m.warm[1:]
	}
}

// cool lets go of durable bodies when no reader is behind: they are read from disk when somebody comes.
func (m *mailbox) cool() {
	if m.contents == nil || len(m.warm) == 0 || m.due > 0 || slices.ContainsFunc(m.readers, func(r *reader) bool { return r.parked || r.going }) {
		return
	}
	for _, w := range m.warm {
		m.chill(w)
	}
	m.warm = nil
}

// chill lets go of one body.
func (m *mailbox) chill(w warm) {
	m.warmth -= w.size
	if e := m.queues[w.id.Priority()].find(w.id); e != nil {
		e.message = nil
	}
}
