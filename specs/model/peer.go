package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mq9-broker/broker/specs/harness"
)

// frame is what the broker sent: a verb, its arguments, the payload of a message, and where it began in the stream.
type frame struct {
	op      string
	args    []string
	payload []byte
	at      int64
}

// eof is the op of the frame that stands for the end of the connection.
const eof = "EOF"

// peer is one connection to the broker. Its reader goroutine ends with the connection; the runner's goroutine uses all else.
type peer struct {
	conn  *net.TCPConn
	id    uint64    // the broker's number for it
	wake  chan bool // told, if it has room, when there is something new on any connection of the runner
	world *connection
	subs  map[string]*member // by sid
	ended chan struct{}      // closed when the reader has ended

	mu      sync.Mutex
	reads   sync.Cond // signalled when stalled changes
	stalled bool      // guarded by mu
	read    int64     // bytes taken from the socket; guarded by mu
	frames  []frame   // not taken yet; guarded by mu
}

// dialTimeout bounds the opening of a connection.
const dialTimeout = 20 * time.Second

// hello is the CONNECT of every peer; its inbox is sid 0.
const hello = `CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"protocol":1}` + "\r\nSUB %s.* 0\r\n"

// dial opens a connection whose inbox is the given subject.
func dial(addr, inbox string, slow bool, wake chan bool) (*peer, error) {
	d := net.Dialer{Timeout: dialTimeout}
	if slow {
		d.Control = harness.Small
	}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &peer{
		conn: conn.(*net.TCPConn), wake: wake, world: &connection{end: -1}, subs: map[string]*member{}, ended: make(chan struct{}),
	}
	p.reads.L = &p.mu
	go p.receive()
	info, err := p.await("INFO", dialTimeout)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	var hi struct {
		ClientID uint64 `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(strings.Join(info[len(info)-1].args, " ")), &hi); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	p.id = hi.ClientID
	return p, p.say(fmt.Sprintf(hello, inbox))
}

// say sends bytes.
func (p *peer) say(text string) error {
	if err := p.conn.SetWriteDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	_, err := p.conn.Write([]byte(text))
	return err
}

// Read takes bytes from the socket unless the connection is to stand still. It is the reader goroutine's.
func (p *peer) Read(b []byte) (int, error) {
	p.mu.Lock()
	for p.stalled {
		p.reads.Wait()
	}
	p.mu.Unlock()
	n, err := p.conn.Read(b)
	p.mu.Lock()
	p.read += int64(n)
	p.mu.Unlock()
	return n, err
}

// stall makes the connection stand still, or read again. It returns how many bytes were taken from the socket.
func (p *peer) stall(still bool) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = still
	p.reads.Broadcast()
	return p.read
}

// receive is the reader goroutine.
func (p *peer) receive() {
	defer close(p.ended)
	in := bufio.NewReaderSize(p, 16<<10)
	var at int64
	for {
		f, n, err := readFrame(in)
		f.at = at
		at += n
		if err != nil {
			f = frame{op: eof, args: []string{err.Error()}}
		}
		p.mu.Lock()
		p.frames = append(p.frames, f)
		p.mu.Unlock()
		select {
		case p.wake <- true:
		default: // it is awake
		}
		if err != nil {
			return
		}
	}
}

// readFrame reads one frame and says how long it was.
func readFrame(in *bufio.Reader) (frame, int64, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return frame{}, 0, err
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return frame{}, 0, errors.New("an empty line")
	}
	f, n := frame{op: fields[0], args: fields[1:]}, int64(len(line))
	if f.op != "MSG" && f.op != "HMSG" {
		return f, n, nil
	}
	total, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return f, n, err
	}
	header := 0
	if f.op == "HMSG" {
		if header, err = strconv.Atoi(fields[len(fields)-2]); err != nil {
			return f, n, err
		}
	}
	body := make([]byte, total+2)
	if _, err := io.ReadFull(in, body); err != nil {
		return f, n, err
	}
	f.payload = body[header:total]
	return f, n + int64(len(body)), nil
}

// take returns the frames that came since it was last called.
func (p *peer) take() []frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	frames := p.frames
	p.frames = nil
	return frames
}

// await returns the frames up to the first with the given op; those behind it are left.
func (p *peer) await(op string, patience time.Duration) ([]frame, error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	var got []frame
	for {
		frames := p.take()
		for i, f := range frames {
			got = append(got, f)
			if f.op != op && f.op != eof {
				continue
			}
			p.mu.Lock()
			p.frames = append(frames[i+1:], p.frames...)
			p.mu.Unlock()
			if f.op == eof && op != eof {
				return got, fmt.Errorf("the broker cut the connection: %v", f.args)
			}
			return got, nil
		}
		select {
		case <-p.wake:
		case <-deadline.C:
			return got, fmt.Errorf("no %s within %v", op, patience)
		}
	}
}

// hangUp closes the connection and waits for its reader. It may be called twice.
func (p *peer) hangUp() error {
	p.stall(false)
	err := p.conn.Close()
	<-p.ended
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
