package frontend

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never came to be: %s", what)
		}
	}
}

// sessions returns the sessions of a front that are served now.
func (f *front) sessions() []*session {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*session
	for s := range f.mu.sessions {
		all = append(all, s)
	}
	return all
}

// reader returns the session that has a subscription of ours.
func (f *front) reader(t *testing.T) *session {
	t.Helper()
	for _, s := range f.sessions() {
		if len(s.subs.mailboxes()) > 0 {
			return s
		}
	}
	t.Fatal("nobody subscribed")
	return nil
}

func TestSlowReaderGetsTheLateCriticalNext(t *testing.T) {
	f := startFront(t, Options{Delivery: DeliverBare}, "")
	sender := connect(t, f.Addr())
	sender.create("tour")
	body := strings.Repeat("n", 10_000)
	const backlog = 2000 // 20 MB, more than the sockets take
	for range backlog {
		sender.send(pub(tour, body))
	}
	slow := connect(t, f.Addr())
	slow.send("SUB " + tour + ".* 1\r\n")
	slow.expect("MSG " + tour + " 1 …")
	s := f.reader(t)
	eventually(t, "the window is full", func() bool {
		s.box.mu.Lock()
		defer s.box.mu.Unlock()
		return s.box.window.inflight > windowBytes-20_000 && s.box.window.first() != nil
	})
	sender.send(pub(critical, "now") + "PING\r\n")
	sender.expect("PONG") // nobody waits for the slow reader
	slow.expect("…")      // the first payload
	before := 1
	for line := slow.line(); !strings.HasPrefix(line, "MSG "+critical+" "); line = slow.line() {
		slow.expect("…")
		before++
	}
	slow.expect("now")
	rest := 0
	for before+rest < backlog {
		slow.expect("MSG "+tour+" 1 …", "…")
		rest++
	}
	// What stood before it: the window, and what the two sockets' buffers took.
	if rest < backlog/4 {
		t.Fatalf("%d messages of %d came before it", before, backlog)
	}
	slow.send("PING\r\n")
	slow.expect("PONG")
	eventually(t, "nothing is in flight", func() bool {
		s.box.mu.Lock()
		defer s.box.mu.Unlock()
		return s.box.window.inflight == 0
	})
}

func TestQueueGroupInheritsWhenAConnectionEnds(t *testing.T) {
	f := startFront(t, Options{Delivery: DeliverBare}, "")
	sender := connect(t, f.Addr())
	sender.create("tour")
	first := connect(t, f.Addr())
	first.send("SUB " + tour + " q 1\r\nPING\r\n")
	first.expect("PONG")
	sender.send(pub(tour, "job"))
	first.expect("MSG …", "job")
	second := connect(t, f.Addr())
	second.send("SUB " + tour + " q 1\r\nPING\r\n")
	second.expect("PONG")
	if err := first.conn.Close(); err != nil {
		t.Fatal(err)
	}
	second.expect("MSG …", "job")

	// A member that left by UNSUB keeps what it holds until its connection ends.
	third := connect(t, f.Addr())
	third.send("SUB " + tour + " q 1\r\nPING\r\n")
	third.expect("PONG")
	second.send("UNSUB 1\r\nPING\r\n")
	second.expect("PONG")
	if err := second.conn.Close(); err != nil {
		t.Fatal(err)
	}
	third.expect("MSG …", "job")
}

func TestControlBacklogStopsReading(t *testing.T) {
	f := startFront(t, Options{}, "")
	c := connect(t, f.Addr())
	refused := strings.Repeat(pub("$mq9.foo", ""), 1000) // each makes an -ERR
	stuck := make(chan struct{})
	go func() {
		defer close(stuck)
		for range 1000 {
			if err := c.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
				return
			}
			if _, err := c.conn.Write([]byte(refused)); err != nil {
				return
			}
		}
	}()
	<-stuck
	for _, s := range f.sessions() {
		s.box.mu.Lock()
		control := s.box.control
		s.box.mu.Unlock()
		if control > maxControl+1<<20 {
			t.Errorf("%d bytes wait for a client that does not read", control)
		}
	}
}

func TestSessionsLeaveNothingBehind(t *testing.T) {
	f := startFront(t, Options{}, "")
	connect(t, f.Addr()).create("tour")
	eventually(t, "one session", func() bool { return len(f.sessions()) == 1 })
	before := runtime.NumGoroutine()
	for range 50 {
		c := connect(t, f.Addr())
		c.send("SUB " + tour + ".* 1\r\nSUB x 2\r\n" + pub(tour, "x"))
		c.expect("HMSG …")
		if err := c.conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the sessions and their goroutines ended", func() bool {
		return len(f.sessions()) == 1 && runtime.NumGoroutine() <= before+1
	})
}
