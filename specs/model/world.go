package model

import (
	"math"
	"slices"
)

// never is a moment that does not come.
const never = math.MaxInt

// world is the model: what the protocol says is stored, who subscribes, and who holds what. One goroutine uses it.
type world struct {
	now   int // the operations that took effect so far
	boxes []*box
	wrong mistake // for the test of the test

	judged  int  // the moment of the last judgement
	removed bool // something was deleted since then
}

// mistake is a rule that the world gets wrong on purpose.
type mistake int

const (
	none           mistake = iota
	noPriorities           // delivery in the order of acceptance
	noReplay               // a subscription gets what is sent from now on
	maxIsOneMore           // UNSUB max counts one too few
	deadHold               // what a closed member held is handed to nobody
	drainersLose           // a member that leaves by UNSUB loses at once what it holds
	deletedStays           // DELETE removes nothing
	inflightIsLess         // max_inflight is one lower
	alwaysEven             // members of a group hold equally many, whatever came
	anyPattern             // every subscription asks for all priorities
	mistakes
)

// normal is the priority that is kept in memory.
const normal = 2

// message is one that was accepted.
type message struct {
	name       string // unique; its payload begins with it
	id         string // once it is known
	pri        int    // 0 is the most pressing, normal the least
	size       int    // of the payload, bytes
	born, died int    // it is stored from one moment until the other
	sure       int    // the moment from which it must be visible: a durable one is while its sender waits
}

func (x *message) stored(at int) bool { return x.born <= at && at < x.died }

// before is delivery order: by priority, and first in, first out.
func (x *message) before(y *message, wrong mistake) bool {
	if x.pri == y.pri || wrong == noPriorities {
		return x.born < y.born
	}
	return x.pri < y.pri
}

// box is a mailbox. Its messages are all that it ever accepted, oldest first.
type box struct {
	alive    bool
	inflight int // max_inflight, 0 = none
	messages []*message
	lines    []*line
}

// line is what an independent subscription or a queue group has before it: the stored messages that nobody of it holds.
type line struct {
	box     *box
	queue   string // empty = independent: it has one member, which holds what it got for good
	members []*member
	places  map[*message]*place
}

// place is where a message stands in a line.
type place struct {
	since  int     // the moment it came back into line; 0 = it never left
	doubt  int     // until then somebody who is gone may have held it without our knowing
	holder *member // nil = it waits
	claim  *claim  // a delivery that was seen and is not judged yet
}

func (l *line) place(x *message) *place {
	if l.places[x] == nil {
		l.places[x] = &place{}
	}
	return l.places[x]
}

// member is one SUB.
type member struct {
	line         *line
	conn         *connection
	pattern      int
	joined, left int // the moments
	draining     bool
	max, maxFrom int      // UNSUB max, and the moment it was set
	had          int      // deliveries judged
	last         int      // the moment of the latest of them
	claims       []*claim // deliveries seen and not judged yet
}

// connection is what matters of a connection: whether it reads.
type connection struct {
	stalled      bool
	stallAt, end int   // the moments between which it did not read; end is never while it does not
	reach        int64 // in the stream: how far the broker may have gone meanwhile
}

func (m *member) wants(x *message, wrong mistake) bool {
	return m.pattern == 3 || m.pattern == x.pri || wrong == anyPattern
}

// holds is how many undeleted messages the member holds at a moment.
func (m *member) holds(at int) (n int) {
	for x, p := range m.line.places {
		if p.holder == m && at < x.died {
			n++
		}
	}
	return n
}

// tick is the next moment.
func (w *world) tick() int { w.now++; return w.now }

// create reports whether it made the mailbox.
func (w *world) create(b *box, inflight int) bool {
	if b.alive {
		return false
	}
	w.tick()
	b.alive, b.inflight = true, inflight
	return true
}

// send stores a message.
func (w *world) send(b *box, x *message) {
	x.born, x.died, x.sure = w.tick(), never, never
	if x.pri == normal {
		x.sure = x.born
	}
	b.messages = append(b.messages, x)
}

// flushed says that everything sent so far is stored.
func (w *world) flushed() {
	w.tick()
	for _, b := range w.boxes {
		for _, x := range b.messages {
			x.sure = min(x.sure, w.now)
		}
	}
}

// remove deletes a message and reports whether it was there.
func (w *world) remove(x *message) bool {
	existed := x.stored(w.tick())
	w.removed = true
	if existed && w.wrong != deletedStays {
		x.died = w.now
	}
	return existed
}

// list is what is stored, in delivery order.
func (w *world) list(b *box) []*message {
	stored := slices.DeleteFunc(slices.Clone(b.messages), func(x *message) bool { return !x.stored(w.now) })
	slices.SortFunc(stored, func(x, y *message) int {
		if x.before(y, w.wrong) {
			return -1
		}
		return 1
	})
	return stored
}

// subscribe adds a subscription. In a queue group it is the moment at which what draining members hold goes back into line.
func (w *world) subscribe(b *box, c *connection, pattern int, queue string, most int) *member {
	m := &member{conn: c, pattern: pattern, joined: w.tick(), left: never, max: most}
	i := slices.IndexFunc(b.lines, func(l *line) bool { return queue != "" && l.queue == queue })
	if i < 0 {
		i = len(b.lines)
		b.lines = append(b.lines, &line{box: b, queue: queue, places: map[*message]*place{}})
	}
	l := b.lines[i]
	m.line, l.members = l, append(l.members, m)
	for _, d := range slices.Clone(l.members) {
		if d.draining {
			w.dismiss(d, true)
		}
	}
	return m
}

// unsubscribe ends a subscription, or sets its max.
func (w *world) unsubscribe(m *member, most int) {
	w.tick()
	if most > 0 {
		m.max, m.maxFrom = most, w.now
		return
	}
	w.leave(m)
}

// leave takes a subscription out: a member of a group drains.
func (w *world) leave(m *member) {
	m.left = w.now
	if m.line.queue == "" || w.wrong == drainersLose {
		w.dismiss(m, true)
	} else {
		m.draining = true
	}
}

// hangUp ends the subscriptions of a connection, those that drain included.
func (w *world) hangUp(c *connection) {
	w.tick()
	for _, b := range w.boxes {
		for _, l := range slices.Clone(b.lines) {
			for _, m := range slices.Clone(l.members) {
				if m.conn != c {
					continue
				}
				for _, x := range b.messages { // it may have been sent what it did not read any more
					l.place(x).doubt = w.now
				}
				m.left = min(m.left, w.now)
				w.dismiss(m, w.wrong != deadHold)
			}
		}
	}
}

// dismiss takes a member out of its line. What it holds goes back into line.
func (w *world) dismiss(m *member, release bool) {
	l := m.line
	l.members = slices.DeleteFunc(l.members, func(o *member) bool { return o == m })
	for _, x := range l.box.messages {
		p := l.place(x)
		if p.holder == m && release {
			p.holder, p.since = nil, w.now
		}
	}
	if len(l.members) == 0 { // a group's bookkeeping dies with it
		l.box.lines = slices.DeleteFunc(l.box.lines, func(o *line) bool { return o == l })
	}
}

// expire ends a mailbox. Those who subscribe to a public one are served again when it is created again.
func (w *world) expire(b *box) {
	w.tick()
	b.alive = false
	for _, x := range b.messages {
		x.died = min(x.died, w.now)
	}
}
