package frontend

import (
	"time"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/mq9"
)

// subscribe acts on the SUB that the parser has found and reports whether it was ours. rest is what follows it.
func (s *session) subscribe(rest []byte) (taken bool, err error) {
	line := s.parser.sub
	e := &entry{sid: string(line.sid), subject: string(line.subject), queue: string(line.queue)}
	if !isMailbox(line.subject) {
		// nats-server ignores a SUB whose sid is in use; one of ours it does not know of.
		s.subs.vacate(e.sid)
		if first := s.subs.add(e); first != nil && first.out != nil {
			s.confirm()
			return true, nil
		}
		return false, nil
	}
	ready, err := s.ready()
	if err != nil {
		return true, err
	}
	most := s.parser.peekMax(rest, e.sid)
	if refusal := s.attach(e, most, ready); refusal != nil {
		s.refuse(e, refusal)
	}
	return true, nil
}

// attach starts a mailbox or discovery subscription; refusals that the broker gives come later.
func (s *session) attach(e *entry, most int, ready bool) *mq9.Error {
	if !ready {
		return errConnect
	}
	if !s.permissions.maySubscribe(e.subject, e.queue) {
		return s.permissions.refusal
	}
	s.subs.vacate(e.sid)
	if s.subs.get([]byte(e.sid)) != nil {
		s.confirm()
		return nil
	}
	if limit := s.server.nats.settings.Load().maxSubs; limit > 0 && s.subs.size() >= limit {
		return mq9.Errorf(mq9.CodeLimit, "limit max-subscriptions (%d) of this connection is reached: UNSUB some, or raise it", limit)
	}
	if s.server.draining.Load() {
		return mq9.ErrShuttingDown
	}
	op, refusal := mq9.ParseSubscribe(e.subject)
	if refusal != nil {
		return refusal
	}
	if op.Verb == mq9.Watch && e.queue != "" {
		return errQueue
	}
	e.out = &outlet{
		session: s,
		box:     s.box,
		entry:   e,
		id:      op.MailID,
		style:   style{s.server.options.Delivery, s.connect.Headers && s.settings.headers},
		verbose: s.connect.Verbose,
		max:     most,
		since:   time.Now().UnixNano(),
	}
	s.subs.add(e)
	epoch, open := s.barrier.begin(0)
	done := func(refusal *mq9.Error) {
		if refusal != nil {
			e.out.refused()
			s.subs.remove(e)
			s.refuse(e, refusal)
		} else {
			e.out.confirm()
		}
		s.barrier.end(epoch, 0)
	}
	if !open {
		done(mq9.ErrShuttingDown)
		return nil
	}
	s.calls.Lock()
	var sub *actors.Subscription
	if op.Verb == mq9.Watch {
		sub = s.client.Watch(e.out, done)
	} else {
		sub = s.client.Subscribe(op.MailID, op.Set, e.queue, e.out, done)
	}
	s.calls.Unlock()
	if e.out.attach(sub) {
		s.leave(e, nil)
	}
	if !s.current() {
		s.revoke() // a reload between the look at the permissions and now did not see it
	}
	return nil
}

// refuse tells the client that it gets no subscription.
func (s *session) refuse(e *entry, err *mq9.Error) {
	s.server.refusals.count(err)
	s.box.write(refuseSub(e.subject, e.queue, err))
}

// unsubscribe acts on the UNSUB that the parser has found and reports whether it was ours.
func (s *session) unsubscribe() (taken bool, err error) {
	s.handOver() // a request before it may be answered on this very subscription
	line := s.parser.sub
	e := s.subs.get(line.sid)
	if e == nil {
		return false, nil // nats-server ignores it
	}
	if e.out == nil {
		instead := s.subs.limit(e, line.max)
		if instead == nil {
			return false, nil
		}
		if err := s.flush(); err != nil {
			return true, err
		}
		if err := s.up.write(instead, true); err != nil {
			return true, errHangUp
		}
		return true, nil
	}
	s.confirm()
	if e.out.limit(line.max) {
		epoch, open := s.barrier.begin(0)
		if !open {
			s.barrier.end(epoch, 0)
			return true, errHangUp
		}
		s.leave(e, func() { s.barrier.end(epoch, 0) })
	}
	return true, nil
}

// confirm answers a verbose client's SUB or UNSUB.
func (s *session) confirm() {
	if s.connect.Verbose {
		s.box.write(frameOK)
	}
}

// leave ends one mailbox subscription while the connection stays; its outlet has said that it is time.
func (s *session) leave(e *entry, done func()) {
	s.subs.remove(e)
	sub := e.out.subscription()
	s.drain.Lock()
	closed := s.drain.closed
	if !closed && e.queue != "" {
		s.drainLocked(sub)
	}
	s.drain.Unlock()
	sub.Leave(closed, done)
}

// drainLocked remembers a queue-group member that left: what it holds is handed on when the connection ends.
// REQUIRES: drain.
func (s *session) drainLocked(sub *actors.Subscription) {
	const few = 16
	d := &s.drain
	d.subs = append(d.subs, sub)
	if len(d.subs) < max(d.sweep, few) {
		return
	}
	held := d.subs[:0]
	for _, member := range d.subs {
		if member == sub || member.Holds() {
			held = append(held, member)
		}
	}
	clear(d.subs[len(held):])
	d.subs, d.sweep = held, 2*len(held)
}

// part ends the mailbox subscriptions because the connection ends: queue groups hand on what it holds. It may be called twice,
// and from any goroutine.
func (s *session) part() {
	s.drain.Lock()
	s.drain.closed = true
	s.drain.Unlock()
	s.leaveAll()
}

// leaveAll ends every mailbox subscription because the connection ends, or is in another account now.
func (s *session) leaveAll() {
	s.drain.Lock()
	left := s.drain.subs
	s.drain.subs = nil
	s.drain.Unlock()
	for _, sub := range left {
		if sub.Holds() {
			sub.Leave(true, nil)
		}
	}
	for _, e := range s.subs.mailboxes() {
		s.subs.remove(e)
		if e.out.end() {
			e.out.subscription().Leave(true, nil)
		}
	}
}
