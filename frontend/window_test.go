package frontend

import (
	"math/rand/v2"
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

func TestWindowGoesByPriorityThenTurn(t *testing.T) {
	var w window
	filler := &outlet{}
	if !w.reserve(filler, mq9.Normal, windowBytes) {
		t.Fatal("an empty window is full")
	}
	var normal1, normal2, urgent, critical outlet
	for _, wish := range []struct {
		out *outlet
		p   mq9.Priority
	}{{&normal1, mq9.Normal}, {&normal2, mq9.Normal}, {&urgent, mq9.Urgent}, {&critical, mq9.Normal}, {&critical, mq9.Critical}} {
		if w.reserve(wish.out, wish.p, 100) {
			t.Fatal("a full window has room")
		}
	}
	w.free(100)
	expect := func(want ...*outlet) {
		t.Helper()
		got := w.wake()
		if len(got) != len(want) {
			t.Fatalf("%d woken, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("place %d is somebody else", i)
			}
		}
	}
	expect(&critical)
	if critical.grant != 100 {
		t.Fatalf("granted %d", critical.grant)
	}
	w.free(windowBytes - 100)
	expect(&urgent, &normal1, &normal2)
	if urgent.grant != quantum {
		t.Fatalf("granted %d", urgent.grant)
	}
	// A grant is used first, then one waits behind the others.
	if !w.reserve(&urgent, mq9.Urgent, quantum) || urgent.grant != 0 {
		t.Fatal("the grant was not used")
	}
}

func TestWindowLetsNobodyPassThoseWhoWait(t *testing.T) {
	var w window
	var big, small, pressing outlet
	w.reserve(&outlet{}, mq9.Normal, windowBytes-1000)
	if w.reserve(&big, mq9.Urgent, 2000) {
		t.Fatal("too much was granted")
	}
	if w.reserve(&small, mq9.Urgent, 10) || w.reserve(&small, mq9.Normal, 10) {
		t.Fatal("it passed one that waits")
	}
	if !w.reserve(&pressing, mq9.Critical, 10) {
		t.Fatal("a more pressing message had to wait although there is room")
	}
	w.free(2000)
	if woken := w.wake(); len(woken) != 1 || woken[0] != &big || big.grant != 2990 {
		t.Fatal("the first one was not served, with what room there is")
	}
	w.cancelGrant(&big)
	if woken := w.wake(); len(woken) != 1 || woken[0] != &small {
		t.Fatal("the second one was not served")
	}
}

func TestWindowTakesOneMessageOfAnySize(t *testing.T) {
	var w window
	var huge outlet
	if !w.reserve(&huge, mq9.Normal, 10*windowBytes) {
		t.Fatal("it can never be sent")
	}
	if w.reserve(&outlet{}, mq9.Critical, 1) {
		t.Fatal("the window is over its limit")
	}
}

// TestWindowBounds plays at random and checks the invariants after each step.
func TestWindowBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var w window
	outlets := make([]outlet, 20)
	queued := 0 // reserved and not written
	for range 200_000 {
		out := &outlets[random.IntN(len(outlets))]
		switch random.IntN(4) {
		case 0, 1:
			cost := 1 + random.IntN(quantum)
			if w.reserve(out, mq9.Priority(random.IntN(mq9.Priorities)), cost) {
				queued += cost
			}
		case 2:
			w.cancelGrant(out)
		case 3:
			if n := random.IntN(queued + 1); n > 0 {
				queued -= n
				w.free(n)
			}
		}
		w.wake()
		grants, parked := 0, 0
		for i := range outlets {
			grants += outlets[i].grant
			if outlets[i].parked {
				parked++
			}
		}
		if w.inflight != queued+grants || w.inflight > windowBytes {
			t.Fatalf("%d in flight, %d queued and %d granted", w.inflight, queued, grants)
		}
		if parked > 0 && queued+grants == 0 {
			t.Fatal("somebody waits for nothing")
		}
	}
}
