package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"time"
)

// wire is a bare NATS connection: it costs this process little, so that thousands fit beside the broker.
type wire struct {
	net.Conn
	out *bufio.Writer
	in  *bufio.Reader
}

// ioLimit bounds every wait for the broker.
const ioLimit = 2 * time.Minute

func dial(addr string) (*wire, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	w := &wire{conn, bufio.NewWriterSize(conn, 4<<10), bufio.NewReaderSize(conn, 4<<10)}
	w.say("CONNECT {\"verbose\":false,\"protocol\":1,\"headers\":true,\"no_responders\":true}\r\n")
	return w, w.flush()
}

// say queues frames; an error shows at the next flush.
func (w *wire) say(format string, args ...any) { fmt.Fprintf(w.out, format, args...) }

func (w *wire) publish(subject, payload string) {
	w.say("PUB %s %d\r\n%s\r\n", subject, len(payload), payload)
}

// flush waits for the PONG behind everything said.
func (w *wire) flush() error {
	w.say("PING\r\n")
	if err := w.out.Flush(); err != nil {
		return err
	}
	return w.until(func(line []byte) bool { return bytes.Equal(line, []byte("PONG\r\n")) })
}

// until reads lines until one is the last. An -ERR is an error.
func (w *wire) until(last func(line []byte) bool) error {
	if err := w.SetReadDeadline(time.Now().Add(ioLimit)); err != nil {
		return err
	}
	for {
		line, err := w.in.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(line, []byte("-ERR")):
			return fmt.Errorf("the broker says %q", line)
		case last(line):
			return nil
		}
	}
}
