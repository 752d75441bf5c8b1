package frontend

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// BenchmarkParse is the parser alone, on frames as they come in bulk: many of them in one read.
func BenchmarkParse(b *testing.B) {
	subject, payload := mq9.SendSubject(mq9.NewMailID(), mq9.Normal), strings.Repeat("x", 128)
	header := "NATS/1.0\r\nTrace: 0123456789\r\n\r\n"
	for _, c := range []struct{ name, frame string }{
		{"mq9", pub(subject, payload)},
		{"mq9-reply", fmt.Sprintf("PUB %s _INBOX.0123456789abcdefghijkl.1 %d\r\n%s\r\n", subject, len(payload), payload)},
		{"mq9-headers", fmt.Sprintf("HPUB %s %d %d\r\n%s%s\r\n", subject, len(header), len(header)+len(payload), header, payload)},
		{"plain", pub("plain.subject", payload)},
	} {
		b.Run(c.name, func(b *testing.B) {
			const bulk = 200
			data := []byte(strings.Repeat(c.frame, bulk))
			p := &parser{maxLine: 4096, maxPayload: 1 << 20, headers: true}
			b.SetBytes(int64(len(c.frame)))
			b.ReportAllocs()
			rest := data
			for b.Loop() { // an iteration is a frame
				parsed := false
				for !parsed {
					if len(rest) == 0 {
						rest = data
					}
					ev, n := p.next(rest)
					if ev == evMalformed || ev == evPoison || ev == evMore {
						b.Fatal("the frame was not taken: event ", ev)
					}
					rest = rest[n:]
					parsed = ev == evMessage || p.mode == modeLine
				}
			}
		})
	}
}

// BenchmarkNextFrame is the scan of the embedded server's stream, for each plain message.
func BenchmarkNextFrame(b *testing.B) {
	frame := fmt.Sprintf("MSG %s 1 %d\r\n%s\r\n", strings.Repeat("x", 46), 128, strings.Repeat("x", 128))
	data := []byte(strings.Repeat(frame, 2))
	b.ReportAllocs()
	for b.Loop() {
		if frame, err := nextFrame(data); err != nil || frame.kind != frameMsg {
			b.Fatal(frame, err)
		}
	}
}

// BenchmarkRender is the head of a delivery, for each format.
func BenchmarkRender(b *testing.B) {
	id := mq9.NewMailID()
	m := &mq9.Message{ID: mq9.NewMsgID(1<<40, mq9.Normal), Priority: mq9.Normal, At: time.Now().UnixNano(), Payload: make([]byte, 128)}
	for _, d := range []Delivery{DeliverHeaders, DeliverBare, DeliverEnvelope} {
		b.Run(d.String(), func(b *testing.B) {
			f := style{delivery: d, headers: true}
			var buffer []byte
			b.ReportAllocs()
			for b.Loop() {
				buffer, _ = f.appendMessage(buffer[:0], "1", id, m)
			}
		})
	}
}
