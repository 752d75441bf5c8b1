package client

import (
	"slices"
	"sync"

	"github.com/mq9-broker/broker/mq9"
)

// inbox holds the messages of a watch that have come and wait for their turn, the most pressing first, and tells those that
// come again after a reconnect from new ones. Its methods may be called from any goroutine.
//
// The broker replays from the oldest when a subscription is made again (protocol section 6). For an independent subscription,
// what is not above the highest id accepted at its priority has been here: ids grow within a priority, while the priorities
// interleave. In a queue group, what comes is this member's to do whatever came before; only what is still here is not taken twice.
type inbox struct {
	group bool          // immutable
	wake  chan struct{} // holds a token when there may be something to take

	mu      sync.Mutex
	waiting [mq9.Priorities][]*message // guarded by mu
	highest [mq9.Priorities]mq9.MsgID  // of what was accepted; guarded by mu
	here    map[mq9.MsgID]struct{}     // waiting or in work; guarded by mu
	undone  map[mq9.MsgID]struct{}     // dealt with, but not known to be deleted; guarded by mu
	left    int                        // messages that may still be taken, negative for no limit; guarded by mu
}

// verdict is what became of a message that was put into an inbox.
type verdict uint8

const (
	accepted verdict = iota // it waits for its turn
	present                 // it is here already, waiting or in work
	passed                  // it was here and has been dealt with
	undone                  // the same, and it was to be deleted then
)

// newInbox makes an inbox that gives out count messages, or for count 0 any number.
func newInbox(group bool, count int) *inbox {
	if count == 0 {
		count = -1
	}
	return &inbox{group: group, wake: make(chan struct{}, 1), here: map[mq9.MsgID]struct{}{}, undone: map[mq9.MsgID]struct{}{}, left: count}
}

// put takes in a message that has come.
func (b *inbox) put(m *message) verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, is := b.here[m.id]; is {
		return present
	}
	if _, is := b.undone[m.id]; is {
		return undone
	}
	if !b.group && m.id <= b.highest[m.priority] {
		return passed
	}
	b.highest[m.priority] = max(b.highest[m.priority], m.id)
	b.here[m.id] = struct{}{}
	b.waiting[m.priority] = append(b.waiting[m.priority], m)
	b.signal()
	return accepted
}

// next waits for a message and takes it; the caller says finish of it later. It reports false when all that were to be taken have
// been, or stop is closed.
func (b *inbox) next(stop <-chan struct{}) (*message, bool) {
	for {
		select {
		case <-stop:
			return nil, false
		default:
		}
		if m, over := b.take(); m != nil || over {
			return m, m != nil
		}
		select {
		case <-b.wake:
		case <-stop:
			return nil, false
		}
	}
}

// take takes the most pressing message, if there is one. over says that there will be none.
func (b *inbox) take() (m *message, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left == 0 {
		b.signal() // whoever waits beside the caller has to know, too
		return nil, true
	}
	for p, queue := range b.waiting {
		if len(queue) == 0 {
			continue
		}
		m, queue[0] = queue[0], nil
		b.waiting[p] = queue[1:]
		b.left = max(b.left-1, -1)
		b.signal() // there may be more
		return m, false
	}
	return nil, false
}

// empty reports whether nothing waits.
func (b *inbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !slices.ContainsFunc(b.waiting[:], func(queue []*message) bool { return len(queue) > 0 })
}

// finish says that a message that was taken has been dealt with.
func (b *inbox) finish(id mq9.MsgID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.here, id)
}

// remember says that a message has been dealt with and was to be deleted, which nobody has confirmed: when it comes again,
// that is all there is to do.
func (b *inbox) remember(id mq9.MsgID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.undone[id] = struct{}{}
}

// forget drops what waits, for a member of a group whose connection is lost: the broker hands it to others, or once more to this one.
func (b *inbox) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p, queue := range b.waiting {
		for _, m := range queue {
			delete(b.here, m.id)
		}
		b.waiting[p] = nil
	}
}

// signal is called with mu held, though it needs no lock: the channel's one place makes it a flag.
func (b *inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
