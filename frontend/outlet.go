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

// Room implements actors.Outlet. What it finds is set aside until Idle.
func (out *outlet) Room(p mq9.Priority, size int) actors.Verdict {
	box := out.box
	box.mu.Lock()
	cost := out.cost(size)
	verdict := out.reserveLocked(p, cost)
	if verdict == actors.Granted {
		out.grant += cost
	}
	woken := box.window.wake() // parking gives back a grant that was too small
	box.mu.Unlock()
	resume(woken)
	return verdict
}

func (out *outlet) reserveLocked(p mq9.Priority, cost int) actors.Verdict {
	switch {
	case out.ended || out.box.state != boxOpen:
		return actors.Ended
	case out.box.window.reserve(out, p, cost):
		return actors.Granted
	default:
		return actors.Parked
	}
}

// Offer implements actors.Outlet.
func (out *outlet) Offer(messages []*mq9.Message) (sent int, verdict actors.Verdict) {
	answers, box := out.session.answers.Load(), out.box
	leave := false
	box.mu.Lock()
	for _, m := range messages {
		cost := out.cost(m.Size())
		if verdict = out.reserveLocked(m.Priority, cost); verdict != actors.Granted {
			break
		}
		if answers != nil {
			answers.deliver(out.id, m.ID)
		}
		sent++
		leave = out.pushLocked(item{out: out, message: m, cost: cost}) || leave
	}
	woken := box.window.wake()
	box.mu.Unlock()
	resume(woken)
	if leave {
		out.session.leave(out.entry, nil)
	}
	return sent, verdict
}

// Event implements actors.Outlet.
func (out *outlet) Event(body []byte) actors.Verdict {
	box, cost, leave := out.box, out.cost(len(body)), false
	box.mu.Lock()
	verdict := out.reserveLocked(mq9.Normal, cost)
	if verdict == actors.Granted {
		c := newChunk()
		c.bytes = appendPlain(c.bytes, mq9.SubjectDiscover, out.entry.sid, body)
		leave = out.pushLocked(item{out: out, chunk: c, cost: cost})
	}
	woken := box.window.wake()
	box.mu.Unlock()
	resume(woken)
	if leave {
		out.session.leave(out.entry, nil)
	}
	return verdict
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

// pushLocked queues what room was set aside for, and ends the subscription when it was the last one it may have. It reports whether
// the caller must leave.
func (out *outlet) pushLocked(it item) (leave bool) {
	out.confirmLocked()
	out.box.pushLocked(it)
	out.sent++
	return out.settleLocked()
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
	if most < 1 {
		leave = out.endLocked()
	} else {
		out.max = most
		leave = out.settleLocked()
	}
	woken := box.window.wake()
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
	leave = out.endLocked()
	woken := out.box.window.wake()
	out.box.mu.Unlock()
	resume(woken)
	return leave
}

// settleLocked ends the subscription if it has had its max.
func (out *outlet) settleLocked() (leave bool) {
	return out.max > 0 && out.sent >= out.max && out.endLocked()
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

// endLocked has the outlet take no more. It reports whether the caller must leave; what waits for room may be woken after it.
func (out *outlet) endLocked() (leave bool) {
	out.ended = true
	out.box.window.unpark(out)
	out.box.window.cancelGrant(out)
	if out.sub != nil && !out.left {
		out.left, leave = true, true
	}
	return leave
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
