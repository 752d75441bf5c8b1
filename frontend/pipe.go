package frontend

import (
	"io"
	"sync"
)

// maxPipe bounds the bytes that wait in a pipe, about.
const maxPipe = 64 << 10

// pipe carries a client's plain bytes to the embedded server's read loop. Other than net.Pipe it holds some, so that the writer does not
// wait for the reader, and nothing while it is empty. One goroutine writes at a time, and one reads; all methods are safe beside each other.
type pipe struct {
	mu     sync.Mutex
	moved  sync.Cond // signalled when bytes were written or read, and at the end
	held   *chunk    // nil = none
	read   int       // bytes of held that were read
	ended  bool      // nothing is written any more
	broken bool      // nothing is read any more
}

// Write implements io.Writer. It waits for room.
func (p *pipe) Write(bytes []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended && !p.broken && p.held != nil && len(p.held.bytes)+len(bytes) > maxPipe {
		p.moved.Wait()
	}
	if p.ended || p.broken {
		return 0, io.ErrClosedPipe
	}
	if p.held == nil {
		p.held = newChunk()
	}
	p.held.bytes = append(p.held.bytes, bytes...)
	p.moved.Signal()
	return len(bytes), nil
}

// Read implements io.Reader. It waits for bytes.
func (p *pipe) Read(into []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.held == nil && !p.ended && !p.broken {
		p.moved.Wait()
	}
	if p.held == nil || p.broken {
		return 0, io.EOF
	}
	n := copy(into, p.held.bytes[p.read:])
	if p.read += n; p.read == len(p.held.bytes) {
		p.held.put()
		p.held, p.read = nil, 0
		p.moved.Signal()
	}
	return n, nil
}

// Close ends the writing: the reader gets what is held, and then io.EOF. It never fails.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.moved.Broadcast()
	return nil
}

// breakOff ends both: nobody reads what is held.
func (p *pipe) breakOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = true
	if p.held != nil {
		p.held.put()
		p.held, p.read = nil, 0
	}
	p.moved.Broadcast()
}
