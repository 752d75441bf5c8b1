package persistence

import (
	"fmt"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// payloadBytes is the size of a message in the benchmarks.
const payloadBytes = 256

// filled opens a store with one mailbox that has n critical messages.
func filled(b *testing.B, o Options, n int) *Store {
	b.Helper()
	s := open(b, b.TempDir(), o)
	commit(gomega.NewWithT(b), s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	appendAll(b, s, 0, n, n)
	return s
}

// appendAll commits n messages whose ids come after the given number, up to inFlight of them unanswered, and waits for the last.
func appendAll(b *testing.B, s *Store, after, n, inFlight int) {
	b.Helper()
	payload := make([]byte, payloadBytes)
	slots := make(chan struct{}, max(inFlight, 1))
	var pending sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		pending.Add(1)
		m := &mq9.Message{ID: mq9.NewMsgID(uint64(after+i+1), mq9.Critical), Priority: mq9.Critical, At: int64(i), Payload: payload}
		s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{m}}, func(err error) {
			if err != nil {
				b.Error(err)
			}
			<-slots
			pending.Done()
		})
	}
	pending.Wait()
}

// BenchmarkAppend is storing a durable message without the disk: what the committer and RocksDB cost.
func BenchmarkAppend(b *testing.B) {
	s := filled(b, Options{Sync: SyncNever}, 0)
	b.SetBytes(payloadBytes)
	b.ReportAllocs()
	b.ResetTimer()
	appendAll(b, s, 0, b.N, 2000)
}

// BenchmarkGroupCommit is storing with a sync, for various numbers of messages that wait at the same time.
func BenchmarkGroupCommit(b *testing.B) {
	for _, inFlight := range []int{1, 16, 500} {
		b.Run(fmt.Sprintf("in-flight-%d", inFlight), func(b *testing.B) {
			s := filled(b, Options{Sync: SyncAlways}, 0)
			b.SetBytes(payloadBytes)
			b.ReportAllocs()
			b.ResetTimer()
			appendAll(b, s, 0, b.N, inFlight)
		})
	}
}

// BenchmarkRead is reading stored bodies for a replay, 256 KiB at a time.
func BenchmarkRead(b *testing.B) {
	const stored, page = 50_000, 256 << 10
	s := filled(b, Options{Sync: SyncNever}, stored)
	b.SetBytes(payloadBytes)
	b.ReportAllocs()
	b.ResetTimer()
	from := mq9.MsgID(0)
	for n := 0; n < b.N; {
		messages, err := s.Read(1, mq9.Critical, from, page)
		if err != nil {
			b.Fatal(err)
		}
		if from = 0; len(messages) > 0 {
			from = messages[len(messages)-1].ID + 1
		}
		n += len(messages)
	}
}
