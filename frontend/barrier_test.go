package frontend

import (
	"sync"
	"testing"
	"time"
)

// bell counts PONGs.
type bell struct {
	sync.Mutex
	n int
}

func (b *bell) ring() { b.Lock(); b.n++; b.Unlock() }

func (b *bell) count() int { b.Lock(); defer b.Unlock(); return b.n }

func TestBarrierWithholdsPongs(t *testing.T) {
	var pongs bell
	b := newBarrier(time.Minute, pongs.ring, func() { t.Error("stale") })
	defer b.close()
	expect := func(n int, what string) {
		t.Helper()
		if got := pongs.count(); got != n {
			t.Fatalf("%s: %d PONGs, want %d", what, got, n)
		}
	}
	b.pinged(1)
	if got := b.ponged(); got != 1 {
		t.Fatalf("it answers %d CONNECTs", got)
	}
	expect(1, "nothing open")

	first, _ := b.begin(10)
	b.pinged(1)
	b.probed(1)
	second, _ := b.begin(10)
	b.pinged(1)
	b.ponged() // of the second PING
	b.ponged() // of the probe
	expect(1, "first operation open")
	b.end(second, 10)
	expect(1, "first operation still open")
	b.end(first, 10)
	expect(2, "the third PING is not answered upstream")
	b.ponged()
	expect(3, "all done")

	// What follows from an operation holds back the same PONG; what is read after the PING does not.
	first, _ = b.begin(0)
	b.pinged(1)
	b.ponged()
	later, _ := b.begin(0)
	b.continued(first)
	b.end(first, 0)
	expect(3, "continued")
	b.end(first, 0)
	expect(4, "a later operation is open")
	b.end(later, 0)
	if !b.idle() {
		t.Fatal("not idle")
	}
}

func TestBarrierStale(t *testing.T) {
	stale := make(chan struct{})
	b := newBarrier(20*time.Millisecond, func() {}, func() { close(stale) })
	defer b.close()
	b.pinged(1)
	b.ponged()
	op, _ := b.begin(0)
	b.pinged(1)
	b.ponged()
	select {
	case <-stale:
	case <-time.After(10 * time.Second):
		t.Fatal("the timeout did not fire")
	}
	b.end(op, 0)
}

func TestBarrierTimerBelongsToTheOldestPong(t *testing.T) {
	const limit = 50 * time.Millisecond
	done := make(chan time.Time, 1)
	b := newBarrier(limit, func() {}, func() { done <- time.Now() })
	defer b.close()
	first, _ := b.begin(0)
	b.pinged(1)
	b.ponged()
	second, _ := b.begin(0)
	begun := time.Now()
	b.pinged(1)
	b.ponged()
	b.end(first, 0) // in time; the second PONG has its own limit
	select {
	case at := <-done:
		if at.Sub(begun) < limit {
			t.Fatalf("stale after %v", at.Sub(begun))
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the timeout did not fire")
	}
	b.end(second, 0)
}

func TestBarrierBoundsOpenOperations(t *testing.T) {
	for _, c := range []struct {
		name       string
		ops, bytes int
	}{{"operations", maxOpenOps, 0}, {"bytes", 2, maxOpenBytes / 2}} {
		t.Run(c.name, func(t *testing.T) {
			b := newBarrier(time.Minute, func() {}, func() {})
			var epoch *epoch
			for range c.ops {
				epoch, _ = b.begin(c.bytes)
			}
			entered := make(chan bool)
			go func() {
				_, open := b.begin(c.bytes)
				entered <- open
			}()
			select {
			case <-entered:
				t.Fatal("it did not wait")
			case <-time.After(20 * time.Millisecond):
			}
			b.end(epoch, c.bytes)
			if open := <-entered; !open {
				t.Fatal("it is closed")
			}
			go func() {
				_, open := b.begin(c.bytes)
				entered <- open
			}()
			b.close()
			if open := <-entered; open {
				t.Fatal("it is not closed")
			}
		})
	}
}
