package frontend

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

func TestCheckHeader(t *testing.T) {
	for _, c := range []struct {
		name, block, kept, refusal string
	}{
		{name: "no lines", block: "NATS/1.0\r\n\r\n"},
		{name: "one line", block: "NATS/1.0\r\nA: b\r\n\r\n", kept: "A: b\r\n"},
		{name: "order, repeats and empty values stay", block: "NATS/1.0\r\nB: 1\r\nA:\r\nB: 2\r\n\r\n", kept: "B: 1\r\nA:\r\nB: 2\r\n"},
		{name: "any bytes in a value", block: "NATS/1.0\r\nA: \xff: é\t\r\n\r\n", kept: "A: \xff: é\t\r\n"},
		{name: "ours go, in any case", block: "NATS/1.0\r\nMq9-Msg-Id: x\r\nA: b\r\nmQ9-x: y\r\n\r\n", kept: "A: b\r\n"},
		{name: "ours alone", block: "NATS/1.0\r\nMQ9-TIMESTAMP: x\r\n\r\n"},
		{name: "near ours stays", block: "NATS/1.0\r\nMq9: x\r\n\r\n", kept: "Mq9: x\r\n"},

		{name: "empty", block: "", refusal: "begin with the line NATS/1.0"},
		{name: "another version", block: "NATS/2.0\r\n\r\n", refusal: "begin with"},
		{name: "a status", block: "NATS/1.0 503\r\n\r\n", refusal: "begin with"},
		{name: "lower case", block: "nats/1.0\r\n\r\n", refusal: "begin with"},
		{name: "version alone", block: "NATS/1.0\r\n", refusal: "end with an empty line"},
		{name: "no empty line", block: "NATS/1.0\r\nA: b\r\n", refusal: "empty line must follow"},
		{name: "text behind the end", block: "NATS/1.0\r\n\r\nA: b\r\n\r\n", refusal: "empty line inside"},
		{name: "two ends", block: "NATS/1.0\r\n\r\n\r\n", refusal: "empty line inside"},
		{name: "bare LF", block: "NATS/1.0\r\nA: b\nMq9-Msg-Id: x\r\n\r\n", refusal: "bare CR"},
		{name: "bare CR", block: "NATS/1.0\r\nA: b\rMq9-Msg-Id: x\r\n\r\n", refusal: "bare CR"},
		{name: "NUL", block: "NATS/1.0\r\nA: \x00\r\n\r\n", refusal: "NUL"},
		{name: "continuation", block: "NATS/1.0\r\nA: b\r\n Mq9-Msg-Id: x\r\n\r\n", refusal: "continuation"},
		{name: "no colon", block: "NATS/1.0\r\nA\r\n\r\n", refusal: "no key"},
		{name: "no key", block: "NATS/1.0\r\n: b\r\n\r\n", refusal: "no key"},
		{name: "blank in the key", block: "NATS/1.0\r\nMq9-Msg-Id : x\r\n\r\n", refusal: "blank or control"},
		{name: "control in the key", block: "NATS/1.0\r\nA\x7f: x\r\n\r\n", refusal: "blank or control"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, err := checkHeader([]byte(c.block))
			switch {
			case c.refusal == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.refusal == "" && string(kept) != c.kept:
				t.Fatalf("kept %q, want %q", kept, c.kept)
			case c.refusal != "" && (err == nil || err.Code != mq9.CodeBadRequest || !strings.Contains(err.Text, c.refusal)):
				t.Fatalf("got %q, %v; want a refusal with %q", kept, err, c.refusal)
			}
		})
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte("NATS/1.0\r\nA: b\r\nMq9-X: y\r\n\r\n"))
	f.Add([]byte("NATS/1.0\r\nA: b\nMq9-X: y\r\n\r\n"))
	f.Add([]byte("NATS/1.0\r\n\r\n\r\n"))
	f.Fuzz(func(t *testing.T, block []byte) {
		before := bytes.Clone(block)
		kept, err := checkHeader(block)
		if !bytes.Equal(before, block) {
			t.Fatal("the block was changed")
		}
		if err != nil {
			return
		}
		again, err := checkHeader([]byte("NATS/1.0\r\n" + string(kept) + "\r\n"))
		if err != nil || !bytes.Equal(again, kept) {
			t.Fatalf("what was kept is not kept again: %q, %q, %v", kept, again, err)
		}
		if strings.Contains(strings.ToLower("\r\n"+string(kept)), "\r\nmq9-") {
			t.Fatalf("a key of ours got through: %q", kept)
		}
		if n := bytes.Count(kept, []byte("\r\n")); n != bytes.Count(kept, []byte("\n")) || n != bytes.Count(kept, []byte("\r")) {
			t.Fatalf("a bare CR or LF got through: %q", kept)
		}
	})
}
