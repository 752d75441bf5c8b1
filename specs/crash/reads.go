package crash

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// The steps that look, and the work of queue groups.

// list asks for one page of a mailbox, which is all of most.
func (w *worker) list(s step) {
	if box, ok := w.world.pick(s.which); ok {
		w.listPages(box.Box, 1)
	}
}

// listPages asks for up to so many pages and records them as one list, which is true if nobody else is at work. It returns the ids.
func (w *worker) listPages(box string, most int) (ids []string, ok bool) {
	call, body := w.history.Call(Event{Kind: List, Conn: w.conn, Box: box}), []byte(nil)
	var tiers []int
	for page := 1; ; page++ {
		answer, err := w.nc.Request(subjectList+box, body, requestTimeout)
		if err != nil {
			w.gone = true
			w.history.Add(Event{Kind: Unanswered, Conn: w.conn, Op: call, Wrong: err.Error()})
			return nil, false
		}
		var r reply
		if err := json.Unmarshal(answer.Data, &r); err != nil {
			r.Error = err.Error()
		}
		if r.Error != "" {
			w.history.Add(Event{Kind: Refused, Conn: w.conn, Op: call, Code: r.Code, Wrong: r.Error})
			return nil, false
		}
		for _, m := range r.Messages {
			ids = append(ids, m.MsgID)
			tiers = append(tiers, slices.Index(tierNames, m.Priority))
		}
		if !r.More || page == most {
			w.outcome(call, Event{Kind: Listed, Box: box, IDs: ids, Tiers: tiers, More: r.More})
			return ids, true
		}
		body = fmt.Appendf(nil, `{"after":%q}`, ids[len(ids)-1])
	}
}

// discover asks for all public mailboxes.
func (w *worker) discover(step) {
	op, r, ok := w.call(Event{Kind: Discover}, &nats.Msg{Subject: subjectDiscover})
	if !ok {
		return
	}
	e := Event{Kind: Discovered, More: r.More}
	for _, m := range r.Mailboxes {
		m.Public = true
		e.Infos = append(e.Infos, m.info())
	}
	w.outcome(op, e)
}

// subscribe opens an independent subscription, in place of an old one when there are several.
func (w *worker) subscribe(s step) {
	box, ok := w.world.pick(s.which)
	if !ok {
		return
	}
	if len(w.subs) >= 3 {
		w.unsubscribe(s)
	}
	if sub := w.open(box.Box, "", nil); sub != nil {
		w.subs = append(w.subs, sub)
	}
}

// open subscribes to all priorities of a mailbox. wanted are the ids whose arrival sub.all tells.
func (w *worker) open(box, group string, wanted []string) *subscription {
	sub := &subscription{box: box, wanted: map[string]bool{}, all: make(chan struct{})}
	for _, id := range wanted {
		sub.wanted[id] = true
	}
	if len(wanted) == 0 {
		close(sub.all)
	}
	sub.op = w.history.Call(Event{Kind: Subscribe, Conn: w.conn, Box: box, Group: group})
	take := func(m *nats.Msg) { w.take(sub, m) }
	var err error
	if group == "" {
		sub.sub, err = w.nc.Subscribe(subjectSend+box+".*", take)
	} else {
		sub.sub, err = w.nc.QueueSubscribe(subjectSend+box+".*", group, take)
	}
	if err == nil {
		err = sub.sub.SetPendingLimits(-1, -1)
	}
	if err != nil {
		w.gone = true
		return nil
	}
	return sub
}

// take records a delivery. It runs on a goroutine of the subscription's own.
func (w *worker) take(sub *subscription, m *nats.Msg) {
	if sub.ended.Load() {
		return // it was on its way when the subscription ended
	}
	e := receive(m, sub.box)
	e.Op = sub.op
	w.history.Add(e)
	w.world.saw(sub.box, e.Msg)
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.inbox = append(sub.inbox, m)
	if sub.wanted[e.Msg] {
		if delete(sub.wanted, e.Msg); len(sub.wanted) == 0 {
			close(sub.all)
		}
	}
}

// unsubscribe ends an independent subscription.
func (w *worker) unsubscribe(s step) {
	if len(w.subs) > 0 {
		i := int(s.how % uint64(len(w.subs)))
		w.end(w.subs[i])
		w.subs = slices.Delete(w.subs, i, i+1)
	}
}

func (w *worker) end(sub *subscription) {
	w.leave(sub)
	if sub.sub.Unsubscribe() != nil {
		w.gone = true
	}
}

// join becomes a member of a queue group, or leaves one when it is in several.
func (w *worker) join(s step) {
	if len(w.teams) >= 2 {
		w.end(w.teams[0])
		w.teams = w.teams[1:]
		return
	}
	box, ok := w.world.pick(s.which)
	if !ok {
		return
	}
	if sub := w.open(box.Box, fmt.Sprintf("team%d", s.how%2), nil); sub != nil {
		w.teams = append(w.teams, sub)
	}
}

// work deletes some of what came to this member of a queue group, either way, and leaves the rest in hand.
func (w *worker) work(s step) {
	if len(w.teams) == 0 {
		w.join(s)
		return
	}
	team := w.teams[s.which%uint64(len(w.teams))]
	team.mu.Lock()
	n := min(s.some, len(team.inbox))
	batch := team.inbox[:n]
	team.inbox = team.inbox[n:]
	team.mu.Unlock()
	for _, m := range batch {
		id := receive(m, team.box).Msg
		if s.how%2 == 0 {
			w.deleteOne(team.box, id)
		} else {
			w.dropOne(team.box, id)
		}
		if w.gone {
			return
		}
	}
	if s.how%2 == 1 && n > 0 {
		w.flush(s)
	}
}

// readAll reads everything there is, when nobody else is at work, and keeps some of the subscriptions. It is how a life begins.
func (w *worker) readAll() {
	w.world.forget()
	for _, box := range w.world.all() {
		w.confirmOne(box)
		ids, ok := w.listPages(box.Box, 1000)
		if ok {
			w.world.holds(box.Box, ids)
			if sub := w.open(box.Box, "", ids); sub != nil {
				sub.until = time.Unix(0, box.Expires)
				w.subs = append(w.subs, sub)
			}
		}
		if w.gone {
			return
		}
	}
	deadline := time.Now().Add(requestTimeout)
	for i, sub := range w.subs {
		patience := min(time.Until(deadline), time.Until(sub.until))
		select {
		case <-sub.all:
		case <-time.After(max(patience, 0)): // late, or the mailbox expired: the Checker knows which
		}
		w.history.Add(Event{Kind: Replayed, Conn: w.conn, Op: sub.op, Box: sub.box})
		if i%3 > 0 {
			w.end(sub)
		}
	}
	w.subs = slices.DeleteFunc(w.subs, func(s *subscription) bool { return s.ended.Load() })
	w.discover(step{})
	w.flush(step{})
}
