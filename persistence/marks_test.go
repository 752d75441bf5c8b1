package persistence

import (
	"bytes"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// deleteFront stores n messages of a tier and deletes all but the last, as a mailbox actor does.
func deleteFront(g gomega.Gomega, s store, number uint64, p mq9.Priority, n int) {
	outcomes := make(chan error, 2*n)
	note := func(err error) { outcomes <- err }
	for id := range mq9.MsgID(n) {
		s.Commit(mq9.AppendMessages{Number: number, Messages: []*mq9.Message{message(id+1, p)}}, note)
	}
	for id := range mq9.MsgID(n - 1) {
		s.Commit(mq9.DeleteMessage{Number: number, Priority: p, ID: id + 1, First: id + 1}, note)
	}
	for range 2*n - 1 {
		g.Expect(<-outcomes).To(gomega.Succeed())
	}
}

func beginsBehindWhatWasDeleted(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	const n = 3*markEvery + 1
	for number := range uint64(3) {
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number + 1)})
		deleteFront(g, s, number+1, mq9.Critical, n)
		deleteFront(g, s, number+1, mq9.Urgent, n)
	}
	g.Expect(index(g, s, 2)).To(gomega.Equal([]mq9.Entry{message(n, mq9.Critical).Entry(), message(n, mq9.Urgent).Entry()}))
	for p := range mq9.Normal {
		for _, from := range []mq9.MsgID{0, 1, n} {
			got, err := s.Read(2, p, from, 1000)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(got).To(gomega.Equal([]*mq9.Message{message(n, p)}), "from %d", from)
		}
	}
	commit(g, s, mq9.DeleteMessage{Number: 2, Priority: mq9.Critical, ID: n, First: n})
	g.Expect(index(g, s, 2)).To(gomega.Equal([]mq9.Entry{message(n, mq9.Urgent).Entry()}), "nothing is left behind the mark")
	commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(2)})
	g.Eventually(func() []mq9.Entry { return index(g, s, 2) }).Should(gomega.BeEmpty())
	g.Expect(index(g, s, 3)).To(gomega.HaveLen(2))
}

func TestReadsBeginAtTheMark(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	s := open(t, dir, Options{})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	deleteFront(g, s, 1, mq9.Urgent, markEvery+1)
	// Something below the mark, which no store would put there, shows where a read begins.
	record := appendMessage(nil, message(5, mq9.Urgent))
	overwrite(g, s, familyMessages, appendMessageKey(nil, 1, mq9.Urgent, 5), record)
	for range 2 {
		g.Expect(index(g, s, 1)).To(gomega.HaveLen(1))
		g.Expect(readAll(g, s, 1, mq9.Urgent)).To(gomega.HaveLen(1))
		g.Expect(s.Close()).To(gomega.Succeed())
		s = open(t, dir, Options{})
	}
	commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(1)})
	g.Eventually(func() int { return stored(g, s, familyMessages) }).Should(gomega.BeZero(), "the mark goes with its mailbox")
}

func TestAMarkNeedsToBeDue(t *testing.T) {
	g := gomega.NewWithT(t)
	s := open(t, t.TempDir(), Options{SyncInterval: time.Hour})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	deleteFront(g, s, 1, mq9.Urgent, markEvery)
	g.Expect(stored(g, s, familyMessages)).To(gomega.Equal(1), "one deletion too few")
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: 1})
	g.Expect(stored(g, s, familyMessages)).To(gomega.Equal(1), "an unknown first is no mark")
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: 2, First: markEvery})
	g.Expect(stored(g, s, familyMessages)).To(gomega.Equal(2))
}

func TestMarksThatAreNone(t *testing.T) {
	g := gomega.NewWithT(t)
	s := open(t, t.TempDir(), Options{})
	for what, c := range map[string]struct{ key, value []byte }{
		"a short id":                  {appendTier(nil, 1, mq9.Critical), make([]byte, 7)},
		"a long id":                   {appendTier(nil, 1, mq9.Critical), make([]byte, 9)},
		"a tier that is not durable":  {appendTier(nil, 1, mq9.Normal), make([]byte, 8)},
		"neither mark nor a message":  {append(appendTier(nil, 1, mq9.Critical), 0), make([]byte, 8)},
		"a mailbox without a tier":    {appendNumber(nil, 1), make([]byte, 8)},
		"a mark with a message's key": {appendMessageKey(nil, 1, mq9.Critical, 1), make([]byte, 8)},
	} {
		overwrite(g, s, familyMessages, c.key, c.value)
		g.Expect(s.Index(1, func(mq9.Entry) {})).To(gomega.MatchError(ErrCorrupt), what)
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
		commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(1)})
		g.Eventually(func() int { return stored(g, s, familyMessages) }).WithTimeout(longest).Should(gomega.BeZero())
	}
}

func FuzzPastMark(f *testing.F) {
	f.Add(appendTier(nil, 7, mq9.Urgent), make([]byte, 8))
	f.Add(appendMessageKey(nil, 7, mq9.Urgent, 1), []byte(nil))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		to, err := pastMark(key, value)
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		if to != nil && (bytes.Compare(to, key) <= 0 || len(to) != messageKeyLength) {
			t.Errorf("a scan that stands on %x would go on at %x", key, to)
		}
	})
}

// The case of a million has its program in benchmarks/persistence.
func TestFirstMessageBehindManyDeletions(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	s := open(t, dir, Options{Sync: SyncNever})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	const n = 200_000
	deleteFront(g, s, 1, mq9.Urgent, n)
	for _, when := range []string{"before a restart", "right after a restart"} {
		best := time.Hour // the machine may be busy with other tests
		for range 3 {
			began := time.Now()
			g.Expect(index(g, s, 1)).To(gomega.HaveLen(1))
			g.Expect(readAll(g, s, 1, mq9.Urgent)).To(gomega.HaveLen(1))
			best = min(best, time.Since(began))
		}
		g.Expect(best).To(gomega.BeNumerically("<", 100*time.Millisecond), when)
		g.Expect(s.Close()).To(gomega.Succeed())
		s = open(t, dir, Options{Sync: SyncNever})
	}
}
