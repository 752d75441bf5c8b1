package actors

import (
	"math"
	"slices"

	"github.com/mq9-broker/broker/mq9"
)

// queues are a mailbox's three queues, by priority.
type queues [mq9.Priorities]queue

// view is how far one reader has come: everything up to its cursors was sent, but for what was given back.
// It belongs to the mailbox actor. An independent subscription never gives anything back.
type view struct {
	cursor   [mq9.Priorities]mq9.MsgID
	returned *[mq9.Priorities][]mq9.MsgID // ids behind the cursor to be sent again, ascending; nil while there are none
}

// next returns the message that the reader must get next: the oldest of the most pressing priority it asks for. It
// returns nil when there is none that may be sent now.
//
// A message still being stored holds back what stands behind it in its queue, and what was accepted after it at
// lower priorities (no inversion, protocol section 5), whether or not this reader asks for it. A message being deleted
// holds back everything that comes after it for this reader: passed over, it would be missed if its deletion fails, and lower
// priorities must not overtake what waits behind it.
func (qs *queues) next(v *view, set mq9.PrioritySet) (mq9.Priority, *entry) {
	barrier := mq9.MsgID(math.MaxUint64)
	for p := range mq9.Priority(mq9.Priorities) {
		q := &qs[p]
		if set.Has(p) {
			if e := v.nextReturned(p, q); e != nil {
				return p, e
			}
			switch e := q.after(v.cursor[p]); {
			case e == nil:
			case e.state == deleting:
				return 0, nil
			case e.state == stored && e.id < barrier:
				return p, e
			}
		}
		if id, waiting := q.firstStoring(); waiting {
			barrier = min(barrier, id)
		}
	}
	return 0, nil
}

// ahead fills batch with what the reader must get next and in that order, as far as it is in memory and of one priority.
func (qs *queues) ahead(v *view, set mq9.PrioritySet, batch *batch) []*mq9.Message {
	p, e := qs.next(v, set)
	if e == nil || e.message == nil {
		return nil
	}
	messages := append(batch[:0], e.message)
	if e.id <= v.cursor[p] {
		return messages // it was given back: what comes next is elsewhere
	}
	limit := mq9.MsgID(math.MaxUint64) // what is still being stored holds back what is behind it
	for above := range p {
		if id, waiting := qs[above].firstStoring(); waiting {
			limit = min(limit, id)
		}
	}
	for e := range qs[p].behind(e.id) {
		if len(messages) == len(batch) || e.state != stored || e.message == nil || e.id >= limit {
			break
		}
		messages = append(messages, e.message)
	}
	return messages
}

// nextReturned returns the first given-back message of a priority, and forgets those that were deleted meanwhile. It
// passes over those whose deletion is under way, which may yet fail.
func (v *view) nextReturned(p mq9.Priority, q *queue) *entry {
	if v.returned == nil {
		return nil
	}
	ids := v.returned[p]
	defer func() { v.returned[p] = ids }()
	for i := 0; i < len(ids); {
		switch e := q.find(ids[i]); {
		case e == nil && i == 0:
			ids = ids[1:]
		case e == nil:
			ids = slices.Delete(ids, i, i+1)
		case e.state == stored:
			return e
		default:
			i++
		}
	}
	return nil
}

// advance notes that the message was sent.
func (v *view) advance(p mq9.Priority, id mq9.MsgID) {
	if id > v.cursor[p] {
		v.cursor[p] = id
		return
	}
	switch i, found := slices.BinarySearch(v.returned[p], id); {
	case !found:
	case i == 0:
		v.returned[p] = v.returned[p][1:]
	default:
		v.returned[p] = slices.Delete(v.returned[p], i, i+1)
	}
}

// giveBack puts messages that were sent before in line again, at their old places.
func (v *view) giveBack(ids []mq9.MsgID) {
	if v.returned == nil {
		v.returned = new([mq9.Priorities][]mq9.MsgID)
	}
	for _, id := range ids {
		if p := id.Priority(); id <= v.cursor[p] {
			v.returned[p] = append(v.returned[p], id)
		}
	}
	for p := range v.returned {
		slices.Sort(v.returned[p])
		v.returned[p] = slices.Compact(v.returned[p])
	}
}
