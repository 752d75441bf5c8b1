package persistence

import (
	"fmt"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// longest bounds a wait that ends much sooner on any machine that is not overloaded.
const longest = 30 * time.Second

// open opens a store that logs to the test and is closed at its end if the test did not do so.
func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func tryCommit(s store, c mq9.Change) error {
	outcome := make(chan error, 1)
	s.Commit(c, func(err error) { outcome <- err })
	return <-outcome
}

func commit(g gomega.Gomega, s store, c mq9.Change) {
	g.Expect(tryCommit(s, c)).To(gomega.Succeed())
}

func mailboxes(g gomega.Gomega, s store) (all []mq9.Mailbox) {
	g.Expect(s.Mailboxes(func(m mq9.Mailbox) error { all = append(all, m); return nil })).To(gomega.Succeed())
	return all
}

func index(g gomega.Gomega, s store, number uint64) (all []mq9.Entry) {
	g.Expect(s.Index(number, func(e mq9.Entry) { all = append(all, e) })).To(gomega.Succeed())
	return all
}

func readAll(g gomega.Gomega, s store, number uint64, p mq9.Priority) []*mq9.Message {
	all, err := s.Read(number, p, 0, math.MaxInt)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return all
}

func idsOf(messages []*mq9.Message) (all []mq9.MsgID) {
	for _, m := range messages {
		all = append(all, m.ID)
	}
	return all
}

func mailbox(number uint64) *mq9.Mailbox {
	return &mq9.Mailbox{
		Number: number, Account: "$G", ID: mq9.MailID(fmt.Sprintf("box.%d", number)), Public: true,
		Desc: "a box", TTL: 3600, Created: 1_700_000_000_000_000_000,
	}
}

func message(id mq9.MsgID, p mq9.Priority) *mq9.Message {
	return &mq9.Message{
		ID: id, Priority: p, At: int64(id) + 1, Header: []byte("K: v\r\n"), Payload: fmt.Appendf(nil, "body %d", id),
	}
}
