package harness

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Raw is a bare socket that speaks the protocol by hand.
type Raw struct {
	*net.TCPConn
	Infos []string // the INFO lines received so far

	r *bufio.Reader
}

// Frame is what the server sent: one verb with its arguments, and for a message its bytes. A connection that was closed is a Frame of EOF.
type Frame struct {
	Op      string
	Args    string
	Header  string // HMSG: the block from NATS/1.0 to the empty line
	Payload string
}

// EOF is the Op of the frame that stands for the end of the connection.
const EOF = "EOF"

// Ordinary is the CONNECT that clients usually send.
const Ordinary = `CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"protocol":1}` + "\r\n"

// Dial opens a socket and reads the first INFO; nothing is sent. The socket is closed when the spec ends.
func Dial(addr string) *Raw {
	GinkgoHelper()
	conn, err := net.DialTimeout("tcp", addr, requestTimeout)
	Expect(err).NotTo(HaveOccurred())
	tcp, ok := conn.(*net.TCPConn)
	Expect(ok).To(BeTrue())
	r := &Raw{TCPConn: tcp, r: bufio.NewReaderSize(tcp, 64<<10)}
	DeferCleanup(func() { r.Hangup() })
	line, err := r.line()
	Expect(err).NotTo(HaveOccurred())
	Expect(line).To(HavePrefix("INFO {"))
	r.Infos = append(r.Infos, line)
	return r
}

// Dial opens a bare socket to the broker.
func (b *Broker) Dial() *Raw {
	GinkgoHelper()
	return Dial(b.Addr)
}

// DialConnected opens a bare socket to the broker and connects with ordinary options.
func (b *Broker) DialConnected() *Raw {
	GinkgoHelper()
	r := b.Dial()
	r.Say(Ordinary)
	Expect(r.Sync()).To(BeEmpty())
	return r
}

// Hangup closes the socket; closing it twice is harmless.
func (r *Raw) Hangup() {
	GinkgoHelper()
	if err := r.Close(); !errors.Is(err, net.ErrClosed) {
		Expect(err).NotTo(HaveOccurred())
	}
}

// Say sends bytes as they are. A peer that has already closed is no failure here: what it said can still be read.
func (r *Raw) Say(text string) {
	GinkgoHelper()
	Expect(r.SetWriteDeadline(time.Now().Add(requestTimeout))).To(Succeed())
	_, err := r.Write([]byte(text))
	if gone(err) {
		return
	}
	Expect(err).NotTo(HaveOccurred())
}

// Pub sends a PUB with a payload.
func (r *Raw) Pub(subjects, payload string) {
	GinkgoHelper()
	r.Say("PUB " + subjects + " " + strconv.Itoa(len(payload)) + "\r\n" + payload + "\r\n")
}

// Next returns the next frame, waiting for it. It answers server PINGs and collects INFOs on the way.
func (r *Raw) Next() Frame {
	GinkgoHelper()
	for {
		f, err := r.read()
		if err != nil && (errors.Is(err, io.EOF) || gone(err)) {
			return Frame{Op: EOF}
		}
		Expect(err).NotTo(HaveOccurred(), "waiting for a frame")
		switch f.Op {
		case "PING":
			r.Say("PONG\r\n")
		case "INFO":
			r.Infos = append(r.Infos, f.Args)
		default:
			return f
		}
	}
}

// Until returns the frames up to the first with the given Op, which is the last of them. The end of the connection ends it too.
func (r *Raw) Until(op string) []Frame {
	GinkgoHelper()
	var frames []Frame
	for {
		f := r.Next()
		frames = append(frames, f)
		if f.Op == op || f.Op == EOF {
			return frames
		}
	}
}

// Sync sends a PING and returns the frames that came before its PONG.
func (r *Raw) Sync() []Frame {
	GinkgoHelper()
	r.Say("PING\r\n")
	frames := r.Until("PONG")
	last := len(frames) - 1
	Expect(frames[last].Op).To(Equal("PONG"), "frames: %v", frames)
	return frames[:last]
}

// Ask sends a request from an inbox of this connection and returns the payload of the reply.
func (r *Raw) Ask(subject, payload string) string {
	GinkgoHelper()
	const sid = "9999"
	r.Say("SUB _INBOX.raw.ask " + sid + "\r\n")
	r.Pub(subject+" _INBOX.raw.ask", payload)
	var reply Frame
	for reply.Args == "" || strings.Fields(reply.Args)[1] != sid {
		reply = r.Next()
		Expect(reply.Op).NotTo(Equal(EOF))
	}
	r.Say("UNSUB " + sid + "\r\n")
	return reply.Payload
}

// Silent reports whether nothing but PING and INFO arrives for a while.
func (r *Raw) Silent(d time.Duration) bool {
	GinkgoHelper()
	for {
		Expect(r.SetReadDeadline(time.Now().Add(d))).To(Succeed())
		line, err := r.r.ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return true
		}
		ordinary := strings.HasPrefix(line, "PING") || strings.HasPrefix(line, "INFO")
		if err != nil || !ordinary {
			return false
		}
	}
}

// read reads one frame of any kind.
func (r *Raw) read() (Frame, error) {
	line, err := r.line()
	if err != nil {
		return Frame{}, err
	}
	op, args, _ := strings.Cut(line, " ")
	f := Frame{Op: op, Args: args}
	if op != "MSG" && op != "HMSG" {
		return f, nil
	}
	fields := strings.Fields(args)
	total, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return f, err
	}
	body := make([]byte, total+2)
	if _, err := io.ReadFull(r.r, body); err != nil {
		return f, err
	}
	header := 0
	if op == "HMSG" {
		if header, err = strconv.Atoi(fields[len(fields)-2]); err != nil {
			return f, err
		}
	}
	f.Header, f.Payload = string(body[:header]), string(body[header:total])
	return f, nil
}

func (r *Raw) line() (string, error) {
	if err := r.SetReadDeadline(time.Now().Add(requestTimeout)); err != nil {
		return "", err
	}
	line, err := r.r.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

// gone reports whether err says that the peer has closed the connection.
func gone(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
