package frontend

import (
	"net"
	"os"
	"time"
)

// connect tells the outbox whom it writes to. Nothing may be queued before it.
func (box *outbox) connect(conn net.Conn) { box.conn, box.prompt = conn, newPrompt(conn) }

// passCopy is pass for bytes that stay the caller's.
func (box *outbox) passCopy(frames []byte) {
	if len(frames) == 0 {
		return
	}
	c := newChunk()
	c.bytes = append(c.bytes, frames...)
	box.pass(c)
}

// pass takes whole frames of the embedded server, and the chunk with them. If nothing is being written, it writes in place what the socket
// takes at once: this spares the client of plain NATS a goroutine's start. It does not wait. What comes when the connection is closing is dropped.
func (box *outbox) pass(c *chunk) {
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.state != boxOpen || len(c.bytes) == 0 {
		c.put()
		return
	}
	c.upstream = len(c.bytes)
	box.upstream += c.upstream
	if box.writing || box.prompt == nil {
		box.appendLocked(c)
		return
	}
	box.promptLocked(c)
}

// writeAtOnce is write for a caller that may take the time of a system call: if nothing is being written, it writes in place what the socket takes at once.
func (box *outbox) writeAtOnce(frame []byte) {
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.state != boxOpen || box.writing || box.prompt == nil {
		box.writeLocked(frame)
		return
	}
	c := newChunk()
	c.bytes = append(c.bytes, frame...)
	c.control = len(c.bytes)
	box.control += c.control
	box.promptLocked(c)
}

// promptLocked writes what the socket takes of a chunk, which is of one kind, in the writer's place, and lets go of mu meanwhile. The rest is queued first.
func (box *outbox) promptLocked(c *chunk) {
	box.writing = true
	box.mu.Unlock()
	n, err := box.prompt.try(c.bytes)
	box.mu.Lock()
	box.writing = false
	if c.upstream > 0 {
		c.upstream -= n
		box.upstream -= n
	} else {
		c.control -= n
		box.control -= n
	}
	switch {
	case box.state == boxClosed:
	case err != nil:
		box.closeLocked()
	case n < len(c.bytes):
		c.bytes = c.bytes[:copy(c.bytes, c.bytes[n:])]
		box.queue.pushFront(item{chunk: c})
		box.startLocked()
		return
	case box.queue.last() != nil:
		box.startLocked()
	case box.state == boxFinishing:
		box.closeLocked()
	}
	c.put()
}

// appendLocked queues a chunk of the embedded server's frames, in the last chunk if there is room: clients that do not read may get
// them one by one.
func (box *outbox) appendLocked(c *chunk) {
	if l := box.openLocked(len(c.bytes)); l != nil {
		l.bytes = append(l.bytes, c.bytes...)
		l.upstream += c.upstream
		c.put()
		return
	}
	box.pushLocked(item{chunk: c})
}

// awaitRoom waits until few enough of the embedded server's bytes are queued, or the connection is closing. Its error is os.ErrDeadlineExceeded: there is no
// room at the deadline; zero is no deadline.
func (box *outbox) awaitRoom(deadline time.Time) error {
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.state != boxOpen || box.upstream < maxUpstream {
		return nil
	}
	if !deadline.IsZero() {
		alarm := time.AfterFunc(time.Until(deadline), func() {
			box.mu.Lock()
			defer box.mu.Unlock()
			box.room.Broadcast()
		})
		defer alarm.Stop()
	}
	for box.state == boxOpen && box.upstream >= maxUpstream {
		if !deadline.IsZero() && !time.Now().Before(deadline) {
			return os.ErrDeadlineExceeded
		}
		box.room.Wait()
	}
	return nil
}
