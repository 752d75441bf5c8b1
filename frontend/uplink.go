package frontend

import (
	"io"
	"sync"
)

// uplink is the way to the embedded server: the client's plain bytes, and frames of our own between them. It is safe
// for concurrent use.
type uplink struct {
	conn  io.WriteCloser  // immutable once the client has been greeted; the way to the embedded server
	owner *sync.WaitGroup // immutable; counts the goroutines that the uplink starts

	turn  sync.Mutex // held while writing
	split bool       // guarded by turn: what was written last ends within a frame

	mu       sync.Mutex
	injected []byte // frames of our own that wait for the end of the client's frame
	writing  bool   // a goroutine is on its way to write them
	closed   bool
}

// write passes the client's bytes on; whole says that they end at the end of a frame. It blocks as long as the embedded server
// does not read. Only the session's reader calls it.
func (u *uplink) write(bytes []byte, whole bool) error {
	u.turn.Lock()
	defer u.turn.Unlock()
	if err := u.writeInjected(); err != nil {
		return err
	}
	u.split = !whole
	_, err := u.conn.Write(bytes)
	return err
}

// inject queues a whole frame of our own. It does not block.
func (u *uplink) inject(frame []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return
	}
	u.injected = append(u.injected, frame...)
	if u.writing {
		return
	}
	u.writing = true
	u.owner.Go(func() {
		u.turn.Lock()
		defer u.turn.Unlock()
		// An error means that the embedded server hung up: the upstream reader sees that too and ends the session.
		_ = u.writeInjected()
	})
}

// writeInjected writes the frames of our own, unless the client is within one of its frames: then its next write
// does it. REQUIRES: turn.
func (u *uplink) writeInjected() error {
	u.mu.Lock()
	if u.split {
		u.writing = false
		u.mu.Unlock()
		return nil
	}
	frames := u.injected
	u.injected, u.writing = nil, false
	u.mu.Unlock()
	if len(frames) == 0 {
		return nil
	}
	_, err := u.conn.Write(frames)
	return err
}

// hungUp runs what has to be done because the embedded server hung up, on a goroutine of its own: whoever hangs up holds locks. Once
// this side has, there is nothing left to do.
func (u *uplink) hungUp(act func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.owner.Go(act)
	}
}

// close hangs up on the embedded server. No goroutine is started after it.
func (u *uplink) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	if u.conn != nil {
		_ = u.conn.Close() // a pipe's end always closes, and nothing can be done about a connection that does not
	}
}
