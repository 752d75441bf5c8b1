package actors

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

// Figures are right as soon as the sender has its reply, and stay so through a crash and the mailbox's end.
func TestALoneMessageIsCountedAtOnce(t *testing.T) {
	w := newWorld(t, Config{})
	must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{Public: true, Name: "counted", TTL: 2}))
	figures := func() Counts { return w.broker.Stats().ByPriority[mq9.Critical] }
	holds := func(messages int64) { w.t.Helper(); w.Expect(figures().Stored.Messages).To(gomega.Equal(messages)) }
	for n := range int64(3) {
		w.send("counted", mq9.Critical, "x")
		holds(n + 1)
	}
	w.client.known["counted"].send(bomb("counted"))
	w.Eventually(w.broker.Restarts).Should(gomega.BeEquivalentTo(1))
	w.send("counted", mq9.Critical, "x")
	w.Expect(must[mq9.ListReply](w)(w.list("counted", mq9.PageRequest{})).Messages).To(gomega.HaveLen(4))
	holds(4)

	w.Eventually(func() uint64 { return w.broker.Stats().Expired }).Should(gomega.BeEquivalentTo(1))
	w.Expect(figures().Published.Messages).To(gomega.BeEquivalentTo(4))
	w.Eventually(func() int64 { return figures().Expired.Messages }).Should(gomega.BeEquivalentTo(4))
	holds(0)
}

// lateStore reports what became of messages when it is let.
type lateStore struct {
	*persistence.Store
	reports chan func()
}

func (s *lateStore) Commit(c mq9.Change, done func(error)) {
	if _, ok := c.(mq9.AppendMessages); !ok {
		s.Store.Commit(c, done)
		return
	}
	s.Store.Commit(c, func(err error) { s.reports <- func() { done(err) } })
}

// A message lands when its mailbox has ended: it was stored, and it went with the others.
func TestWhatLandsBehindTheEndIsAnsweredAndCounted(t *testing.T) {
	for name, messages := range map[string]int{"alone": 1, "among others": 2} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Config{})
			late := &lateStore{w.store, make(chan func(), 1)}
			broker, err := Start(late, Config{})
			w.Expect(err).NotTo(gomega.HaveOccurred())
			defer broker.Stop()
			w.client = broker.NewClient("A")
			must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{Public: true, Name: "over", TTL: 1}))
			answers := make(chan *mq9.Error, messages)
			for range messages {
				w.client.Send("over", Draft{Priority: mq9.Urgent, Payload: []byte("x")}, receipt(func(_ mq9.MsgID, err *mq9.Error) { answers <- err }))
			}
			w.client.Flush()
			w.Eventually(func() uint64 { return broker.Stats().Expired }).Should(gomega.BeEquivalentTo(1))
			w.Eventually(w.client.known["over"].ended).Should(gomega.BeTrue())
			(<-late.reports)()
			for range messages {
				w.Eventually(answers).Should(gomega.Receive(gomega.Or(gomega.BeNil(), gomega.Equal(mq9.ErrNoMailbox))))
			}
			w.Consistently(answers, "20ms").ShouldNot(gomega.Receive(), "once each")
			counts := broker.Stats().ByPriority[mq9.Urgent]
			w.Expect(counts.Expired.Messages).To(gomega.BeEquivalentTo(messages))
			w.Expect(counts.Stored.Messages).To(gomega.BeZero())
		})
	}
}
