package frontend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func newPipe() *pipe {
	p := &pipe{}
	p.moved.L = &p.mu
	return p
}

func TestPipeKeepsBytesInOrder(t *testing.T) {
	p := newPipe()
	var sent bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&sent, "%d,", i)
	}
	sent.WriteString(strings.Repeat("x", 3*maxPipe)) // more than it holds, at one go
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		rest := sent.Bytes()
		for n := 1; len(rest) > 0; n = n*3 + 1 {
			part := rest[:min(n, len(rest))]
			if _, err := p.Write(part); err != nil {
				t.Error(err)
			}
			rest = rest[len(part):]
		}
		_ = p.Close()
	})
	got, err := io.ReadAll(p)
	if err != nil || !bytes.Equal(got, sent.Bytes()) {
		t.Fatalf("%d of %d bytes, %v", len(got), sent.Len(), err)
	}
	if p.held != nil {
		t.Error("it is empty and holds memory")
	}
}

func TestPipeThatIsBrokenOffLetsItsWriterGo(t *testing.T) {
	p := newPipe()
	refused := make(chan error, 1)
	go func() { // ends when the pipe is broken off
		for {
			if _, err := p.Write(make([]byte, 1000)); err != nil {
				refused <- err
				return
			}
		}
	}()
	p.breakOff()
	if err := <-refused; !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if n, err := p.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Error(n, err)
	}
}

// TestSlowSocketGetsWhatItDidNotTakeAtOnce fills a socket that nobody reads until the outbox has no more room.
func TestSlowSocketGetsWhatItDidNotTakeAtOnce(t *testing.T) {
	box, client := connectedOutbox(t)
	var sent bytes.Buffer
	for i := 0; ; i++ {
		c := newChunk()
		c.bytes = fmt.Appendf(c.bytes, "%d,%s", i, strings.Repeat("x", i%1000))
		sent.Write(c.bytes)
		box.pass(c)
		if box.awaitRoom(time.Unix(1, 0)) != nil {
			break
		}
	}
	if err := box.awaitRoom(time.Now().Add(time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	got := make([]byte, sent.Len())
	if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, sent.Bytes()) {
		t.Fatal("not what was passed", err)
	}
	if err := box.awaitRoom(time.Time{}); err != nil {
		t.Fatal(err)
	}
	box.finish(patience)
	<-box.ended
	if n, err := client.Read(got); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatal(n, err)
	}
}

func TestRoomIsNotAwaitedOnceTheConnectionEnds(t *testing.T) {
	box, _ := connectedOutbox(t)
	for box.awaitRoom(time.Unix(1, 0)) == nil {
		box.passCopy(make([]byte, batchBytes))
	}
	waited := make(chan error, 1)
	go func() { waited <- box.awaitRoom(time.Time{}) }() // ends with the outbox
	box.abort()
	if err := <-waited; err != nil {
		t.Error(err)
	}
	box.passCopy([]byte("dropped"))
}

// connectedOutbox is an outbox whose client is on the other end of a socket.
func connectedOutbox(t *testing.T) (*outbox, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	owned := &sync.WaitGroup{}
	box := newOutbox(nil, owned, func(time.Duration) {})
	box.connect(conn)
	t.Cleanup(func() {
		_ = client.Close()
		box.abort()
		owned.Wait()
	})
	return box, client
}
