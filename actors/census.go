package actors

import (
	"context"
	"sync/atomic"
	"time"
)

// census counts, once and in the background, what is on disk at the start, so that the figures of the durable tiers become
// whole without a mailbox being used. It takes a tenth of one processor at most.
type census struct {
	done atomic.Bool        // everything is counted
	stop context.CancelFunc // immutable
	gone chan struct{}      // closed when the goroutine has ended
}

// start begins the counting.
func (c *census) start(b *Broker) {
	ctx, cancel := context.WithCancel(context.Background())
	c.stop, c.gone = cancel, make(chan struct{})
	go func() {
		defer close(c.gone)
		c.done.Store(c.count(ctx, b))
	}()
}

// count has every mailbox count what it holds and reports whether it came to the end.
func (c *census) count(ctx context.Context, b *Broker) bool {
	const page, rest = 16, 9 // mailboxes at once, and how many times as long nothing is done
	pause := time.NewTimer(0)
	defer pause.Stop()
	for after := ""; ; {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return false
		}
		began := time.Now()
		_, next, err := b.mailboxes(ctx, after, page, true)
		if err != nil || next == "" {
			return err == nil && ctx.Err() == nil
		}
		after = next
		pause.Reset(rest * time.Since(began))
	}
}

// end stops the counting and waits for its goroutine.
func (c *census) end() {
	if c.stop != nil {
		c.stop()
		<-c.gone
	}
}
