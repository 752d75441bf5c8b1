package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

func TestNearest(t *testing.T) {
	words := []string{"create", "send", "watch", "ls", "rm", "discover", "bench"}
	for word, want := range map[string]string{
		"sned": "send", "sen": "send", "SEND": "send", "wacth": "watch", "l": "", "lss": "ls", "rn": "rm", "disc": "discover",
		"up": "", "x": "", "": "", "frobnicate": "", "b": "", "be": "bench",
	} {
		if got := nearest(word, words); got != want {
			t.Errorf("%q: %q, not %q", word, got, want)
		}
	}
	if got := nearest("co", []string{"connection", "completion"}); got != "" {
		t.Errorf("an abbreviation of two words was taken for %q", got)
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "500ms": time.Second / 2,
	} {
		var d duration
		if err := d.Set(text); err != nil || d.value != want {
			t.Errorf("%s: %v, %v", text, d.value, err)
		}
	}
	for text, says := range map[string]string{
		"90": "write 90s", "": "is no time", "s": "is no time", "-1s": "is no time", "1.5h": "is no time", "30m1h": "is no time", "1000y": "is no time",
	} {
		var d duration
		if err := d.Set(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", text, d.value, err)
		}
	}
}

// What nats.go makes of an -ERR is read back, whatever stands in the subject.
func TestRefusals(t *testing.T) {
	violation := func(text string) error { return fmt.Errorf("%w: %s", nats.ErrPermissionViolation, text) }
	for text, want := range map[string]*mq9.Error{
		`Permissions Violation for Subscription to "$mq9.AI.MAILBOX.MSG.a.*": 404 no such mailbox: create it`:      {Code: 404, Text: "no such mailbox: create it"},
		`Permissions Violation for Publish to "$mq9.AI.MAILBOX.MSG.a": 429 full`:                                   {Code: 429, Text: "full"},
		`Permissions Violation for Subscription to "$mq9.AI.MAILBOX.MSG.a" using queue "x": 503 storage is broken`: {Code: 503, Text: "storage is broken"},
		`Permissions Violation for Publish to "a"`:                                                                 nil,
		`Permissions Violation for Publish to "a": no way`:                                                         nil,
	} {
		got, ok := refusal(violation(text))
		if ok != (want != nil) || ok && *got != *want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if _, ok := refusal(errors.New(`x "a": 404 no`)); ok {
		t.Error("another error was taken for a refusal")
	}
}

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		0:               nil,
		ExitFailed:      errors.New("x"),
		ExitUsage:       fmt.Errorf("at last: %w", usagef("x")),
		ExitRefused:     errors.Join(fmt.Errorf("at last: %w", mq9.ErrNoMailbox)),
		ExitUnreachable: explain(nats.ErrNoResponders, &connection{server: "x"}),
	} {
		if got := ExitCode(err); got != want {
			t.Errorf("%v: %d, not %d", err, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain 任务\n\tmore": "plain 任务\n\tmore", "\x1b[31m": `\x1b[31m`, "\a\r\x00": `\x07\x0d\x00`, "\xff\xfe": `\xff\xfe`,
		"\u202e": `\u202e`, "\ufffd": "\ufffd",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func TestWhere(t *testing.T) {
	for server, want := range map[string]string{
		"127.0.0.1:4222":                       "nats://127.0.0.1:4222",
		"nats://ann:s3cret@h:1, tls://t0ken@i": "nats://…@h:1,tls://…@i",
	} {
		if got := (&connection{server: server}).where(); got != want {
			t.Errorf("%s: %s", server, got)
		}
	}
}

func TestRead(t *testing.T) {
	const box, id = "task.queue", "000000000000g"
	deliver := func(body string, header nats.Header) *nats.Msg {
		return &nats.Msg{
			Subject: "$mq9.AI.MAILBOX.MSG." + box + ".urgent", Reply: "$mq9.AI.MAILBOX.DELETE." + box + "." + id,
			Data: []byte(body), Header: header,
		}
	}
	m, err := read(deliver("x", nats.Header{"Mq9-Msg-Id": {id}, "Mq9-Timestamp": {"2026-12-01T21:40:23.035780391Z"}, "Kind": {"a", "b"}, "n-0": {"\x00"}}))
	if err != nil || m.id.String() != id || m.mailbox != box || m.priority != mq9.Urgent || m.at.IsZero() || len(m.header) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	env := strings.Join(m.environment(), "\n")
	if !strings.Contains(env, "MQ9_HEADER_KIND=a, b") || strings.Contains(env, "MQ9_HEADER_N_0") {
		t.Errorf("the environment is %s", env)
	}
	m, err = read(deliver(`{"msg_id":"`+id+`","mail_id":"task.queue","priority":"urgent","ts":7,"payload":"eA=="}`, nil))
	if err != nil || string(m.payload) != "x" || m.at.Unix() != 7 {
		t.Errorf("%+v, %v", m, err)
	}
	forged := `{"msg_id":"000000000000k","mail_id":"task.queue","payload":"eA=="}`
	if m, err = read(deliver(forged, nil)); err != nil || string(m.payload) != forged {
		t.Errorf("%+v, %v", m, err)
	}
	for _, foreign := range []*nats.Msg{{Subject: "x"}, {Subject: "$mq9.AI.MAILBOX.MSG.a"}, {Subject: "$mq9.AI.MAILBOX.MSG.a", Reply: "$mq9.AI.MAILBOX.DELETE.a.x"}} {
		if _, err := read(foreign); err == nil {
			t.Errorf("%+v was taken for a delivery", foreign)
		}
	}
}
