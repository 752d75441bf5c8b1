package frontend

import (
	"sync"
	"time"
)

// Bounds of a connection's mq9 operations that were read and are not completed yet. At a bound the
// session reads no more until some are: the sender feels it as back-pressure.
const (
	maxOpenOps   = 4096
	maxOpenBytes = 4 << 20
)

// barrier makes a flush mean something (protocol section 5): it withholds the PONG of each PING until
// every mq9 operation read before that PING has completed, and bounds how many may be open.
type barrier struct {
	pong  func() // queues a PONG for the client; called with mu held
	stale func() // the timeout passed; called without mu
	limit time.Duration

	mu     sync.Mutex
	room   sync.Cond // signalled when an operation ends and at close
	closed bool
	ops    int
	bytes  int
	epoch  *epoch     // of the operations read now
	sent   []sentPing // PINGs that went upstream, oldest first
	held   []*ping    // client PINGs whose PONG has not been released, oldest first
	timer  *time.Timer
}

// epoch counts the open operations that were read between two PINGs. Guarded by barrier.mu.
type epoch struct{ open int }

// ping is a client's PING. Guarded by barrier.mu.
type ping struct {
	epoch  *epoch // what was read before it (and after the PING before it)
	ponged bool   // the embedded server answered it
	at     time.Time
}

// sentPing is a PING on its way to the embedded server and back.
type sentPing struct {
	client   *ping // nil for one of our own
	connects int   // CONNECTs that went before it
}

func newBarrier(limit time.Duration, pong, stale func()) *barrier {
	b := &barrier{pong: pong, stale: stale, limit: limit, epoch: &epoch{}}
	b.room.L = &b.mu
	return b
}

// begin notes an operation of the given bytes that was just read, and waits first while too many are open. The epoch belongs to
// the matching end. It reports false when the connection is closed.
func (b *barrier) begin(bytes int) (*epoch, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.closed && (b.ops >= maxOpenOps || b.bytes >= maxOpenBytes) {
		b.room.Wait()
	}
	b.open(b.epoch, bytes)
	return b.epoch, !b.closed
}

// continued notes an operation that follows from an open one and belongs to its epoch. It does not wait.
func (b *barrier) continued(e *epoch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(e, 0)
}

func (b *barrier) open(e *epoch, bytes int) {
	e.open++
	b.ops++
	b.bytes += bytes
}

// end notes that an operation completed and that whatever it had to say to the client is queued.
func (b *barrier) end(e *epoch, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.open--
	b.ops--
	b.bytes -= bytes
	b.room.Broadcast()
	b.release()
}

// pinged notes a client's PING before it goes upstream, behind that many CONNECTs.
func (b *barrier) pinged(connects int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &ping{epoch: b.epoch, at: time.Now()}
	b.sent = append(b.sent, sentPing{p, connects})
	b.held = append(b.held, p)
	b.epoch = &epoch{}
	if b.ops > 0 && b.timer == nil && !b.closed {
		b.timer = time.AfterFunc(b.limit, b.expire)
	}
}

// probed notes a PING of our own before it goes upstream; its PONG is swallowed.
func (b *barrier) probed(connects int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, sentPing{connects: connects})
}

// ponged notes a PONG from the embedded server, and returns how many CONNECTs it has accepted thereby.
func (b *barrier) ponged() (connects int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sent) == 0 {
		return 0
	}
	p := b.sent[0]
	if b.sent = b.sent[1:]; len(b.sent) == 0 {
		b.sent = nil
	}
	if p.client != nil {
		p.client.ponged = true
		b.release()
	}
	return p.connects
}

// release lets go the PONGs that nothing holds back any more, in order. REQUIRES: mu.
func (b *barrier) release() {
	for len(b.held) > 0 && b.held[0].ponged && b.held[0].epoch.open == 0 {
		b.pong()
		b.held = b.held[1:]
	}
	if len(b.held) > 0 {
		return
	}
	b.held = nil
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// expire looks whether the oldest PONG has been withheld too long, and comes back later if it has not.
func (b *barrier) expire() {
	b.mu.Lock()
	if b.closed || b.timer == nil {
		b.mu.Unlock()
		return
	}
	b.timer = nil
	tooLong := false
	for _, p := range b.held {
		if p.epoch.open == 0 {
			continue // it waits for the embedded server, not for the store
		}
		left := b.limit - time.Since(p.at)
		if tooLong = left <= 0; !tooLong {
			b.timer = time.AfterFunc(left, b.expire)
		}
		break
	}
	b.mu.Unlock()
	if tooLong {
		b.stale()
	}
}

// idle reports whether no operation is open.
func (b *barrier) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ops == 0
}

// close ends the waiting of begin and stops the timer. Operations may still end after it.
func (b *barrier) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.room.Broadcast()
}
