package persistence

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestReopenFindsWhatWasStored(t *testing.T) {
	for _, mode := range []Sync{SyncAlways, SyncInterval, SyncNever} {
		t.Run(mode.String(), func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := t.TempDir()
			s := open(t, dir, Options{Sync: mode})
			var want []*mq9.Message
			for number := range uint64(3) {
				commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number + 1)})
				for id := range mq9.MsgID(10) {
					commit(g, s, mq9.AppendMessages{Number: number + 1, Messages: []*mq9.Message{message(id, mq9.Urgent)}})
				}
			}
			for id := range mq9.MsgID(10) {
				if id%3 == 0 {
					commit(g, s, mq9.DeleteMessage{Number: 2, Priority: mq9.Urgent, ID: id})
				} else {
					want = append(want, message(id, mq9.Urgent))
				}
			}
			commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(1)})
			for range 3 {
				g.Expect(s.Close()).To(gomega.Succeed())
				s = open(t, dir, Options{Sync: mode})
				g.Expect(mailboxes(g, s)).To(gomega.ConsistOf(*mailbox(2), *mailbox(3)))
				g.Expect(readAll(g, s, 2, mq9.Urgent)).To(gomega.Equal(want))
				g.Expect(index(g, s, 3)).To(gomega.HaveLen(10))
				err := tryCommit(s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(1, mq9.Urgent)}})
				g.Expect(err).To(gomega.MatchError(mq9.ErrNoMailbox), "still expired")
				commit(g, s, mq9.AppendMessages{Number: 3, Messages: []*mq9.Message{message(1, mq9.Urgent)}})
			}
		})
	}
}

// A crash, unlike Close, syncs nothing; what is acknowledged is in the log all the same.
func TestCrashFindsWhatWasAcknowledged(t *testing.T) {
	for _, mode := range []Sync{SyncAlways, SyncInterval, SyncNever} {
		t.Run(mode.String(), func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := t.TempDir()
			s := open(t, dir, Options{Sync: mode})
			fillOneByOne(g, s, 50)
			g.Expect(s.ReserveIDs(1000)).To(gomega.BeEquivalentTo(1))
			after := open(t, clone(t, dir), Options{Sync: mode})
			g.Expect(index(g, after, 1)).To(gomega.HaveLen(50))
			g.Expect(after.ReserveIDs(1)).To(gomega.BeEquivalentTo(1001))
		})
	}
}

func TestIDsGoOnAlthoughNothingIsLeft(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	next := uint64(1)
	for round := range uint64(5) {
		s := open(t, dir, Options{Sync: SyncNever})
		g.Expect(s.ReserveIDs(100)).To(gomega.Equal(next))
		number, id := next, mq9.MsgID(next+1)
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number)})
		commit(g, s, mq9.AppendMessages{Number: number, Messages: []*mq9.Message{message(id, mq9.Critical)}})
		commit(g, s, mq9.DeleteMessage{Number: number, Priority: mq9.Critical, ID: id})
		commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(number)})
		g.Expect(mailboxes(g, s)).To(gomega.BeEmpty())
		next += 100
		if round%2 == 0 {
			g.Expect(s.Close()).To(gomega.Succeed())
		} else {
			dir = clone(t, dir)
		}
	}
}

func TestPurgeGoesOnAfterReopen(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	var broken atomic.Bool
	s := open(t, dir, Options{beforeWrite: func() error {
		if broken.Load() {
			return errors.New("broken on purpose")
		}
		return nil
	}})
	const n = 3*purgeBatch + 1
	for number := range uint64(3) {
		s.Commit(mq9.CreateMailbox{Mailbox: mailbox(number + 1)}, nil)
		for id := range mq9.MsgID(n) {
			s.Commit(mq9.AppendMessages{Number: number + 1, Messages: []*mq9.Message{message(id, mq9.Priority(id%2))}}, nil)
		}
	}
	for _, number := range []uint64{1, 3} {
		expired := make(chan error, 1)
		s.Commit(mq9.ExpireMailbox{Mailbox: mailbox(number)}, func(err error) {
			broken.Store(true) // before the purger, who is told already, can write
			expired <- err
		})
		g.Expect(<-expired).To(gomega.Succeed())
		broken.Store(number == 3)
	}
	g.Expect(index(g, s, 3)).NotTo(gomega.BeEmpty(), "the purge has not been able to finish")
	g.Expect(s.Close()).To(gomega.Succeed())

	s = open(t, dir, Options{})
	g.Eventually(func() int { return stored(g, s, familyGraveyard) }).WithTimeout(longest).Should(gomega.BeZero())
	g.Expect(stored(g, s, familyMessages)).To(gomega.Equal(n))
	g.Expect(index(g, s, 2)).To(gomega.HaveLen(n))
}

func TestPurgeTriesAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	var failures atomic.Int32
	s := open(t, t.TempDir(), Options{beforeWrite: func() error {
		if failures.Add(-1) >= 0 {
			return errors.New("broken on purpose")
		}
		return nil
	}})
	fillOneByOne(g, s, 10)
	expired := make(chan error, 1)
	s.Commit(mq9.ExpireMailbox{Mailbox: mailbox(1)}, func(err error) {
		failures.Store(2)
		expired <- err
	})
	g.Expect(<-expired).To(gomega.Succeed())
	g.Eventually(func() int { return stored(g, s, familyMessages) }).WithTimeout(longest).Should(gomega.BeZero())
	g.Eventually(func() int { return stored(g, s, familyGraveyard) }).WithTimeout(longest).Should(gomega.BeZero())
}

// stored counts the keys of a family.
func stored(g gomega.Gomega, s *Store, f family) (n int) {
	g.Expect(s.read(scan{family: f}, func(_, _ []byte) (bool, error) { n++; return true, nil })).To(gomega.Succeed())
	return n
}
