package frontend

import (
	"bytes"

	"github.com/mq9-broker/broker/mq9"
)

// event says what the parser found at the head of the client's bytes.
type event uint8

const (
	evMore      event = iota // too few bytes to tell: read more
	evPass                   // bytes of a plain frame: pass them on
	evSwallow                // bytes of an mq9 frame that is not complete yet, or is being skipped
	evConnect                // a CONNECT line; parser.arg holds its JSON
	evPing                   // the end of a PING line
	evSub                    // a SUB line; parser.sub
	evUnsub                  // an UNSUB line; parser.sub
	evMessage                // a whole mq9 publish; parser.pub
	evTooLarge               // an mq9 publish over max_payload; parser.pub without a body. Its bytes are skipped.
	evMalformed              // nats-server will refuse this: pass on verbatim and stop reading
	evPoison                 // as evMalformed, but the bytes must not reach the embedded server
)

// poison is what the embedded server is given in place of bytes that it must not see; it answers
// with `-ERR 'Unknown Protocol Operation'` and closes.
var poison = []byte("\x00")

type mode uint8

const (
	modeLine mode = iota // at a control line
	modeJunk             // behind PING, PONG or +OK: nats-server ignores what stands there
	modePass             // in the payload of a plain publish
	modeTake             // in the payload of an mq9 publish
	modeSkip             // in the payload of an mq9 publish that is too large
)

// subLine is a SUB or UNSUB line. Its slices are valid until the next call of parser.next.
type subLine struct {
	subject, queue, sid []byte
	max                 int // UNSUB: deliveries after which it ends; below 1 = at once
}

// publish is a PUB or HPUB on an mq9 subject. The body is its own; nothing in it is ever reused.
type publish struct {
	subject, reply string
	header         int // bytes of body that are the header block; -1 without one (PUB)
	body           []byte
}

// parser cuts a client's byte stream into frames. It accepts exactly what nats-server accepts, however the
// stream was split, so that both agree about where frames begin: otherwise a `$mq9.` frame could slip through inside another.
//
// It is not safe for concurrent use: the session's reader owns it.
type parser struct {
	maxLine    int  // max_control_line: bytes of arguments
	maxPayload int  // header and payload of a publish; negative = unlimited
	headers    bool // the client may send HPUB

	mode    mode
	ended   event // modeJunk: what the line is when it ends
	left    int   // payload bytes still to come
	trailer int   // bytes of the payload's CRLF seen

	arg  []byte  // evConnect
	last string  // the subject of the mq9 publish before this one: most senders repeat it
	sub  subLine // evSub, evUnsub
	pub  publish // evMessage, evTooLarge
}

// between reports whether the plain bytes passed so far end at the end of a frame.
func (p *parser) between() bool { return p.mode != modePass && p.mode != modeJunk }

// next looks at the head of data and returns what it found and how many bytes that is. For evMore, evMalformed and evPoison the count is 0.
func (p *parser) next(data []byte) (event, int) {
	if len(data) == 0 {
		return evMore, 0
	}
	switch p.mode {
	case modeLine:
		return p.line(data)
	case modeJunk:
		return p.junk(data)
	default:
		return p.payload(data)
	}
}

// junk passes bytes up to the end of a line whose rest means nothing.
func (p *parser) junk(data []byte) (event, int) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return evPass, len(data)
	}
	p.mode = modeLine
	return p.ended, end + 1
}

// line reads one control line. Lines are held back until they are complete, because only then it is known whose they are.
func (p *parser) line(data []byte) (event, int) {
	verb, ev := matchVerb(data)
	if verb == nil {
		return ev, 0
	}
	if verb.junk {
		p.mode, p.ended = modeJunk, verb.event
		return p.junk(data)
	}
	start := len(verb.name)
	if start == len(data) {
		return evMore, 0
	}
	if verb.blank && !isBlank(data[start]) {
		return evMalformed, 0
	}
	for start < len(data) && isBlank(data[start]) {
		start++
	}
	end := bytes.IndexByte(data[start:], '\n')
	switch {
	case start > p.maxLine || end < 0 && len(data)-start > p.maxLine+1:
		return evMalformed, 0 // no line end within max_control_line. nats-server does not count blanks; they are bounded all the same
	case end < 0:
		return evMore, 0
	case end == 0:
		return evPoison, 0 // nats-server takes this line end for an argument
	}
	arg := data[start : start+end]
	if arg[len(arg)-1] == '\r' {
		arg = arg[:len(arg)-1]
	}
	if len(arg) > p.maxLine {
		return evMalformed, 0
	}
	if bytes.IndexByte(arg, '\r') >= 0 {
		return evPoison, 0 // what nats-server makes of it depends on how the stream was split
	}
	n := start + end + 1
	switch verb.event {
	case evConnect:
		p.arg = arg
		return evConnect, n
	case evSub:
		return p.subscribe(arg), n
	case evUnsub:
		return p.unsubscribe(arg), n
	case evMessage:
		ev := p.publish(arg, verb.name == "hpub")
		return p.whole(ev, data, n)
	}
	return verb.event, n
}

