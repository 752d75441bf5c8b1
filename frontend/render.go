package frontend

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// timeLayout is RFC 3339 with all nine digits of the nanoseconds.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

const (
	headerMsgID = "Mq9-Msg-Id: "
	headerTime  = "Mq9-Timestamp: "
)

// style says how one connection gets its deliveries. It is immutable.
type style struct {
	delivery Delivery
	headers  bool // the client understands HMSG
}

// appendMessage renders a delivery up to its payload and returns the payload that follows, to be written as it is
// and then ended with CRLF. The payload is nil when everything but the CRLF is in b already (envelopes).
func (f style) appendMessage(b []byte, sid string, id mq9.MailID, m *mq9.Message) (head, payload []byte) {
	var header int // bytes of the header block
	hasHeader := f.headers && (len(m.Header) > 0 || f.delivery == DeliverHeaders)
	if hasHeader {
		b = append(b, 'H')
		header = len(headerVersion) + len(m.Header) + len(headerEnd)
		if f.delivery == DeliverHeaders {
			header += len(headerMsgID) + msgIDBytes + len(headerTime) + len(timeLayout) + 2*len(headerEnd)
		}
	}
	b = append(b, "MSG "...)
	b = mq9.AppendSendSubject(b, id, m.Priority)
	b = append(append(append(b, ' '), sid...), ' ')
	b = append(mq9.AppendDeleteSubject(b, id, m.ID), ' ')

	payload = m.Payload
	if f.delivery == DeliverEnvelope {
		payload = envelope(id, m)
	}
	if hasHeader {
		b = append(strconv.AppendInt(b, int64(header), 10), ' ')
	}
	b = strconv.AppendInt(b, int64(header+len(payload)), 10)
	b = append(b, "\r\n"...)
	if hasHeader {
		b = append(append(b, headerVersion...), m.Header...)
		if f.delivery == DeliverHeaders {
			b = append(m.ID.Append(append(b, headerMsgID...)), "\r\n"...)
			b = append(appendTime(append(b, headerTime...), m.At), "\r\n"...)
		}
		b = append(b, headerEnd...)
	}
	return b, payload
}

// appendTime appends a moment in Unix nanoseconds as timeLayout says. It is done for every delivery, and [time.Time.AppendFormat]
// takes several times as long.
func appendTime(b []byte, at int64) []byte {
	t := time.Unix(0, at).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b = append(appendDigits(b, year, 4), '-')
	b = append(appendDigits(b, int(month), 2), '-')
	b = append(appendDigits(b, day, 2), 'T')
	b = append(appendDigits(b, hour, 2), ':')
	b = append(appendDigits(b, minute, 2), ':')
	b = append(appendDigits(b, second, 2), '.')
	return append(appendDigits(b, t.Nanosecond(), 9), 'Z')
}

// appendDigits appends the last digits of n.
func appendDigits(b []byte, n, digits int) []byte {
	b = append(b, "000000000"[:digits]...)
	for i := len(b) - 1; digits > 0; i, digits = i-1, digits-1 {
		b[i] += byte(n % 10)
		n /= 10
	}
	return b
}

// msgIDBytes is the length of a msg_id in text.
var msgIDBytes = len(mq9.MsgID(0).String())

// envelope renders the whole message as JSON, the form that the RobustMQ SDKs 1.0.x read.
func envelope(id mq9.MailID, m *mq9.Message) []byte {
	name, err := json.Marshal(id)
	if err != nil {
		panic("frontend: a mail_id that is no JSON string: " + err.Error()) // strings always encode
	}
	b := make([]byte, 0, envelopeBytes+len(name)+base64.StdEncoding.EncodedLen(len(m.Payload)))
	b = m.ID.Append(append(b, `{"msg_id":"`...))
	b = append(append(b, `","mail_id":`...), name...)
	b = append(append(b, `,"priority":"`...), m.Priority.String()...)
	b = strconv.AppendInt(append(b, `","ts":`...), m.At/int64(time.Second), 10)
	b = base64.StdEncoding.AppendEncode(append(b, `,"payload":"`...), m.Payload)
	return append(b, `"}`...)
}

// envelopeBytes bounds an envelope without its mail_id and payload.
const envelopeBytes = 128

// cost bounds the bytes on the wire of a delivery of the given mq9.Message.Size.
func (f style) cost(sid string, id mq9.MailID, size int) int {
	const frame = 160 // verb, the two subjects' fixed parts, msg_id, blanks, sizes, line ends
	const headers = 96
	n := frame + 2*len(id) + len(sid) + size
	switch f.delivery {
	case DeliverHeaders:
		n += headers
	case DeliverEnvelope:
		n += envelopeBytes + 6*len(id) + base64.StdEncoding.EncodedLen(size) - size
	}
	return n
}

// appendPlain renders a message without headers and reply subject: replies and discovery events.
func appendPlain(b []byte, subject, sid string, payload []byte) []byte {
	b = append(append(b, "MSG "...), subject...)
	b = append(append(append(b, ' '), sid...), ' ')
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	b = append(append(b, "\r\n"...), payload...)
	return append(b, "\r\n"...)
}
