package crash_test

import (
	"strings"
	"time"

	"github.com/mq9-broker/broker/specs/crash"
)

// story writes a history by hand. Its clock stands still but for pass. An id ends in c, u or n, which tells its priority; ids sort as
// they are meant to rise.
type story struct {
	events []crash.Event
	now    int64
	ops    int
	stamps map[string]int64
	boxes  map[string]crash.Info
}

func newStory() *story {
	s := &story{now: time.Now().UnixNano(), stamps: map[string]int64{}, boxes: map[string]crash.Info{}}
	s.starts()
	return s
}

func (s *story) check() []string {
	c := crash.NewChecker()
	for _, e := range s.events {
		c.Feed(e)
	}
	return c.Finish()
}

func (s *story) add(e crash.Event) {
	e.At = s.now
	s.now += int64(time.Microsecond)
	s.events = append(s.events, e)
}

func (s *story) call(e crash.Event) int {
	s.ops++
	e.Op = s.ops
	s.add(e)
	return e.Op
}

func (s *story) pass(d time.Duration) { s.now += int64(d) }
func (s *story) starts()              { s.add(crash.Event{Kind: crash.Starting}) }

// dies kills the broker and starts it again.
func (s *story) dies() {
	s.add(crash.Event{Kind: crash.Killing})
	s.starts()
}

func tier(id string) int { return strings.IndexByte("cun", id[len(id)-1]) }

// asks is a CREATE without its outcome. An empty box asks for a private mailbox.
func (s *story) asks(box string, ttl int64) int {
	return s.call(crash.Event{Kind: crash.Create, Box: box, Info: &crash.Info{Box: box, Public: box != "", TTL: ttl}})
}

// made is a mailbox that is created now.
func (s *story) made(box string, ttl int64) {
	public := strings.HasPrefix(box, "public")
	asked := box
	if !public {
		asked = ""
	}
	op := s.asks(asked, ttl)
	info := crash.Info{Box: box, New: true, Public: public, TTL: ttl, Created: s.now, Expires: s.now + ttl*int64(time.Second)}
	s.boxes[box] = info
	s.told(op, info)
}

func (s *story) told(op int, info crash.Info) {
	s.add(crash.Event{Kind: crash.Created, Op: op, Box: info.Box, Info: &info})
}

// confirmed is a CREATE of what exists, answered by what change makes of the truth.
func (s *story) confirmed(box string, change func(*crash.Info)) {
	op := s.asks(box, 1)
	info := s.boxes[box]
	info.New = false
	change(&info)
	s.told(op, info)
}

func (s *story) sends(kind crash.Kind, box, token string, priority int) int {
	s.stamps[token] = s.now
	return s.call(crash.Event{Kind: kind, Conn: 1, Box: box, Token: token, Priority: priority, Sum: uint64(len(token))})
}

// sent is an acknowledged message.
func (s *story) sent(box, token, id string) {
	op := s.sends(crash.Send, box, token, tier(id))
	s.add(crash.Event{Kind: crash.Sent, Op: op, Msg: id})
}

func (s *story) flushed() {
	op := s.call(crash.Event{Kind: crash.Flush, Conn: 1})
	s.add(crash.Event{Kind: crash.Flushed, Op: op})
}

func (s *story) deleted(box, id string, existed bool) {
	op := s.call(crash.Event{Kind: crash.Delete, Box: box, Msg: id})
	s.add(crash.Event{Kind: crash.Deleted, Op: op, Existed: existed})
}

func (s *story) listed(box string, ids ...string) {
	op := s.call(crash.Event{Kind: crash.List, Box: box})
	e := crash.Event{Kind: crash.Listed, Op: op, IDs: ids}
	for _, id := range ids {
		e.Tiers = append(e.Tiers, tier(id))
	}
	s.add(e)
}

func (s *story) subscribed(box, group string) int {
	return s.call(crash.Event{Kind: crash.Subscribe, Conn: 2, Box: box, Group: group})
}

// delivery is what a delivery of a message looks like.
func (s *story) delivery(sub int, box, token, id string) crash.Event {
	return crash.Event{
		Kind: crash.Delivered, Op: sub, Box: box, Token: token, Msg: id, Priority: tier(id),
		Sum: uint64(len(token)), Stamp: s.stamps[token],
	}
}

func (s *story) got(sub int, box, token, id string) { s.add(s.delivery(sub, box, token, id)) }

// read is a subscription that waited for everything; tokens and ids alternate.
func (s *story) read(box string, messages ...string) {
	sub := s.subscribed(box, "")
	for i := 0; i < len(messages); i += 2 {
		s.got(sub, box, messages[i], messages[i+1])
	}
	s.add(crash.Event{Kind: crash.Replayed, Op: sub})
	s.left(sub)
}

func (s *story) left(sub int) { s.add(crash.Event{Kind: crash.Left, Op: sub}) }

func (s *story) refused(op, code int) { s.add(crash.Event{Kind: crash.Refused, Op: op, Code: code}) }