// whole takes the payload of a publish whose line are the first n bytes of data, too, if all of it is there.
func (p *parser) whole(ev event, data []byte, n int) (event, int) {
	end := n + p.left
	if ev != evPass && ev != evSwallow || len(data)-n < p.left+len("\r\n") || data[end] != '\r' || data[end+1] != '\n' {
		return ev, n
	}
	if p.mode == modeTake {
		p.pub.body, ev = bytes.Clone(data[n:end]), evMessage
	}
	p.mode, p.left = modeLine, 0
	return ev, end + len("\r\n")
}

func (p *parser) subscribe(arg []byte) event {
	args, n := splitArgs(arg)
	switch n {
	case 2:
		p.sub = subLine{subject: args[0], sid: args[1]}
	case 3:
		p.sub = subLine{subject: args[0], queue: args[1], sid: args[2]}
	default:
		return evMalformed
	}
	return evSub
}

func (p *parser) unsubscribe(arg []byte) event {
	args, n := splitArgs(arg)
	switch n {
	case 1:
		p.sub = subLine{sid: args[0]}
	case 2:
		p.sub = subLine{sid: args[0], max: parseSize(args[1])}
	default:
		return evMalformed
	}
	return evUnsub
}

// publish reads the arguments of PUB (subject, [reply], size) or HPUB (subject, [reply], header size, size).
func (p *parser) publish(arg []byte, withHeader bool) event {
	args, n := splitArgs(arg)
	sizes := 1
	if withHeader {
		sizes = 2
		if !p.headers {
			return evMalformed
		}
	}
	if n != 1+sizes && n != 2+sizes {
		return evMalformed
	}
	header, size := -1, parseSize(args[n-1])
	if size < 0 {
		return evMalformed
	}
	if withHeader {
		if header = parseSize(args[n-2]); header < 0 || header > size {
			return evMalformed
		}
	}
	p.left = size
	if !isMailbox(args[0]) {
		p.mode = modePass
		return evPass
	}
	if string(args[0]) != p.last {
		p.last = string(args[0])
	}
	p.pub = publish{subject: p.last, header: header}
	if n == 2+sizes {
		p.pub.reply = string(args[1])
	}
	if p.maxPayload >= 0 && size > p.maxPayload {
		p.mode = modeSkip
		return evTooLarge
	}
	p.mode = modeTake
	return evSwallow
}

// payload reads the bytes behind a PUB or HPUB line, and the CRLF behind them.
func (p *parser) payload(data []byte) (event, int) {
	ev := evSwallow
	if p.mode == modePass {
		ev = evPass
	}
	if n := min(p.left, len(data)); n > 0 {
		if p.mode == modeTake {
			if p.pub.body == nil {
				p.pub.body = make([]byte, 0, p.left)
			}
			p.pub.body = append(p.pub.body, data[:n]...)
		}
		p.left -= n
		return ev, n
	}
	if data[0] != "\r\n"[p.trailer] {
		if p.mode == modePass {
			return evMalformed, 0
		}
		return evPoison, 0
	}
	if p.trailer++; p.trailer == len("\r\n") {
		if p.mode == modeTake {
			ev = evMessage
		}
		p.mode, p.trailer = modeLine, 0
	}
	return ev, 1
}

// peekMax looks whether data begins with a complete `UNSUB sid max`, and returns max, or 0.
func (p *parser) peekMax(data []byte, sid string) int {
	ahead := parser{maxLine: p.maxLine}
	if ev, _ := ahead.next(data); ev != evUnsub || string(ahead.sub.sid) != sid {
		return 0
	}
	return max(ahead.sub.max, 0)
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isMailbox(subject []byte) bool { return bytes.HasPrefix(subject, []byte(mq9.Prefix)) }
