package frontend

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

// parsed is what a parser made of a stream, in a form that can be compared.
type parsed struct {
	events []string
	plain  strings.Builder
}

// parse runs a stream through a fresh parser, cut at the given places, as a session does.
func parse(stream string, cuts ...int) *parsed {
	p := &parser{maxLine: 64, maxPayload: 100, headers: true}
	out := &parsed{}
	var held []byte
	from := 0
	for _, to := range append(cuts, len(stream)) {
		held = append(held, stream[from:to]...)
		from = to
		used, stopped := out.feed(p, held)
		if stopped {
			out.rest(stream[from:])
			return out
		}
		held = append([]byte(nil), held[used:]...)
	}
	out.events = append(out.events, fmt.Sprintf("left %q", held))
	return out
}

// rest notes what a stopped session does not read any more, so that it does not depend on the cuts.
func (out *parsed) rest(unread string) {
	if out.events[len(out.events)-1] == "malformed" {
		out.plain.WriteString(unread)
	}
}

func (out *parsed) feed(p *parser, data []byte) (used int, stopped bool) {
	for {
		ev, n := p.next(data[used:])
		note := func(format string, args ...any) { out.events = append(out.events, fmt.Sprintf(format, args...)) }
		switch ev {
		case evMore:
			return used, false
		case evMalformed:
			note("malformed")
			out.plain.Write(data[used:])
			return used, true
		case evPoison:
			note("poison")
			return used, true
		case evConnect:
			note("connect %s", p.arg)
		case evPing:
			note("ping")
		case evSub:
			note("sub %s [%s] %s", p.sub.subject, p.sub.queue, p.sub.sid)
		case evUnsub:
			note("unsub %s %d", p.sub.sid, p.sub.max)
		case evMessage:
			note("message %s [%s] %d %q", p.pub.subject, p.pub.reply, p.pub.header, p.pub.body)
		case evTooLarge:
			note("too large %s [%s]", p.pub.subject, p.pub.reply)
		}
		if ev != evSwallow && ev != evMessage && ev != evTooLarge {
			out.plain.Write(data[used : used+n])
		}
		used += n
	}
}

func (out *parsed) String() string {
	return fmt.Sprintf("%q; plain %q", out.events, out.plain.String())
}

func TestParser(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		name, stream string
		events       []string
		plain        string // empty: the whole stream
	}{
		{name: "connect", stream: "CONNECT {\"a\": 1}\r\n", events: []string{`connect {"a": 1}`}},
		{name: "connect without a blank", stream: "connect{}\n", events: []string{"connect {}"}},
		{name: "ping", stream: "PING\r\npInG junk \t\nPONG x\r\n+ok\n", events: []string{"ping", "ping"}},
		{name: "info", stream: "INFO {}\r\n"},
		{name: "client -ERR", stream: "-ERR 'x'\r\nPUB $mq9.a 0\r\n\r\n", events: []string{"malformed"}},
		{
			name: "sub", stream: "SUB a 1\r\nsub\ta \t q  2 \nUNSUB 1\r\nunsub 2 7 \r\nUNSUB 3 x\r\n",
			events: []string{"sub a [] 1", "sub a [q] 2", "unsub 1 0", "unsub 2 7", "unsub 3 -1"},
		},
		{name: "plain publishes", stream: "PUB a 3\r\n\r\n\x00\r\npub a r 0\n\r\nHPUB a 12 13\r\nNATS/1.0\r\n\r\nx\r\nPING\n", events: []string{"ping"}},
		{
			name: "mq9 publish", stream: "PUB $mq9.a 2\r\nhi\r\nPUB $mq9.b\tr 0\n\r\n", plain: "-",
			events: []string{`message $mq9.a [] -1 "hi"`, `message $mq9.b [r] -1 ""`},
		},
		{
			name: "mq9 between plain", stream: "PUB a 1\r\nx\r\nPUB $mq9.a 1\r\ny\r\nPING\r\n", plain: "PUB a 1\r\nx\r\nPING\r\n",
			events: []string{`message $mq9.a [] -1 "y"`, "ping"},
		},
		{name: "mq9 frame inside a payload", stream: "PUB a 18\r\nPUB $mq9.a 1\r\ny\r\n\r\nPING\r\n", events: []string{"malformed"}},
		{
			name: "mq9 header publish", stream: "hpub $mq9.a r 12 14\r\nNATS/1.0\r\n\r\nhi\r\n", plain: "-",
			events: []string{`message $mq9.a [r] 12 "NATS/1.0\r\n\r\nhi"`},
		},
		{
			name: "mq9 too large", stream: "PUB $mq9.a r 101\r\n" + strings.Repeat("z", 101) + "\r\nPING\r\n", plain: "PING\r\n",
			events: []string{"too large $mq9.a [r]", "ping"},
		},
		{name: "no prefix", stream: "PUB $mq9 0\r\n\r\nPUB $MQ9.a 0\r\n\r\nPUB x$mq9.a 0\r\n\r\n"},

		{name: "unknown verb", stream: "PUT a 1\r\n", events: []string{"malformed"}},
		{name: "http", stream: "GET / HTTP/1.1\r\n\r\n", events: []string{"malformed"}},
		{name: "no blank", stream: "PUB$mq9.a 0\r\n\r\n", events: []string{"malformed"}},
		{name: "too few arguments", stream: "PUB $mq9.a\r\n", events: []string{"malformed"}},
		{name: "no arguments", stream: "SUB \r\n", events: []string{"malformed"}},
		{name: "too many arguments", stream: "SUB $mq9.a b c d\r\n", events: []string{"malformed"}},
		{name: "many too many", stream: "PUB a b c d e f g\r\n", events: []string{"malformed"}},
		{name: "bad size", stream: "PUB $mq9.a -1\r\n", events: []string{"malformed"}},
		{name: "size with ten digits", stream: "PUB $mq9.a 0000000001\r\nx\r\n", events: []string{"malformed"}},
		{name: "header longer than all", stream: "HPUB $mq9.a 5 4\r\n", events: []string{"malformed"}},
		{name: "long line", stream: "SUB " + long + " 1\r\n", events: []string{"malformed"}},
		{name: "line without end", stream: "SUB " + strings.Repeat("x", 200), events: []string{"malformed"}},
		{name: "blanks without end", stream: "SUB " + strings.Repeat(" ", 200), events: []string{"malformed"}},
		{name: "blanks without limit", stream: "SUB " + strings.Repeat(" ", 200) + "a 1\r\n", events: []string{"malformed"}},
		{name: "payload without its end", stream: "PUB a 1\r\nxyz", events: []string{"malformed"}},

		{name: "mq9 payload without its end", stream: "PUB $mq9.a 1\r\nxyz", plain: "-", events: []string{"poison"}},
		{name: "CR within a line", stream: "PUB $m\rq9.a 1\r\nx\r\n", plain: "-", events: []string{"poison"}},
		{name: "two CR", stream: "SUB a 1\r\r\n", plain: "-", events: []string{"poison"}},
		{name: "LF for an argument", stream: "SUB \n$mq9.a 1\r\n", plain: "-", events: []string{"poison"}},
		{name: "HMSG", stream: "HMSG a 1 2\r\n", plain: "-", events: []string{"poison"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.plain == "" {
				c.plain = c.stream
			}
			whole := parse(c.stream)
			want := append(append([]string(nil), c.events...), `left ""`)
			if last := len(c.events) - 1; last >= 0 && (c.events[last] == "malformed" || c.events[last] == "poison") {
				want = c.events
			}
			if fmt.Sprint(whole.events) != fmt.Sprint(want) || whole.plain.String() != strings.Trim(c.plain, "-") && c.plain == "-" ||
				c.plain != "-" && whole.plain.String() != c.plain {
				t.Fatalf("got %v; want %q, plain %q", whole, want, c.plain)
			}
			for i := range c.stream {
				if got := parse(c.stream, i); got.String() != whole.String() {
					t.Fatalf("cut at %d: got %v; uncut %v", i, got, whole)
				}
			}
			if got := parse(c.stream, everywhere(c.stream)...); got.String() != whole.String() {
				t.Fatalf("cut everywhere: got %v; uncut %v", got, whole)
			}
		})
	}
}

