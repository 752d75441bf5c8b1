package crash

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// The subjects of the protocol; those that end in a dot are followed by a mail_id.
const (
	subjectCreate   = "$mq9.AI.MAILBOX.CREATE"
	subjectSend     = "$mq9.AI.MAILBOX.MSG."
	subjectList     = "$mq9.AI.MAILBOX.LIST."
	subjectDelete   = "$mq9.AI.MAILBOX.DELETE."
	subjectDiscover = "$mq9.AI.PUBLIC.LIST"
)

// priorities are the last tokens of the subjects of deliveries.
var priorities = []string{".critical", ".urgent", ""}

// tierNames are what the protocol calls the priorities.
var tierNames = []string{"critical", "urgent", "normal"}

// normal is the priority that does not survive a restart.
const normal = 2

var table = crc64.MakeTable(crc64.ECMA)

// checksum covers a payload and the headers that the sender set: names, values, and the order of the values of a name.
func checksum(m *nats.Msg) uint64 {
	sum := crc64.Update(1, table, m.Data)
	var names []string
	for name := range m.Header {
		if !strings.HasPrefix(strings.ToLower(name), "mq9-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range m.Header[name] {
			sum = crc64.Update(sum, table, []byte(name+"\x00"+value+"\x00"))
		}
	}
	return sum
}

// compose makes a message from its token and a draw. Its payload is the token, a bar, and bytes of all values.
func compose(box string, priority int, token string, draw uint64) *nats.Msg {
	r := rand.New(rand.NewPCG(draw, 0))
	size := r.IntN(200)
	switch r.IntN(20) {
	case 0:
		size = r.IntN(100_000)
	case 1, 2, 3:
		size = r.IntN(4_000)
	}
	data := append(make([]byte, 0, len(token)+1+size+8), token+"|"...)
	for len(data) < len(token)+1+size {
		data = binary.LittleEndian.AppendUint64(data, r.Uint64())
	}
	m := &nats.Msg{Subject: subjectSend + box + priorities[priority], Data: data[:len(token)+1+size]}
	if r.IntN(3) > 0 {
		return m
	}
	m.Header = nats.Header{"Trace": {fmt.Sprintf("%x", r.Uint64()), "second value"}, "x-Case-Kept": {"任务"}}
	if r.IntN(4) == 0 {
		m.Header["Mq9-Msg-Id"] = []string{"forged"}
	}
	return m
}

// tokenOf is the token in a payload.
func tokenOf(payload []byte) string {
	token, _, _ := bytes.Cut(payload, []byte("|"))
	if len(token) > 40 {
		token = token[:40] // of something that is none of our messages
	}
	return string(token)
}

// receive turns a delivery into an event, and says what is wrong with the frame itself.
func receive(m *nats.Msg, box string) Event {
	e := Event{Kind: Delivered, Box: box, Priority: -1, Token: tokenOf(m.Data), Sum: checksum(m)}
	for p, suffix := range priorities {
		if m.Subject == subjectSend+box+suffix {
			e.Priority = p
		}
	}
	ids := m.Header["Mq9-Msg-Id"]
	if len(ids) == 1 {
		e.Msg = ids[0]
	}
	stamp, err := time.Parse(time.RFC3339Nano, m.Header.Get("Mq9-Timestamp"))
	switch {
	case e.Priority < 0:
		e.Wrong = "its subject is " + m.Subject
	case len(ids) != 1:
		e.Wrong = fmt.Sprintf("%d headers with an id", len(ids))
	case m.Reply != subjectDelete+box+"."+e.Msg:
		e.Wrong = "its reply subject is " + m.Reply
	case err != nil:
		e.Wrong = "its timestamp is " + m.Header.Get("Mq9-Timestamp")
	default:
		e.Stamp = stamp.UnixNano()
	}
	return e
}
