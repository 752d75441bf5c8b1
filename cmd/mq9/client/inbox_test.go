package client

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

func msg(number uint64, p mq9.Priority) *message {
	return &message{id: mq9.NewMsgID(number, p), priority: p}
}

// drain takes what waits, in order.
func drain(b *inbox) (numbers []uint64) {
	for {
		m, _ := b.take()
		if m == nil {
			return numbers
		}
		numbers = append(numbers, uint64(m.id)>>2)
		b.finish(m.id)
	}
}

func equal(t *testing.T, got []uint64, want ...uint64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%v, not %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%v, not %v", got, want)
		}
	}
}

func TestInboxOrder(t *testing.T) {
	b := newInbox(false, 0)
	for _, m := range []*message{msg(1, mq9.Normal), msg(2, mq9.Critical), msg(3, mq9.Urgent), msg(4, mq9.Normal), msg(5, mq9.Critical)} {
		if b.put(m) != accepted {
			t.Fatalf("%v was not accepted", m)
		}
	}
	equal(t, drain(b), 2, 5, 3, 1, 4)
	if !b.empty() {
		t.Error("it is not empty")
	}
}

// An independent subscription is sent everything again after a reconnect.
func TestInboxReplay(t *testing.T) {
	b := newInbox(false, 0)
	b.put(msg(2, mq9.Normal))
	b.put(msg(7, mq9.Critical))
	equal(t, drain(b), 7, 2)
	b.put(msg(8, mq9.Normal))
	for m, want := range map[*message]verdict{
		msg(7, mq9.Critical): passed, msg(2, mq9.Normal): passed, msg(8, mq9.Normal): present, msg(9, mq9.Critical): accepted,
		msg(3, mq9.Urgent): accepted, // a lower id at a priority that has shown nothing
	} {
		if got := b.put(m); got != want {
			t.Errorf("%v: %v, not %v", m.id, got, want)
		}
	}
	equal(t, drain(b), 9, 3, 8)
}

// A member of a group takes what it is handed, also again, but nothing that it still has.
func TestInboxOfGroup(t *testing.T) {
	b := newInbox(true, 0)
	for i := range uint64(3) {
		b.put(msg(i+1, mq9.Normal))
	}
	working, _ := b.take()
	b.forget()
	for i, want := range []verdict{present, accepted, accepted} { // the first is in work
		if got := b.put(msg(uint64(i)+1, mq9.Normal)); got != want {
			t.Errorf("%d: %v", i, got)
		}
	}
	b.finish(working.id)
	b.remember(working.id)
	if b.put(working) != undone {
		t.Error("what is done but not deleted was taken for something else")
	}
	equal(t, drain(b), 2, 3)
	if b.put(msg(2, mq9.Normal)) != accepted {
		t.Error("what a command failed for is not taken again")
	}
}

func TestInboxCount(t *testing.T) {
	b := newInbox(false, 50)
	var taken atomic.Int32
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				if _, ok := b.next(t.Context().Done()); !ok {
					return
				}
				taken.Add(1)
			}
		})
	}
	for i := range uint64(100) {
		b.put(msg(i+1, mq9.Normal))
	}
	workers.Wait() // all learn that the count is reached
	if taken.Load() != 50 {
		t.Errorf("%d were taken of 50", taken.Load())
	}
	stop := make(chan struct{})
	close(stop)
	if _, ok := newInbox(false, 0).next(stop); ok {
		t.Error("a message after the end")
	}
}
