package frontend

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

// patience bounds what must happen soon.
const patience = 10 * time.Second

// slowStore is a real store whose commits can be held back.
type slowStore struct {
	*persistence.Memory
	mu   sync.Mutex
	held []func() // commits that wait; nil while nothing is held back
	hold bool
}

// Commit implements actors.Store.
func (s *slowStore) Commit(c mq9.Change, done func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold {
		s.held = append(s.held, func() { s.Memory.Commit(c, done) })
		return
	}
	s.Memory.Commit(c, done)
}

func (s *slowStore) pause() { s.mu.Lock(); defer s.mu.Unlock(); s.hold = true }

func (s *slowStore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = false
	for _, commit := range s.held {
		commit()
	}
	s.held = nil
}

// front is a running front over a broker of its own.
type front struct {
	*Server
	store *slowStore
	stop  func() error // Shutdown, at most once
}

// startFront runs a front until the test ends. nats is the embedded server's configuration, or empty.
func startFront(t testing.TB, o Options, nats string) *front {
	t.Helper()
	o.Listen, o.HTTP = "127.0.0.1:0", "127.0.0.1:0"
	o.Log = slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if nats != "" {
		o.NATSConfig = filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(o.NATSConfig, []byte(nats), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := &slowStore{Memory: persistence.NewMemory()}
	broker, err := actors.Start(store, actors.Config{Log: o.Log})
	if err != nil {
		t.Fatal(err)
	}
	server := New(o, broker)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	f := &front{server, store, sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return server.Shutdown(ctx)
	})}
	t.Cleanup(func() {
		store.release()
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		broker.Stop()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// raw is a client that speaks the protocol by hand.
type raw struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// dial connects and reads INFO.
func dial(t testing.TB, addr net.Addr) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &raw{t, conn, bufio.NewReader(conn)}
	if info := c.line(); !strings.HasPrefix(info, "INFO {") {
		t.Fatalf("got %q instead of INFO", info)
	}
	return c
}

// connect dials and sends a quiet CONNECT with headers.
func connect(t testing.TB, addr net.Addr) *raw {
	t.Helper()
	c := dial(t, addr)
	c.send("CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true}\r\nPING\r\n")
	c.expect("PONG")
	return c
}

func (c *raw) send(text string) {
	c.t.Helper()
	if err := c.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.t.Fatal(err)
	}
}

// line reads a line, without its end. A closed connection reads as "EOF".
func (c *raw) line() string {
	c.t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.t.Fatalf("nothing came; so far %q", line)
		}
		return line + "EOF"
	}
	return strings.TrimSuffix(line, "\r\n")
}

// expect reads lines and compares each; a trailing … stands for anything.
func (c *raw) expect(lines ...string) {
	c.t.Helper()
	for _, want := range lines {
		got := c.line()
		if prefix, open := strings.CutSuffix(want, "…"); open && strings.HasPrefix(got, prefix) {
			continue
		}
		if got != want {
			c.t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// request sends a request on inbox sid 99 and returns the body of its reply.
func (c *raw) request(subject, body string) string {
	c.t.Helper()
	c.send("SUB _IN.x 99\r\nUNSUB 99 1\r\nPUB " + subject + " _IN.x " + itoa(len(body)) + "\r\n" + body + "\r\n")
	c.expect("MSG _IN.x 99 …")
	return c.line()
}

func (c *raw) create(name string) {
	c.t.Helper()
	if reply := c.request(mq9.SubjectCreate, `{"public":true,"name":"`+name+`"}`); !strings.Contains(reply, `"is_new":true`) {
		c.t.Fatalf("creating %s: %s", name, reply)
	}
}
