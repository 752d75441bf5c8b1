package frontend

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

func TestReplyIsWrittenInPlaceWhereNobodyWrites(t *testing.T) {
	box, client := connectedOutbox(t)
	owner := box.owner
	box.owner = nil // a writer goroutine cannot be started
	box.writeAtOnce([]byte("here"))
	box.owner = owner
	if box.control != 0 || box.writing || box.queue.last() != nil {
		t.Error(box.control, box.writing, box.queue.last())
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(client, got); err != nil || string(got) != "here" {
		t.Errorf("%q, %v", got, err)
	}

	box.prompt = nil // as with TLS
	box.writeAtOnce([]byte("then"))
	if _, err := io.ReadFull(client, got); err != nil || string(got) != "then" {
		t.Errorf("%q, %v", got, err)
	}
	box.abort()
	box.writeAtOnce([]byte("late"))
	if n, err := client.Read(got); n != 0 {
		t.Error(n, err)
	}
}

// TestRepliesToASlowSocketStandInLine fills a socket that nobody reads with all kinds of frames, until there is no room for control frames.
func TestRepliesToASlowSocketStandInLine(t *testing.T) {
	box, client := connectedOutbox(t)
	backlog := func() int {
		box.mu.Lock()
		defer box.mu.Unlock()
		return box.control
	}
	var sent bytes.Buffer
	for i := 0; backlog() <= maxControl; i++ {
		frame := fmt.Appendf(nil, "%d,%s", i, strings.Repeat("x", i%1000))
		sent.Write(frame)
		switch i % 3 {
		case 0:
			box.writeAtOnce(frame)
		case 1:
			box.passCopy(frame)
		default:
			box.write(frame)
		}
	}
	waited := make(chan bool, 1)
	go func() { waited <- box.awaitControl() }() // ends when there is room
	got := make([]byte, sent.Len())
	if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, sent.Bytes()) {
		t.Fatal("not what was written", err)
	}
	if !<-waited {
		t.Error("the connection ended")
	}
	eventually(t, "nothing counts as queued any more", func() bool {
		box.mu.Lock()
		defer box.mu.Unlock()
		return box.control == 0 && box.upstream == 0
	})
}

// TestALoneSenderThatDoesNotReadGetsAllRepliesInOrder sends one durable message at a time, as the last one was stored, and reads no reply
// until they pile up here.
func TestALoneSenderThatDoesNotReadGetsAllRepliesInOrder(t *testing.T) {
	f := startFront(t, Options{}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	inbox := "_IN." + strings.Repeat("x", 3000) // long, so that few fill the socket
	c.send("SUB " + inbox + " 7\r\nPING\r\n")
	c.expect("PONG")
	session := f.sessions()[0]
	backlog := func() int {
		session.box.mu.Lock()
		defer session.box.mu.Unlock()
		return session.box.control
	}
	sends := 0
	for ; backlog() < 10*len(inbox); sends++ {
		c.send("PUB " + critical + " " + inbox + " 1\r\nx\r\n")
		eventually(t, "it is stored", func() bool {
			return f.broker.Stats().ByPriority[mq9.Critical].Published.Messages == int64(sends+1)
		})
	}
	last := ""
	for range sends {
		frame := c.line()
		if frame == "PING" { // of nats-server, which greets so when a connection has lasted for two seconds
			frame = c.line()
		}
		if frame != "MSG "+inbox+" 7 26" {
			t.Fatalf("got %q", frame)
		}
		id := c.line()
		if !strings.HasPrefix(id, `{"msg_id":"`) || id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
	eventually(t, "nothing counts as queued any more", func() bool { return backlog() == 0 })
}
