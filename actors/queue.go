package actors

import (
	"cmp"
	"iter"
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

// entry is one message as its mailbox's index knows it: 40 bytes beside the message itself.
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

// queue holds the messages of one priority in id order, in blocks, so that a long one grows without being copied. It belongs to its
// mailbox actor.
//
//	blocks: [entry gone entry …] [entry entry gone …] … [entry entry storing storing]
//
// Only its end can be storing, since the store works in order. A block in which nothing lives is given back, and one in which
// few do is copied into one of their size.
type queue struct {
	blocks  []block     // in id order; none is without life
	pending []mq9.MsgID // those that are still storing, in id order
	live    int         // entries that are not gone
	bytes   int64       // of these
	unsafe  int64       // bytes of those that are still storing
}

// block is up to blockSize entries in id order.
type block struct {
	entries []entry
	live    int
}

// blockSize is the entries of a block. The first one of a queue grows to it, so that short queues are small.
const blockSize = 256

// place is where an entry is.
type place struct{ block, entry int }

// add appends an entry; its id is larger than all before.
func (q *queue) add(e entry) {
	last := len(q.blocks) - 1
	if last < 0 || len(q.blocks[last].entries) >= blockSize {
		var b block
		if last >= 0 {
			b.entries = make([]entry, 0, blockSize)
		}
		q.blocks = append(q.blocks, b)
		last++
	}
	b := &q.blocks[last]
	b.entries = append(b.entries, e)
	b.live++
	q.count(&e, 1)
	if e.state == storing {
		q.pending = append(q.pending, e.id)
		q.unsafe += int64(e.size)
	}
}

// count notes that n more entries like e live.
func (q *queue) count(e *entry, n int) {
	q.live += n
	q.bytes += int64(n) * int64(e.size)
}

// position returns the first place whose id is at least id; its block is len(blocks) when there is none.
func (q *queue) position(id mq9.MsgID) place {
	b, _ := slices.BinarySearchFunc(q.blocks, id, func(b block, id mq9.MsgID) int {
		return cmp.Compare(b.entries[len(b.entries)-1].id, id)
	})
	if b == len(q.blocks) {
		return place{b, 0}
	}
	e, _ := slices.BinarySearchFunc(q.blocks[b].entries, id, func(e entry, id mq9.MsgID) int { return cmp.Compare(e.id, id) })
	return place{b, e}
}

// locate returns the place of the entry with this id.
func (q *queue) locate(id mq9.MsgID) (at place, found bool) {
	at = q.position(id)
	if at.block == len(q.blocks) {
		return at, false
	}
	e := &q.blocks[at.block].entries[at.entry]
	return at, e.id == id && e.state != gone
}

// find returns the entry with this id, or nil. The pointer is good until the queue changes.
func (q *queue) find(id mq9.MsgID) *entry {
	at, found := q.locate(id)
	if !found {
		return nil
	}
	return &q.blocks[at.block].entries[at.entry]
}

// behind yields the entries behind id, but for those that are gone. The queue must not change meanwhile.
func (q *queue) behind(id mq9.MsgID) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		at := q.position(id + 1)
		for ; at.block < len(q.blocks); at = (place{at.block + 1, 0}) {
			entries := q.blocks[at.block].entries
			for i := at.entry; i < len(entries); i++ {
				if entries[i].state != gone && !yield(&entries[i]) {
					return
				}
			}
		}
	}
}

// after returns the first entry behind id, or nil.
func (q *queue) after(id mq9.MsgID) *entry {
	for e := range q.behind(id) {
		return e
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
	if len(q.pending) == 0 {
		return 0, false
	}
	return q.pending[0], true
}

// settle ends the storing of the entry with this id: it is visible now, or gone if the store failed.
// An id the queue does not know (its actor was restarted meanwhile) is added when it was stored.
// It reports whether the message was there as stored before: read from disk by a restarted actor.
func (q *queue) settle(of mq9.Entry, failed bool) (known bool) {
	at, found := q.locate(of.ID)
	switch {
	case !found && failed:
	case !found:
		q.insert(newEntry(of, nil, stored))
	case q.blocks[at.block].entries[at.entry].state != storing:
		return true
	default:
		q.ready(of.ID)
		e := &q.blocks[at.block].entries[at.entry]
		q.unsafe -= int64(e.size)
		if e.state = stored; failed {
			q.drop(at)
		}
	}
	return false
}

// ready takes an id, in most cases the first, out of those that are storing.
func (q *queue) ready(id mq9.MsgID) {
	if i := slices.Index(q.pending, id); i > 0 {
		q.pending = slices.Delete(q.pending, i, i+1)
	} else if q.pending = q.pending[1:]; len(q.pending) == 0 {
		q.pending = nil
	}
}

// insert puts in an entry that is not the last.
func (q *queue) insert(e entry) {
	at := q.position(e.id)
	if at.block == len(q.blocks) {
		q.add(e)
		return
	}
	b := &q.blocks[at.block]
	b.entries = slices.Insert(b.entries, at.entry, e)
	b.live++
	q.count(&e, 1)
}

// remove takes the message with this id out; it reports whether it was there.
func (q *queue) remove(id mq9.MsgID) bool {
	at, found := q.locate(id)
	if found {
		q.drop(at)
	}
	return found
}

// drop makes an entry a gone place, and gives back room when gone places prevail.
func (q *queue) drop(at place) {
	b := &q.blocks[at.block]
	e := &b.entries[at.entry]
	q.count(e, -1)
	e.state, e.message = gone, nil
	const worthwhile = 32
	switch b.live--; {
	case b.live == 0:
		q.blocks = slices.Delete(q.blocks, at.block, at.block+1)
		if len(q.blocks) == 0 {
			q.blocks = nil
		}
	case len(b.entries) >= worthwhile && b.live < len(b.entries)/2:
		b.compact()
	}
}

// compact moves what lives into a slice of its own size.
func (b *block) compact() {
	kept := make([]entry, 0, b.live)
	for _, e := range b.entries {
		if e.state != gone {
			kept = append(kept, e)
		}
	}
	b.entries = kept
}
