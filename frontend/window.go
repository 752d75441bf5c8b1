package frontend

import "github.com/mq9-broker/broker/mq9"

const (
	// windowBytes bounds the deliveries in flight to one connection: granted, queued or being written. It is
	// what a critical message may have to wait behind (protocol section 6).
	windowBytes = 256 << 10

	// quantum is what a waiting subscription is granted when there is room again, so that those that wait take turns.
	quantum = 16 << 10
)

// window shares out the bytes in flight among a connection's subscriptions. It decides only; outbox.mu guards it
// and everything of an outlet that it touches.
//
// inflight is the sum of what was reserved or delivered and is not written yet, and of all grants. It exceeds windowBytes only
// for a single message larger than the window, sent alone.
type window struct {
	inflight int
	waiting  int                        // outlets that are parked
	parked   [mq9.Priorities]outletList // those without room, by the priority of what they want to send
}

// reserve sets bytes aside for an outlet, or parks it. Who waits with the same or a more pressing priority goes first.
func (w *window) reserve(out *outlet, p mq9.Priority, cost int) bool {
	if out.parked && out.priority == p {
		out.need = cost // it keeps its place
		if w.first() != out || !w.fits(cost) {
			return false
		}
		w.unpark(out)
		w.inflight += cost
		return true
	}
	w.unpark(out)
	if out.grant >= cost {
		out.grant -= cost
		return true
	}
	w.cancelGrant(out)
	if first := w.first(); w.fits(cost) && (first == nil || first.priority > p) {
		w.inflight += cost
		return true
	}
	out.parked, out.priority, out.need = true, p, cost
	w.parked[p].push(out)
	w.waiting++
	return false
}

// fits reports whether bytes may join those in flight.
func (w *window) fits(bytes int) bool { return w.inflight+bytes <= windowBytes || w.inflight == 0 }

// free takes bytes out of flight.
func (w *window) free(bytes int) { w.inflight -= bytes }

// cancelGrant takes back what an outlet was granted and did not use.
func (w *window) cancelGrant(out *outlet) {
	w.inflight -= out.grant
	out.grant = 0
}

// wake grants room to those that wait, most pressing first and in turn, and returns them: they must be resumed.
func (w *window) wake() (woken []*outlet) {
	for {
		out := w.first()
		if out == nil || !w.fits(out.need) {
			return woken
		}
		w.unpark(out)
		out.grant = max(out.need, min(quantum, windowBytes-w.inflight))
		w.inflight += out.grant
		woken = append(woken, out)
	}
}

// first is who goes next.
func (w *window) first() *outlet {
	for p := range w.parked {
		if out := w.parked[p].head; out != nil {
			return out
		}
	}
	return nil
}

// unpark ends an outlet's waiting, if it waits.
func (w *window) unpark(out *outlet) {
	if out.parked {
		out.parked = false
		w.waiting--
		w.parked[out.priority].remove(out)
	}
}

// outletList is a FIFO of outlets, linked through them, so that parking allocates nothing.
type outletList struct{ head, tail *outlet }

func (l *outletList) push(out *outlet) {
	out.prev, out.next = l.tail, nil
	if l.tail == nil {
		l.head = out
	} else {
		l.tail.next = out
	}
	l.tail = out
}

func (l *outletList) remove(out *outlet) {
	if out.prev == nil {
		l.head = out.next
	} else {
		out.prev.next = out.next
	}
	if out.next == nil {
		l.tail = out.prev
	} else {
		out.next.prev = out.prev
	}
	out.prev, out.next = nil, nil
}
