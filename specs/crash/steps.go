package crash

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// The steps that change something.

// draft is a new message of this connection, and the event that tells of it.
func (w *worker) draft(kind Kind, box string, priority int, draw uint64) (Event, *nats.Msg) {
	w.sent++
	token := fmt.Sprintf("%d.%d", w.conn, w.sent)
	m := compose(box, priority, token, draw)
	return Event{Kind: kind, Conn: w.conn, Box: box, Token: token, Priority: priority, Sum: checksum(m)}, m
}

// priority draws one: critical and urgent, which must survive, more often than normal.
func priority(draw uint64) int { return []int{0, 0, 0, 1, 1, 1, 2}[draw%7] }

// send sends a message as a request.
func (w *worker) send(s step) {
	box, ok := w.world.pick(s.which)
	if !ok || w.world.full(box.Box) {
		w.drop(s)
		return
	}
	e, m := w.draft(Send, box.Box, priority(s.how), s.message)
	if op, r, ok := w.call(e, m); ok {
		w.outcome(op, Event{Kind: Sent, Msg: r.MsgID})
		w.world.saw(box.Box, r.MsgID)
	}
}

// publish sends several messages without a reply, to one or two mailboxes, and mostly flushes.
func (w *worker) publish(s step) {
	one, ok := w.world.pick(s.which)
	if !ok || w.world.full(one.Box) {
		w.drop(s)
		return
	}
	two := one
	if s.how%3 == 0 {
		two, _ = w.world.pick(s.which >> 8)
	}
	for i := range s.some {
		box := one
		if i%2 == 1 {
			box = two
		}
		e, m := w.draft(Publish, box.Box, priority(s.how>>i), s.message+uint64(i))
		w.history.Call(e)
		if w.nc.PublishMsg(m) != nil {
			w.gone = true
			return
		}
	}
	if s.how%8 > 0 {
		w.flush(s)
	}
}

// delete deletes one message as a request, sometimes one that somebody else may be deleting.
func (w *worker) delete(s step) {
	box, ok := w.world.pick(s.which)
	if !ok {
		return
	}
	for _, id := range w.world.take(box.Box, s.message, 1, s.how%4 == 0) {
		w.deleteOne(box.Box, id)
	}
}

func (w *worker) deleteOne(box, id string) {
	e := Event{Kind: Delete, Box: box, Msg: id}
	if op, r, ok := w.call(e, &nats.Msg{Subject: subjectDelete + box + "." + id}); ok {
		w.outcome(op, Event{Kind: Deleted, Existed: r.Deleted})
	}
}

// drop deletes several messages without a reply and flushes; many of them when there are many.
func (w *worker) drop(s step) {
	box, ok := w.world.pick(s.which)
	if !ok {
		return
	}
	n := s.some
	if w.world.full(box.Box) {
		n = crowded
	}
	ids := w.world.take(box.Box, s.message, n, false)
	for _, id := range ids {
		if !w.dropOne(box.Box, id) {
			return
		}
	}
	if len(ids) > 0 {
		w.flush(s)
	}
}

func (w *worker) dropOne(box, id string) bool {
	w.history.Call(Event{Kind: Drop, Conn: w.conn, Box: box, Msg: id})
	if w.nc.Publish(subjectDelete+box+"."+id, nil) != nil {
		w.gone = true
	}
	return !w.gone
}

const (
	long    = 3600                 // seconds: to the end of the run
	longest = 10 * 365 * 24 * 3600 // what the protocol allows, ten years
	lasting = 24                   // how many mailboxes may live that long
	names   = 8                    // of public mailboxes
)

// life draws a TTL: most end during the run, after some restarts or after none.
func (w *worker) life(s step) int64 {
	switch s.how % 8 {
	case 0:
		if w.world.lasting() < lasting {
			return []int64{long, longest}[s.how>>8%2]
		}
		return 30
	case 1, 2, 3:
		return 5 + int64(s.how>>8%20)
	default:
		return 1 + int64(s.how>>8%3)
	}
}

func (w *worker) createPrivate(s step) { w.create(Info{TTL: w.life(s), Desc: "private"}) }

// createPublic creates, or confirms, one of few names, so that connections meet there. Some of the names live long.
func (w *worker) createPublic(s step) {
	n := s.which % names
	info := Info{Box: fmt.Sprintf("crash.任务.%d", n), Public: true, TTL: 1 + int64(n%4), Desc: fmt.Sprintf("of %d", w.conn)}
	if n%4 == 0 {
		info.TTL = long + int64(s.how%100) // whoever is not first is told the first one's
	}
	w.create(info)
}

// confirm asks for a mailbox that exists.
func (w *worker) confirm(s step) {
	if box, ok := w.world.pick(s.which); ok {
		w.confirmOne(box)
	}
}

func (w *worker) confirmOne(box Info) {
	if box.Public {
		w.create(Info{Box: box.Box, Public: true, TTL: box.TTL + 1, Desc: "another"})
		return
	}
	w.create(Info{Box: box.Box})
}

// create sends a CREATE. A private mailbox with an address is confirmed.
func (w *worker) create(info Info) {
	body := map[string]any{}
	switch {
	case info.Public:
		body["public"], body["name"], body["ttl"], body["desc"] = true, info.Box, info.TTL, info.Desc
	case info.Box != "":
		body["mail_id"] = info.Box
	default:
		body["ttl"], body["desc"] = info.TTL, info.Desc
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings and numbers
	}
	if op, r, ok := w.call(Event{Kind: Create, Box: info.Box, Info: &info}, &nats.Msg{Subject: subjectCreate, Data: data}); ok {
		made := r.info()
		w.outcome(op, Event{Kind: Created, Box: made.Box, Info: &made})
		w.world.meet(made)
	}
}
