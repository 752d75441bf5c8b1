package persistence

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// request is a change on its way through the committer.
type request struct {
	change any         // an mq9.Change, or one of the internal ones below
	done   func(error) // may be nil
	err    error       // the outcome, set by write
}

// Internal changes: they too are written by nobody but the committer.
type (
	// reserve takes all ids up to mark out of use. It is synced in every mode.
	reserve struct{ mark uint64 }
	// purge deletes keys of an expired mailbox from a family.
	purge struct {
		family family
		keys   [][]byte
	}
	// bury removes an expired mailbox, now empty, from the graveyard.
	bury struct{ number uint64 }
	// late stands for a change that came when the store was closing.
	late struct{}
)

// load is what changes add to a batch.
type load struct {
	changes int // messages count one each
	bytes   int // about
}

func (l *load) add(more load) {
	l.changes += more.changes
	l.bytes += more.bytes
}

// loadOf is what one change adds.
func loadOf(change any) load {
	const small = 64
	switch c := change.(type) {
	case mq9.AppendMessages:
		l := load{len(c.Messages), small * len(c.Messages)}
		for _, m := range c.Messages {
			if m != nil {
				l.bytes += m.Size()
			}
		}
		return l
	case mq9.CreateMailbox:
		if c.Mailbox != nil {
			return load{1, small + len(c.Mailbox.Desc) + len(c.Mailbox.Account) + len(c.Mailbox.ID)}
		}
	case purge:
		return load{1, small * len(c.keys)}
	}
	return load{1, small}
}

// committer gathers changes and writes them from one goroutine, batch after batch.
//
// A request is the queue's until the goroutine takes the whole queue, then the goroutine's alone. The queue is not bounded: Commit must not block,
// and its callers bound what they have outstanding.
type committer struct {
	maxChanges, maxBytes int             // immutable
	write                func([]request) // sets each request's err; called on the goroutine only
	tick                 func()          // called on the goroutine every period
	period               time.Duration   // 0 = no ticks

	outstanding atomic.Int64 // changes that were handed over and whose outcome is not being told yet

	wake chan struct{} // holds a token while the queue may be non-empty or closing has begun
	gone chan struct{} // closed when the goroutine has ended

	mu struct {
		sync.Mutex
		queue   []request
		changes int  // in queue
		closing bool // further changes are refused
		ended   bool // the goroutine takes nothing any more
	}
}

// start runs the committer until close.
func (c *committer) start() {
	c.wake = make(chan struct{}, 1)
	c.gone = make(chan struct{})
	go c.run()
}

// commit queues a change. Of one caller's changes, and of those that callers order among themselves, the order is kept.
func (c *committer) commit(change any, done func(error)) {
	c.mu.Lock()
	if c.mu.ended {
		c.mu.Unlock()
		<-c.gone // those before it are told first
		if done != nil {
			done(ErrClosed)
		}
		return
	}
	if c.mu.closing {
		change = late{}
	}
	c.outstanding.Add(1)
	c.mu.queue = append(c.mu.queue, request{change: change, done: done})
	c.mu.changes += loadOf(change).changes
	c.mu.Unlock()
	c.nudge()
}

// commitWait queues a change and waits for its outcome. It must not be called on the committer's goroutine.
func (c *committer) commitWait(change any) error {
	outcome := make(chan error, 1)
	c.commit(change, func(err error) { outcome <- err })
	return <-outcome
}

// close lets the goroutine finish what is queued, refuses what comes later and waits for the end.
func (c *committer) close() {
	c.mu.Lock()
	c.mu.closing = true
	c.mu.Unlock()
	c.nudge()
	<-c.gone
}

func (c *committer) nudge() {
	select {
	case c.wake <- struct{}{}:
	default: // there is a token already
	}
}

// queued is how many changes wait for their batch.
func (c *committer) queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.changes
}

func (c *committer) run() {
	defer close(c.gone)
	var ticks <-chan time.Time
	if c.period > 0 {
		ticker := time.NewTicker(c.period)
		defer ticker.Stop()
		ticks = ticker.C
	}
	var spare []request
	for {
		select {
		case <-c.wake:
		case <-ticks:
			c.tick()
			continue
		}
		taken, ended := c.take(spare)
		if ended {
			return
		}
		for rest := taken; len(rest) > 0; {
			n := c.fit(rest)
			c.settle(rest[:n])
			rest = rest[n:]
		}
		clear(taken) // let go of the messages
		spare = taken[:0]
	}
}

// take swaps the queue for an empty one. It reports the end when there is nothing left and nothing may follow.
func (c *committer) take(spare []request) (taken []request, ended bool) {
	const keep = 1 << 14 // one burst must not hold its memory for ever
	if cap(spare) > keep {
		spare = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	taken, c.mu.queue, c.mu.changes = c.mu.queue, spare, 0
	if c.mu.closing {
		if len(taken) == 0 {
			c.mu.ended = true
			return nil, true
		}
		c.nudge() // come back and see whether that was all
	}
	return taken, false
}

// fit is how many of the requests make one batch, at least one.
func (c *committer) fit(requests []request) int {
	var total load
	for n, r := range requests {
		total.add(loadOf(r.change))
		if n > 0 && (total.changes > c.maxChanges || total.bytes > c.maxBytes) {
			return n
		}
	}
	return len(requests)
}

// settle writes one batch and tells its waiters in order.
func (c *committer) settle(batch []request) {
	c.write(batch)
	for _, r := range batch {
		c.outstanding.Add(-1)
		if r.done != nil {
			r.done(r.err)
		}
	}
}

// ids hands out ids that were never handed out before.
type ids struct {
	committer *committer // immutable

	mu struct {
		sync.Mutex        // held while the new mark is on its way to disk
		mark       uint64 // the highest id out of use
	}
}

// reserve takes n ids out of use and returns the first, once that is on disk.
func (i *ids) reserve(n uint64) (first uint64, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	mark := i.mu.mark + n
	if n == 0 || mark < n {
		return 0, invalid("%d ids at once", n)
	}
	if err := i.committer.commitWait(reserve{mark}); err != nil {
		return 0, err
	}
	first, i.mu.mark = i.mu.mark+1, mark
	return first, nil
}
