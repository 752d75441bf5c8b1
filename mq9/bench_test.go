package mq9_test

import (
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

// BenchmarkParsePublish is what each publish costs before it is known whose it is.
func BenchmarkParsePublish(b *testing.B) {
	id := mq9.NewMailID()
	for _, c := range []struct{ name, subject string }{
		{"send-private", mq9.SendSubject(id, mq9.Normal)},
		{"send-critical", mq9.SendSubject(id, mq9.Critical)},
		{"send-public", mq9.SendSubject("team.tasks.queue", mq9.Urgent)},
		{"delete", mq9.DeleteSubject(id, mq9.NewMsgID(1<<40, mq9.Normal))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := mq9.ParsePublish(c.subject); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParseSubscribe is the same for a SUB.
func BenchmarkParseSubscribe(b *testing.B) {
	subject := mq9.SubscribeSubject(mq9.NewMailID())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mq9.ParseSubscribe(subject); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendSubjects is the two subjects of each delivery.
func BenchmarkAppendSubjects(b *testing.B) {
	id, msg := mq9.NewMailID(), mq9.NewMsgID(1<<40, mq9.Critical)
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = mq9.AppendSendSubject(buffer[:0], id, mq9.Critical)
		buffer = mq9.AppendDeleteSubject(buffer, id, msg)
	}
}
