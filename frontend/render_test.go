package frontend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

func TestRender(t *testing.T) {
	const at = 1_700_000_000_000_000_009
	message := func(p mq9.Priority, header string) *mq9.Message {
		return &mq9.Message{ID: 33, Priority: p, At: at, Header: []byte(header), Payload: []byte("a\r\nb")}
	}
	const ours = "Mq9-Msg-Id: 0000000000011\r\nMq9-Timestamp: 2023-11-14T22:13:20.000000009Z\r\n"
	const reply = "$mq9.AI.MAILBOX.DELETE.t.q.0000000000011"
	const object = `{"msg_id":"0000000000011","mail_id":"t.q","priority":"urgent","ts":1700000000,"payload":"YQ0KYg=="}`
	for _, c := range []struct {
		name  string
		style style
		m     *mq9.Message
		want  string
	}{
		{
			"headers",
			style{DeliverHeaders, true},
			message(mq9.Normal, ""),
			"HMSG $mq9.AI.MAILBOX.MSG.t.q 7 " + reply + " 86 90\r\nNATS/1.0\r\n" + ours + "\r\na\r\nb\r\n",
		},
		{
			"headers of the publisher first",
			style{DeliverHeaders, true},
			message(mq9.Critical, "B: 1\r\nA: 2\r\n"),
			"HMSG $mq9.AI.MAILBOX.MSG.t.q.critical 7 " + reply + " 98 102\r\nNATS/1.0\r\nB: 1\r\nA: 2\r\n" + ours + "\r\na\r\nb\r\n",
		},
		{
			"headers, client without",
			style{DeliverHeaders, false},
			message(mq9.Normal, "A: 2\r\n"),
			"MSG $mq9.AI.MAILBOX.MSG.t.q 7 " + reply + " 4\r\na\r\nb\r\n",
		},
		{"bare", style{DeliverBare, true}, message(mq9.Normal, ""), "MSG $mq9.AI.MAILBOX.MSG.t.q 7 " + reply + " 4\r\na\r\nb\r\n"},
		{
			"bare with headers of the publisher",
			style{DeliverBare, true},
			message(mq9.Urgent, "A: 2\r\n"),
			"HMSG $mq9.AI.MAILBOX.MSG.t.q.urgent 7 " + reply + " 18 22\r\nNATS/1.0\r\nA: 2\r\n\r\na\r\nb\r\n",
		},
		{
			"envelope",
			style{DeliverEnvelope, true},
			message(mq9.Urgent, ""),
			fmt.Sprintf("MSG $mq9.AI.MAILBOX.MSG.t.q.urgent 7 %s %d\r\n%s\r\n", reply, len(object), object),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, payload := c.style.appendMessage(nil, "7", "t.q", c.m)
			if got := string(head) + string(payload) + "\r\n"; got != c.want {
				t.Fatalf("got  %q\nwant %q", got, c.want)
			}
			frame, err := nextFrame([]byte(c.want))
			if err != nil || frame.kind != frameMsg || frame.size != len(c.want) {
				t.Fatalf("it is no frame: %v, %v", frame, err)
			}
		})
	}
}

func TestAppendTime(t *testing.T) {
	for _, at := range []int64{0, 1, 951782399_999_999_999, 1767225600_000_000_000, 4102444800_012_345_678, -1} {
		want := time.Unix(0, at).UTC().Format(timeLayout)
		if got := string(appendTime([]byte("x"), at)); got != "x"+want {
			t.Errorf("got %s, want x%s", got, want)
		}
	}
}

func TestCostCoversTheFrame(t *testing.T) {
	for _, id := range []mq9.MailID{"t", mq9.NewMailID(), mq9.MailID(strings.Repeat("<", 200)), mq9.MailID(strings.Repeat("务", 66)), mq9.MailID(strings.Repeat("\u2028", 60))} {
		for _, size := range []int{0, 1, 1000, 999_999} {
			for _, s := range []style{{DeliverHeaders, true}, {DeliverHeaders, false}, {DeliverBare, true}, {DeliverEnvelope, true}} {
				for _, header := range []int{0, size} {
					m := &mq9.Message{ID: 1 << 63, Priority: mq9.Critical, At: 1, Header: make([]byte, header), Payload: make([]byte, size-header)}
					head, payload := s.appendMessage(nil, "123456", id, m)
					frame := len(head) + len(payload) + len("\r\n")
					cost := s.cost("123456", id, m.Size())
					if frame > cost {
						t.Errorf("%v, %d bytes: frame of %d, cost %d", s, size, frame, cost)
					}
				}
			}
		}
	}
}

func TestEnvelopeIsJSON(t *testing.T) {
	m := &mq9.Message{ID: 1, Priority: mq9.Normal, At: 1_000_000_000, Payload: []byte{0, 0xff, '"'}}
	var got struct {
		MsgID    string `json:"msg_id"`
		MailID   string `json:"mail_id"`
		Priority string
		TS       int64
		Payload  []byte
	}
	if err := json.Unmarshal(envelope(`a"b\<`, m), &got); err != nil {
		t.Fatal(err)
	}
	if got.MailID != `a"b\<` || got.MsgID != m.ID.String() || got.TS != 1 || got.Priority != "normal" || !bytes.Equal(got.Payload, m.Payload) {
		t.Fatalf("got %+v", got)
	}
}
