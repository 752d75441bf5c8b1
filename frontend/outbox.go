package frontend

import (
	"net"
	"sync"
	"time"

	"github.com/mq9-broker/broker/frontend/tracing"
)

const (
	// maxUpstream bounds the bytes of the embedded server that wait for the client. Beyond it the front reads no more of
	// them, and nats-server's rules for slow consumers do their work.
	maxUpstream = 1 << 20

	// maxControl bounds the replies, refusals and PONGs that wait. Beyond it the session reads no more from its client.
	maxControl = 1 << 20

	// batchBytes is about how much is written at a time.
	batchBytes = 64 << 10
)

// boxState is how far an outbox's life has gone.
type boxState uint8

const (
	boxOpen      boxState = iota
	boxFinishing          // nothing is taken any more; what is queued is written, then the connection is closed
	boxClosed             // nothing is written any more
)

// outbox is the one place that writes to a client. What is queued goes out in order; a writer goroutine lives while there is
// anything. All methods are safe for concurrent use and only upstream and awaitControl block.
type outbox struct {
	conn   net.Conn            // immutable once connected; closed by the outbox
	prompt *prompt             // of conn, if it has one; used by whoever set writing
	owner  *sync.WaitGroup     // immutable; counts the writer
	ended  chan struct{}       // closed when the connection is
	lag    func(time.Duration) // immutable; told how late the oldest delivery of each write was
	tracer *tracing.Tracer     // immutable; nil = deliveries are not traced

	mu       sync.Mutex
	room     sync.Cond // signalled when bytes were written and at the end
	state    boxState
	writing  bool // a writer goroutine is alive, or somebody writes in its place
	queue    itemQueue
	window   window
	upstream int // bytes of the embedded server, queued or being written
	control  int // bytes of control frames, queued or being written

	delivered delivered // written so far
	began     time.Time // when the writer was given what it is writing
}

func newOutbox(conn net.Conn, owner *sync.WaitGroup, lag func(time.Duration)) *outbox {
	box := &outbox{conn: conn, owner: owner, lag: lag, ended: make(chan struct{})}
	box.room.L = &box.mu
	return box
}

// write queues a control frame. It is dropped when the connection is closing.
func (box *outbox) write(frame []byte) {
	box.mu.Lock()
	defer box.mu.Unlock()
	box.writeLocked(frame)
}

func (box *outbox) writeLocked(frame []byte) {
	if box.state != boxOpen {
		return
	}
	box.control += len(frame)
	c := box.chunkLocked(len(frame))
	c.control += len(frame)
	c.bytes = append(c.bytes, frame...)
}

// awaitControl waits until few enough control frames are queued. It reports false when the connection is closing.
func (box *outbox) awaitControl() bool {
	box.mu.Lock()
	defer box.mu.Unlock()
	for box.state == boxOpen && box.control > maxControl {
		box.room.Wait()
	}
	return box.state == boxOpen
}

// finish writes what is queued, for at most the given time, and then closes the connection.
func (box *outbox) finish(limit time.Duration) {
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.state != boxOpen {
		return
	}
	box.state = boxFinishing
	box.room.Broadcast()
	if err := box.conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		box.closeLocked()
		return
	}
	box.startLocked()
}

// abort closes the connection at once.
func (box *outbox) abort() {
	box.mu.Lock()
	defer box.mu.Unlock()
	box.closeLocked()
}

func (box *outbox) closeLocked() {
	if box.state == boxClosed {
		return
	}
	box.state = boxClosed
	close(box.ended)
	box.queue.drop()
	_ = box.conn.Close() // nothing can be done about a connection that does not close
	box.room.Broadcast()
}

// pushLocked queues an item.
func (box *outbox) pushLocked(it item) {
	box.queue.push(it)
	box.startLocked()
}

// openLocked returns the last chunk if that is at the end and n bytes can be appended to it.
func (box *outbox) openLocked(n int) *chunk {
	if last := box.queue.last(); last != nil && last.chunk != nil && last.out == nil && len(last.chunk.bytes)+n <= batchBytes {
		return last.chunk
	}
	return nil
}

// chunkLocked returns the chunk that the next n bytes are appended to.
func (box *outbox) chunkLocked(n int) *chunk {
	if c := box.openLocked(n); c != nil {
		return c
	}
	c := newChunk()
	box.pushLocked(item{chunk: c})
	return c
}

func (box *outbox) startLocked() {
	if !box.writing {
		box.writing = true
		box.owner.Go(box.drain)
	}
}

// drain is the writer goroutine.
func (box *outbox) drain() {
	w := takeWriter()
	defer w.put()
	for box.next(w) {
		if err := w.flush(box.conn); err != nil {
			box.abort()
		} else if box.tracer != nil && w.owed != 0 {
			w.trace(box.tracer)
		}
	}
}

// next settles what the writer wrote and gives it the next batch. It reports false when there is none; the writer is no more then.
func (box *outbox) next(w *writer) bool {
	box.mu.Lock()
	box.upstream -= w.upstream
	box.control -= w.control
	box.window.free(w.cost)
	box.began = time.Now()
	box.settleLocked(w)
	if w.upstream+w.control > 0 {
		box.room.Broadcast()
	}
	w.reset()
	for w.size < batchBytes {
		it, ok := box.queue.pop()
		if !ok {
			break
		}
		if it.out != nil && it.out.surplus() {
			box.window.free(it.cost)
		} else {
			w.take(it)
		}
	}
	more := len(w.batch) > 0
	if !more {
		box.writing = false
		if box.state == boxFinishing {
			box.closeLocked()
		}
	}
	woken := box.window.wake()
	box.mu.Unlock()
	resume(woken)
	return more
}

// settleLocked counts what the writer wrote.
func (box *outbox) settleLocked(w *writer) {
	if w.owed == 0 || box.state == boxClosed {
		return
	}
	box.delivered.add(w.delivered)
	box.lag(time.Duration(box.began.UnixNano() - w.owed))
}
