package frontend

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/nats-io/nats-server/v2/server"
)

// createClientInProcess makes the embedded server serve a connection. Its own InProcessConn does the same with one end of a net.Pipe, which
// costs two goroutine switches for each 512 bytes that a subscriber gets; there is no exported way to bring another connection.
// If a release of nats-server renames it the broker does not link; that its parameters are these, each test of this package shows.
//
//go:linkname createClientInProcess github.com/nats-io/nats-server/v2/server.(*Server).createClientInProcess
func createClientInProcess(s *server.Server, conn net.Conn) *struct{}

// splice is a client's connection to the embedded server, inside the process: the embedded server has it for the client's socket. It reads from
// it the plain bytes that the session's reader put in; what it writes goes to the outbox on the embedded server's own goroutine, as soon as it
// has written all that it has. All methods are safe for concurrent use.
type splice struct {
	session *session // immutable
	up      pipe     // what the embedded server is to read

	mu       sync.Mutex
	deadline time.Time // of Write; zero = none
	held     *chunk    // what was written and is not passed on yet; nil = nothing
	want     int       // bytes that held needs before there is something to pass on, if known
	open     bool      // the client has been greeted: what is held may be passed on
	closed   bool      // by the embedded server
}

var (
	_ net.Conn = (*splice)(nil)
	_ way      = (*splice)(nil)
)

func newSplice(s *session) *splice {
	c := &splice{session: s}
	c.up.moved.L = &c.up.mu
	s.up.conn = &c.up
	return c
}

// hello implements way.
func (c *splice) hello() ([]byte, error) {
	createClientInProcess(c.session.server.nats.server, c)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return nil, errors.New("no INFO of the embedded server")
	}
	frame, err := nextFrame(c.held.bytes)
	if err != nil {
		return nil, err
	}
	if frame.kind != frameInfo {
		return nil, errFrame
	}
	info, err := c.session.inform(frame.arg)
	c.held.bytes = slices.Delete(c.held.bytes, 0, frame.size)
	return info, err
}

// enter implements way.
func (c *splice) enter(context.Context) error {
	c.mu.Lock()
	c.open = true
	c.passLocked()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		c.session.up.hungUp(c.session.hungUp)
	}
	return nil
}

// Read implements net.Conn.
func (c *splice) Read(into []byte) (int, error) { return c.up.Read(into) }

// Write implements net.Conn. What it gets it keeps, but it waits for room before it returns, until the deadline: the embedded
// server's rules for slow consumers go by that.
func (c *splice) Write(bytes []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	if c.held == nil {
		c.held = newChunk()
	}
	c.held.bytes = append(c.held.bytes, bytes...)
	if len(c.held.bytes) < max(batchBytes, c.want) {
		return len(bytes), nil
	}
	c.passLocked()
	deadline := c.deadline
	c.mu.Unlock()
	err := c.session.box.awaitRoom(deadline)
	c.mu.Lock()
	return len(bytes), err
}

// SetWriteDeadline implements net.Conn. The embedded server sets a deadline before it writes what it has, and takes it away
// behind the last of it, which is when all of that is passed on together.
func (c *splice) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deadline = t; t.IsZero() {
		c.passLocked()
	}
	return nil
}

// passLocked passes on the whole frames of what is held.
func (c *splice) passLocked() {
	if !c.open || c.held == nil {
		return
	}
	held := c.held
	c.held = nil
	from, to, want, err := c.session.forward(held.bytes)
	if err != nil {
		c.session.server.log.Error("reading from the embedded server", "error", err)
		held.put()
		c.closeLocked()
		return
	}
	if c.want = want; to < len(held.bytes) {
		c.held = newChunk()
		c.held.bytes = append(slices.Grow(c.held.bytes, want), held.bytes[to:]...)
	}
	held.bytes = held.bytes[:copy(held.bytes, held.bytes[from:to])]
	c.session.box.pass(held)
}

// Close implements net.Conn: the embedded server hangs up.
func (c *splice) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeLocked()
	return nil
}

func (c *splice) closeLocked() {
	if c.closed {
		return
	}
	c.closed = true
	c.up.breakOff()
	if c.open {
		c.session.up.hungUp(c.session.hungUp)
	}
}

// RemoteAddr implements net.Conn: by it the embedded server knows the client.
func (c *splice) RemoteAddr() net.Addr { return c.session.raw.RemoteAddr() }

// LocalAddr implements net.Conn.
func (c *splice) LocalAddr() net.Addr { return c.session.raw.LocalAddr() }

// SetReadDeadline implements net.Conn. The embedded server has a use for it in its TLS and its PROXY protocol alone, of which there is none here.
func (c *splice) SetReadDeadline(time.Time) error { return errors.ErrUnsupported }

// SetDeadline implements net.Conn.
func (c *splice) SetDeadline(time.Time) error { return errors.ErrUnsupported }
