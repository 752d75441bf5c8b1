package frontend

import (
	"bytes"
	"strings"
	"testing"
)

func TestNextFrame(t *testing.T) {
	for _, c := range []struct {
		frame string
		kind  frameKind
		arg   string
	}{
		{"INFO {\"a\": 1}\r\n", frameInfo, `{"a": 1}`},
		{"PING\r\n", frameOther, ""},
		{"PONG\r\n", frameAnswer, ""},
		{"+OK\r\n", frameAccept, ""},
		{"-ERR 'Stale Connection'\r\n", frameRefuse, "'Stale Connection'"},
		{"MSG a 1 0\r\n\r\n", frameMsg, "1"},
		{"MSG a 1 r 14\r\nPONG\r\nMSG \r\n\r\n\r\n", frameMsg, "1"},
		{"HMSG a 1 12 13\r\nNATS/1.0\r\n\r\nx\r\n", frameMsg, "1"},
		{"HMSG a 1 r 12 13\r\nNATS/1.0\r\n\r\nx\r\n", frameMsg, "1"},
	} {
		for i := range c.frame {
			frame, err := nextFrame([]byte(c.frame[:i]))
			if err != nil || frame.kind != frameMore || frame.size != 0 && frame.size != len(c.frame) {
				t.Fatalf("%q cut at %d: %v, %v", c.frame, i, frame, err)
			}
		}
		frame, err := nextFrame([]byte(c.frame + "PING\r\n"))
		if err != nil || frame.kind != c.kind || frame.size != len(c.frame) || string(frame.arg) != c.arg {
			t.Fatalf("%q: %v (%q), %v", c.frame, frame, frame.arg, err)
		}
	}
	for _, bad := range []string{"SUB a 1\r\n", "MSG a 1\r\n", "MSG a 1 x\r\n", "MSG a b c d 1\r\n", "\r\n"} {
		if frame, err := nextFrame([]byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, frame)
		}
	}
}

func TestRefusedSubscription(t *testing.T) {
	for _, c := range []struct {
		text, subject, queue string
		ok                   bool
	}{
		{`'Permissions Violation for Subscription to "a.>"'`, "a.>", "", true},
		{`'Permissions Violation for Subscription to "a \"b\"" using queue "q"'`, `a "b"`, "q", true},
		{`'Permissions Violation for Publish to "a"'`, "", "", false},
		{`'Permissions Violation for Subscription to a'`, "", "", false},
		{`'Stale Connection'`, "", "", false},
	} {
		if subject, queue, ok := refusedSubscription(c.text); subject != c.subject || queue != c.queue || ok != c.ok {
			t.Errorf("%s: %q, %q, %v", c.text, subject, queue, ok)
		}
	}
}

func FuzzServerParser(f *testing.F) {
	f.Add([]byte("INFO {}\r\nPING\r\nMSG a 1 r 2\r\nhi\r\nHMSG a 1 12 12\r\nNATS/1.0\r\n\r\n\r\n-ERR 'x'\r\n+OK\r\nPONG\r\n"), uint16(5))
	f.Add([]byte("MSG a 1 999999999\r\n"), uint16(1))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		frames := func(cuts ...int) (sizes []int, err error) {
			var held []byte
			from := 0
			for _, to := range append(cuts, len(stream)) {
				held = append(held, stream[from:to]...)
				from = to
				for {
					frame, err := nextFrame(held)
					if err != nil {
						return sizes, err
					}
					if frame.kind == frameMore {
						break
					}
					sizes = append(sizes, frame.size)
					held = held[frame.size:]
				}
			}
			return sizes, nil
		}
		whole, wholeErr := frames()
		split, splitErr := frames(int(cut) % (len(stream) + 1))
		if len(whole) != len(split) || (wholeErr == nil) != (splitErr == nil) {
			t.Fatalf("uncut %v, %v; cut %v, %v", whole, wholeErr, split, splitErr)
		}
	})
}

func TestReadBuffer(t *testing.T) {
	var b readBuffer
	source := strings.NewReader(strings.Repeat("x", 200_000))
	for source.Len() > 0 {
		data, err := b.fill(source, 0)
		if err != nil {
			t.Fatal(err)
		}
		b.use(len(data))
	}
	if len(b.bytes) != maxBuffer {
		t.Fatalf("it grew to %d", len(b.bytes))
	}
	if data, err := b.fill(strings.NewReader("abc"), 1<<20); err != nil || len(b.bytes) < 1<<20 || string(data) != "abc" {
		t.Fatalf("%d bytes, %q, %v", len(b.bytes), data, err)
	}
	b.use(1)
	for range 100 {
		if _, err := b.fill(bytes.NewReader([]byte("y")), 0); err != nil {
			t.Fatal(err)
		}
		b.use(1)
	}
	if len(b.bytes) != minBuffer || b.end != 2 {
		t.Fatalf("it shrank to %d with %d bytes kept", len(b.bytes), b.end)
	}
}
