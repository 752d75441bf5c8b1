package frontend

import (
	"errors"
	"net"
	"syscall"
)

// prompt writes to a client's socket what the socket takes at once, and never waits. It is not safe for concurrent use.
type prompt struct {
	raw   syscall.RawConn
	write func(fd uintptr) bool // once; kept, because making it anew allocates

	bytes []byte // what write is to write
	n     int    // how much it wrote
	err   error  // why not more
}

// newPrompt returns nil if conn is no bare socket: TLS and WebSockets cannot stop in the middle.
func newPrompt(conn net.Conn) *prompt {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	p := &prompt{raw: raw}
	p.write = func(fd uintptr) bool {
		p.n, p.err = syscall.Write(int(fd), p.bytes)
		return true
	}
	return p
}

// try writes the beginning of bytes, and returns how much that was. That the socket takes no more is no error.
func (p *prompt) try(bytes []byte) (int, error) {
	p.bytes = bytes
	err := p.raw.Write(p.write)
	n := max(p.n, 0)
	if err == nil && !errors.Is(p.err, syscall.EAGAIN) && !errors.Is(p.err, syscall.EINTR) {
		err = p.err
	}
	p.bytes, p.n, p.err = nil, 0, nil
	return n, err
}
