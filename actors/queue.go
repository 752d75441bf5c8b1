package actors

import (
	"slices"

	"github.com/mq9-broker/broker/mq9"
)

// state is where a stored message is on its way.
type state uint8

const (
	storing  state = iota // handed to the store, not yet on disk: nobody may see it
	stored                // visible
	deleting              // its deletion is handed to the store: hidden, back if the store fails
	gone                  // deleted: a place without a message, to be compacted away
)

// entry is one message as its mailbox's index knows it: 48 bytes beside the message itself.
type entry struct {
	id      mq9.MsgID
	at      int64        // acceptance, Unix nanoseconds
	size    int32        // header lines and payload, bytes
	payload int32        // payload alone, bytes
	message *mq9.Message // nil when its bytes are on disk only
	state   state
}

func newEntry(e mq9.Entry, m *mq9.Message, s state) entry {
	return entry{e.ID, e.At, int32(e.Size), int32(e.PayloadSize), m, s} // sizes are bounded by max_payload, itself an int32
}

// queue holds the messages of one priority in id order. It belongs to its mailbox actor.
//
//	entries: [gone gone | head: entry entry gone entry … entry | storing storing …]
//
// Only its end can be storing, since the store works in order. Deleted places are skipped and compacted
// away when they outnumber the rest.
type queue struct {
	entries []entry
	head    int   // places before it are gone
	live    int   // entries that are not gone
	bytes   int64 // of these
	storing int   // how many of the last entries are still storing
}

// add appends an entry; its id is larger than all before.
func (q *queue) add(e entry) {
	q.entries = append(q.entries, e)
	q.live++
	q.bytes += int64(e.size)
	if e.state == storing {
		q.storing++
	}
}

// position returns the index of the first place whose id is at least id.
func (q *queue) position(id mq9.MsgID) int {
	i, _ := slices.BinarySearchFunc(q.entries[q.head:], id, func(e entry, id mq9.MsgID) int {
		switch {
		case e.id < id:
			return -1
		case e.id > id:
			return 1
		}
		return 0
	})
	return q.head + i
}

// find returns the entry with this id, or nil. The pointer is good until the queue changes.
func (q *queue) find(id mq9.MsgID) *entry {
	i := q.position(id)
	if i == len(q.entries) || q.entries[i].id != id || q.entries[i].state == gone {
		return nil
	}
	return &q.entries[i]
}

// after returns the first entry behind id, or nil.
func (q *queue) after(id mq9.MsgID) *entry {
	i := q.position(id + 1)
	for ; i < len(q.entries); i++ {
		if q.entries[i].state != gone {
			return &q.entries[i]
		}
	}
	return nil
}

// first returns the lowest id that is not gone, or 0. What is being deleted counts: its deletion may yet fail.
func (q *queue) first() mq9.MsgID {
	if e := q.after(0); e != nil {
		return e.id
	}
	return 0
}

// firstStoring returns the lowest id that is still being stored; ok is false when there is none.
func (q *queue) firstStoring() (id mq9.MsgID, ok bool) {
	if q.storing == 0 {
		return 0, false
	}
	for i := len(q.entries) - q.storing; i < len(q.entries); i++ {
		if q.entries[i].state == storing {
			return q.entries[i].id, true
		}
	}
	return 0, false
}

// settle ends the storing of the entry with this id: it is visible now, or gone if the store failed.
// An id the queue does not know (its actor was restarted meanwhile) is added when it was stored.
// It reports whether the message was there as stored before: read from disk by a restarted actor.
func (q *queue) settle(m *mq9.Message, failed bool) (known bool) {
	e := q.find(m.ID)
	switch {
	case e == nil && failed:
	case e == nil:
		q.entries = slices.Insert(q.entries, q.position(m.ID), newEntry(m.Entry(), m, stored))
		q.live++
		q.bytes += int64(m.Size())
	case e.state != storing:
		return true
	case failed:
		q.storing--
		q.drop(e)
	default:
		q.storing--
		e.state = stored
	}
	return false
}

// remove takes the message with this id out; it reports whether it was there.
func (q *queue) remove(id mq9.MsgID) bool {
	e := q.find(id)
	if e == nil {
		return false
	}
	q.drop(e)
	return true
}

// drop makes e a gone place, and compacts when gone places prevail.
func (q *queue) drop(e *entry) {
	e.state, e.message = gone, nil
	q.live--
	q.bytes -= int64(e.size)
	for q.head < len(q.entries) && q.entries[q.head].state == gone {
		q.head++
	}
	const worthwhile = 32
	if dead := len(q.entries) - q.live; dead > q.live && dead >= worthwhile || q.live == 0 {
		q.compact()
	}
}

// compact moves what lives into a slice of its own size.
func (q *queue) compact() {
	var kept []entry
	if q.live > 0 {
		kept = make([]entry, 0, q.live+q.live/4)
		for i := q.head; i < len(q.entries); i++ {
			if q.entries[i].state != gone {
				kept = append(kept, q.entries[i])
			}
		}
	}
	q.entries, q.head = kept, 0
}
