package pressure_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// stream is a bare socket that is read fast, or not at all. One goroutine at a time uses it.
type stream struct {
	conn *net.TCPConn
	in   *bufio.Reader
	at   int64 // bytes of the frames returned so far
	line []byte
	body []byte
}

// frame is what the server sent. Its slices are good until the next one is read.
type frame struct {
	op      string // MSG for a delivery with headers or without
	subject []byte
	sid     []byte
	reply   []byte
	payload []byte
	at      int64 // where it begins in the stream
}

// name is what a payload begins with.
func (f frame) name() string {
	name, _, _ := bytes.Cut(f.payload, []byte("|"))
	return string(name)
}

// patience is how long a stream waits for a frame.
const patience = 60 * time.Second

// open connects. A small one has little room in the kernels' buffers.
func open(addr string, small bool) *stream {
	GinkgoHelper()
	s, err := dial(addr, small)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = s.conn.Close() }) // the spec may have closed it
	return s
}

// dial connects, for use on any goroutine.
func dial(addr string, small bool) (*stream, error) {
	d := net.Dialer{Timeout: patience}
	if small {
		d.Control = harness.Small
	}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &stream{conn: conn.(*net.TCPConn), in: bufio.NewReaderSize(conn, 16<<10)}
	return s, s.sync(harness.Ordinary)
}

// say sends bytes.
func (s *stream) say(format string, args ...any) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.conn, format, args...)
	return err
}

// sync sends something, and a PING, and reads up to its PONG; deliveries on the way are an error.
func (s *stream) sync(text string) error {
	if err := s.say("%sPING\r\n", text); err != nil {
		return err
	}
	for {
		switch f, err := s.next(); {
		case err != nil:
			return err
		case f.op == "PONG":
			return nil
		case f.op == "MSG":
			return errors.New("a delivery came too early")
		}
	}
}

// next returns the next frame but INFO and PING, which it answers. A refusal is an error, and so is the end of the connection.
func (s *stream) next() (frame, error) {
	if s.in.Buffered() == 0 {
		if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return frame{}, err
		}
	}
	f := frame{at: s.at}
	line, err := s.in.ReadSlice('\n')
	for s.line = s.line[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = s.in.ReadSlice('\n') {
		s.line = append(s.line, line...)
	}
	s.line = append(s.line, line...)
	s.at += int64(len(s.line))
	if err != nil {
		return f, err
	}
	verb, rest, _ := bytes.Cut(bytes.TrimRight(s.line, "\r\n"), []byte(" "))
	switch string(verb) {
	case "PING":
		if err := s.say("PONG\r\n"); err != nil {
			return f, err
		}
		return s.next()
	case "INFO":
		return s.next()
	case "-ERR":
		return f, fmt.Errorf("the broker said %s", s.line)
	case "MSG", "HMSG":
		f.op = "MSG"
		return f, s.message(&f, rest, verb[0] == 'H')
	}
	f.op = string(verb)
	return f, nil
}

// message reads what belongs to MSG and HMSG: subject sid reply [header length] length.
func (s *stream) message(f *frame, rest []byte, headers bool) error {
	f.subject, rest, _ = bytes.Cut(rest, []byte(" "))
	f.sid, rest, _ = bytes.Cut(rest, []byte(" "))
	fields := bytes.Fields(rest)
	numbers := 1
	if headers {
		numbers = 2
	}
	if len(fields) > numbers {
		f.reply, fields = fields[0], fields[1:]
	}
	total, header := number(fields[len(fields)-1]), 0
	if headers {
		header = number(fields[0])
	}
	if total+2 > cap(s.body) {
		s.body = make([]byte, total+2)
	}
	body := s.body[:total+2]
	if _, err := io.ReadFull(s.in, body); err != nil {
		return err
	}
	s.at += int64(len(body))
	f.payload = body[header:total]
	return nil
}

func number(digits []byte) (n int) {
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n
}

// held is how many bytes the broker has written that the stream has not returned yet.
func (s *stream) held() int64 {
	GinkgoHelper()
	n, err := harness.InKernel(s.conn.LocalAddr(), s.conn.RemoteAddr())
	Expect(err).NotTo(HaveOccurred())
	return n + int64(s.in.Buffered())
}

// full waits until the broker has written to the stream, which is not read, all that the kernels take.
func (s *stream) full() {
	GinkgoHelper()
	var before int64
	Eventually(func() bool {
		now := s.held()
		same := now == before && now > 32<<10
		before = now
		return same
	}).WithPolling(100 * time.Millisecond).Should(BeTrue())
}

// publish sends messages to a mailbox and waits until they are stored. What follows MSG. and the payload are asked for each.
func publish(c *harness.Client, n int, message func(i int) (to, payload string)) {
	GinkgoHelper()
	for i := range n {
		to, payload := message(i)
		Expect(c.Conn.Publish(harness.Send+to, []byte(payload))).To(Succeed())
	}
	Expect(c.FlushTimeout(2 * patience)).To(Succeed())
}
