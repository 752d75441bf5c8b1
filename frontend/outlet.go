package frontend

import (
	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/mq9"
)

// outlet is one mailbox or discovery subscription's way to its client. Actors call it; the outbox does the work.
type outlet struct {
	// immutable
	session *session
	box     *outbox    // the session's
	entry   *entry     // its place in the session's table: sid and queue
	id      mq9.MailID // empty for discovery
	style   style
	verbose bool  // the client wants +OK for its SUB
	since   int64 // when it was made, Unix nanoseconds

	// guarded by box.mu
	sub       *actors.Subscription // nil until Subscribe or Watch returned
	max       int                  // UNSUB max; 0 = none
	sent      int                  // messages queued since its SUB
	written   int                  // of these, what went to the socket
	ended     bool                 // takes no more
	left      bool                 // Leave has been called, or will be by whoever set this
	confirmed bool                 // its +OK is queued
	woken     bool                 // it has to be resumed as soon as sub is known

	// guarded by box.mu, touched by window alone
	parked     bool
	priority   mq9.Priority // of what it wants to send, while parked
	need       int          // bytes of it
	grant      int          // bytes set aside for it and not used yet
	prev, next *outlet
}

var (
	_ actors.Outlet    = (*outlet)(nil)
	_ actors.Connected = (*outlet)(nil)
)

// Connection implements actors.Connected.
func (out *outlet) Connection() uint64 { return out.session.cid.Load() }

// cost bounds the bytes on the wire of a message or event of the given size.
func (out *outlet) cost(size int) int {
	if out.id == "" {
		return len("MSG   1234567890\r\n\r\n") + len(mq9.SubjectDiscover) + len(out.entry.sid) + size
	}
	return out.style.cost(out.entry.sid, out.id, size)
}

// Reserve implements actors.Outlet.
func (out *outlet) Reserve(p mq9.Priority, size int) actors.Verdict {
	box := out.box
	box.mu.Lock()
	if out.ended || box.state != boxOpen {
		box.mu.Unlock()
		return actors.Ended
	}
	verdict := actors.Parked
	if box.window.reserve(out, p, out.cost(size)) {
		verdict = actors.Granted
	}
	woken := box.window.wake() // parking gives back a grant that was too small
	box.mu.Unlock()
	resume(woken)
	return verdict
}

// Cancel implements actors.Outlet.
func (out *outlet) Cancel(size int) {
	box := out.box
	box.mu.Lock()
	box.window.free(out.cost(size))
	box.window.cancelGrant(out)
	woken := box.window.wake()
	box.mu.Unlock()
	resume(woken)
}

// Idle implements actors.Outlet.
func (out *outlet) Idle() {
	box := out.box
	box.mu.Lock()
	box.window.cancelGrant(out)
	woken := box.window.wake()
	box.mu.Unlock()
	resume(woken)
}

// Deliver implements actors.Outlet.
func (out *outlet) Deliver(_ mq9.MailID, m *mq9.Message) {
	if a := out.session.answers.Load(); a != nil {
		a.deliver(out.id, m.ID)
	}
	out.send(item{out: out, message: m, cost: out.cost(m.Size())})
}

// Event implements actors.Outlet.
func (out *outlet) Event(body []byte) {
	out.send(item{out: out, event: body, cost: out.cost(len(body))})
}

// send queues a delivery and ends the subscription when it was the last one it may have.
func (out *outlet) send(it item) {
	box := out.box
	box.mu.Lock()
	if box.state != boxOpen {
		box.window.free(it.cost)
		box.mu.Unlock()
		return
	}
	out.confirmLocked()
	box.pushLocked(it)
	out.sent++
	leave, woken := out.settleLocked()
	box.mu.Unlock()
	resume(woken)
	if leave {
		out.session.leave(out.entry, nil)
	}
}

// confirm queues the +OK of a verbose client's SUB, once. It comes before the first delivery.
func (out *outlet) confirm() {
	out.box.mu.Lock()
	defer out.box.mu.Unlock()
	out.confirmLocked()
}

func (out *outlet) confirmLocked() {
	if out.verbose && !out.confirmed {
		out.confirmed = true
		out.box.writeLocked(frameOK)
	}
}

// limit sets the number of messages after which the subscription ends; below 1 it ends at once. It reports whether
// the caller must leave.
func (out *outlet) limit(most int) (leave bool) {
	box := out.box
	box.mu.Lock()
	var woken []*outlet
	if most < 1 {
		leave, woken = out.endLocked()
	} else {
		out.max = most
		leave, woken = out.settleLocked()
	}
	box.mu.Unlock()
	resume(woken)
	return leave
}

// attach tells the outlet its subscription. It reports whether the caller must leave it, because it
// ended before it was known.
func (out *outlet) attach(sub *actors.Subscription) (leave bool) {
	out.box.mu.Lock()
	out.sub = sub
	woken := out.woken
	out.woken = false
	if out.ended && !out.left {
		out.left, leave = true, true
	}
	out.box.mu.Unlock()
	if woken {
		sub.Resume()
	}
	return leave
}

// end stops a subscription. It reports whether the caller must leave it.
func (out *outlet) end() (leave bool) {
	out.box.mu.Lock()
	leave, woken := out.endLocked()
	out.box.mu.Unlock()
	resume(woken)
	return leave
}

// settleLocked ends the subscription if it has had its max.
func (out *outlet) settleLocked() (leave bool, woken []*outlet) {
	if out.max > 0 && out.sent >= out.max {
		return out.endLocked()
	}
	return false, nil
}

// subscription returns what attach was told.
func (out *outlet) subscription() *actors.Subscription {
	out.box.mu.Lock()
	defer out.box.mu.Unlock()
	return out.sub
}

// over reports whether the subscription takes no more.
func (out *outlet) over() bool {
	out.box.mu.Lock()
	defer out.box.mu.Unlock()
	return out.ended
}

// refused notes that the broker refused the subscription: there is nothing to leave.
func (out *outlet) refused() {
	out.box.mu.Lock()
	defer out.box.mu.Unlock()
	out.ended, out.left = true, true
}

func (out *outlet) endLocked() (leave bool, woken []*outlet) {
	out.ended = true
	out.box.window.unpark(out)
	out.box.window.cancelGrant(out)
	if out.sub != nil && !out.left {
		out.left, leave = true, true
	}
	return leave, out.box.window.wake()
}

// surplus reports whether a queued delivery must not be written any more, because UNSUB set a max after it was queued,
// and counts it otherwise. A queue group counts it as this member's already, so it is written. REQUIRES: box.mu.
func (out *outlet) surplus() bool {
	if out.max > 0 && out.entry.queue == "" && out.written >= out.max {
		return true
	}
	out.written++
	return false
}

// resume tells the actors of these outlets that there is room. REQUIRES: no lock is held.
func resume(woken []*outlet) {
	for _, out := range woken {
		out.box.mu.Lock()
		sub := out.sub
		if sub == nil {
			out.woken = true // attach will do it
		}
		out.box.mu.Unlock()
		if sub != nil {
			sub.Resume()
		}
	}
}