func everywhere(stream string) []int {
	cuts := make([]int, len(stream))
	for i := range cuts {
		cuts[i] = i
	}
	return cuts
}

func TestParserPeekMax(t *testing.T) {
	for _, c := range []struct {
		rest string
		max  int
	}{
		{"UNSUB 1 3\r\n", 3},
		{"unsub 1\t3\nPING\r\n", 3},
		{"UNSUB 2 3\r\n", 0},
		{"UNSUB 1\r\n", 0},
		{"UNSUB 1 x\r\n", 0},
		{"UNSUB 1 3", 0},
		{"PING\r\n", 0},
		{"", 0},
	} {
		p := &parser{maxLine: 64}
		if got := p.peekMax([]byte(c.rest), "1"); got != c.max {
			t.Errorf("%q: got %d, want %d", c.rest, got, c.max)
		}
	}
}

func TestParserRefusesHeadersOfClientsWithout(t *testing.T) {
	p := &parser{maxLine: 64, maxPayload: 100}
	if ev, _ := p.next([]byte("HPUB $mq9.a 12 12\r\nNATS/1.0\r\n\r\n\r\n")); ev != evMalformed {
		t.Fatalf("got %d", ev)
	}
}

func FuzzClientParser(f *testing.F) {
	for _, seed := range []string{
		"CONNECT {}\r\nPING\r\nSUB a 1\r\nUNSUB 1 2\r\nPUB a 1\r\nx\r\n",
		"PUB $mq9.a r 2\r\nhi\r\nHPUB $mq9.a 12 12\r\nNATS/1.0\r\n\r\n\r\nPING\r\n",
		"PUB a 14\r\nPUB $mq9.a 1\r\n\r\n", "SUB \n$mq9.a 1\r\n", "PUB $m\rq9.a 1\r\nx\r\n", "PUB $mq9.a 101\r\n",
	} {
		f.Add([]byte(seed), uint16(3), uint16(9))
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint16) {
		if len(stream) == 0 {
			return
		}
		first, second := int(a)%len(stream), int(b)%len(stream)
		whole := parse(string(stream))
		if cut := parse(string(stream), min(first, second), max(first, second)); cut.String() != whole.String() {
			t.Fatalf("cut: %v; uncut: %v", cut, whole)
		}
		// With nothing of ours in it and nothing kept back, what came in goes out.
		if bytes.Contains(stream, []byte(mq9.Prefix)) {
			return
		}
		left, last := "", whole.events[len(whole.events)-1]
		if _, err := fmt.Sscanf(last, "left %q", &left); err == nil || last == "malformed" {
			if whole.plain.String()+left != string(stream) {
				t.Fatalf("plain bytes changed: %v", whole)
			}
		}
	})
}
