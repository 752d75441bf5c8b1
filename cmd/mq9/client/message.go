package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

// The broker's own headers of a delivery (protocol section 5).
const (
	headerPrefix    = "Mq9-"
	headerTimestamp = "Mq9-Timestamp"
)

// message is a delivery, whatever form the broker delivers in. It is immutable.
type message struct {
	id       mq9.MsgID
	mailbox  mq9.MailID
	priority mq9.Priority
	remove   string      // the subject that deletes it
	at       time.Time   // of acceptance; zero when the broker does not say (bare delivery)
	header   nats.Header // the sender's
	payload  []byte
}

// read understands a delivery.
func read(m *nats.Msg) (*message, error) {
	sent, err := mq9.ParsePublish(m.Subject)
	if err != nil || sent.Verb != mq9.Send {
		return nil, fmt.Errorf("a message came on the subject %q, which is no mailbox's", m.Subject)
	}
	remove, err := mq9.ParsePublish(m.Reply)
	if err != nil || remove.Verb != mq9.Delete || remove.MsgID == 0 {
		return nil, fmt.Errorf("a message came without a msg_id: %q answers, which is no mq9 broker or a newer one", m.Reply)
	}
	out := &message{
		id: remove.MsgID, mailbox: sent.MailID, priority: sent.Priority, remove: m.Reply,
		header: nats.Header{}, payload: m.Data,
	}
	for key, values := range m.Header {
		if !strings.HasPrefix(key, headerPrefix) {
			out.header[key] = values
		}
	}
	if text := m.Header.Get(headerTimestamp); text != "" {
		if at, bad := time.Parse(time.RFC3339Nano, text); bad == nil {
			out.at = at
		}
	} else {
		out.unwrap()
	}
	return out, nil
}

// unwrap takes the payload out of the envelope of a broker that delivers so. What a sender has wrapped is left alone: nobody can know
// the msg_id of a message before it is accepted.
func (m *message) unwrap() {
	var envelope struct {
		MsgID   string     `json:"msg_id"`
		MailID  mq9.MailID `json:"mail_id"`
		TS      int64      `json:"ts"`
		Payload []byte     `json:"payload"`
	}
	if json.Unmarshal(m.payload, &envelope) != nil || envelope.MsgID != m.id.String() || envelope.MailID != m.mailbox {
		return
	}
	m.payload, m.at = envelope.Payload, time.Unix(envelope.TS, 0)
}

// shown is a message as JSON shows it.
type shown struct {
	MsgID    string      `json:"msg_id"`
	MailID   mq9.MailID  `json:"mail_id"`
	Priority string      `json:"priority"`
	TS       string      `json:"ts,omitempty"` // RFC 3339, UTC
	Headers  nats.Header `json:"headers,omitempty"`
	Payload  *string     `json:"payload,omitempty"`        // when it is UTF-8
	Base64   []byte      `json:"payload_base64,omitempty"` // when it is not
}

func (m *message) shown() shown {
	s := shown{MsgID: m.id.String(), MailID: m.mailbox, Priority: m.priority.String(), Headers: m.header}
	if !m.at.IsZero() {
		s.TS = m.at.UTC().Format(time.RFC3339Nano)
	}
	if utf8.Valid(m.payload) {
		text := string(m.payload)
		s.Payload = &text
	} else {
		s.Base64 = m.payload
	}
	return s
}

// show prints a message for a person: when, how pressing, its id, its headers, what it says.
func (s *session) show(m *message) error {
	if s.json {
		return s.object(m.shown())
	}
	var b strings.Builder
	if !m.at.IsZero() {
		b.WriteString(s.paint(dim, m.at.Local().Format(time.TimeOnly)) + " ")
	}
	b.WriteString(s.priority(m.priority) + " " + s.paint(dim, m.id.String()))
	for _, key := range slices.Sorted(maps.Keys(m.header)) {
		for _, value := range m.header[key] {
			b.WriteString(s.paint(dim, " ["+visible(key)+": "+visible(value)+"]"))
		}
	}
	fmt.Fprintf(&b, " %s\n", visible(strings.TrimSuffix(string(m.payload), "\n")))
	_, err := s.WriteString(b.String())
	return err
}

// environment is what a command of --exec learns of the message besides its payload.
func (m *message) environment() []string {
	env := []string{
		"MQ9_MAIL_ID=" + string(m.mailbox),
		"MQ9_MSG_ID=" + m.id.String(),
		"MQ9_PRIORITY=" + m.priority.String(),
		"MQ9_SIZE=" + fmt.Sprint(len(m.payload)),
	}
	if !m.at.IsZero() {
		env = append(env, "MQ9_TIMESTAMP="+m.at.UTC().Format(time.RFC3339Nano))
	}
	for _, key := range slices.Sorted(maps.Keys(m.header)) {
		value := strings.Join(m.header[key], ", ")
		if !strings.ContainsRune(value, 0) { // no environment can hold that
			env = append(env, "MQ9_HEADER_"+variable(key)+"="+value)
		}
	}
	return env
}

// variable makes a header's key fit for the name of an environment variable: upper case, anything else an underscore.
func variable(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, key)
}
