package persistence

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func doesTwiceAsOnce(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	for range 2 {
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	}
	for range 2 {
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(1, mq9.Urgent)}})
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(2, mq9.Urgent)}})
	}
	g.Expect(index(g, s, 1)).To(gomega.HaveLen(2))
	for range 2 {
		commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: 1})
	}
	g.Expect(index(g, s, 1)).To(gomega.HaveLen(1))
	for range 2 {
		commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(1)})
	}
	g.Expect(mailboxes(g, s)).To(gomega.BeEmpty())
}

func refusesInvalid(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	with := func(change func(*mq9.Mailbox)) mq9.Change {
		m := mailbox(5)
		change(m)
		return mq9.CreateMailbox{Mailbox: m}
	}
	for what, c := range map[string]mq9.Change{
		"nothing":             nil,
		"no mailbox":          mq9.CreateMailbox{},
		"no mailbox's expiry": mq9.ExpireMailbox{},
		"no message":          mq9.AppendMessages{Number: 1},
		"a normal message":    mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(1, mq9.Normal)}},
		"a normal message behind a durable one": mq9.AppendMessages{
			Number: 1, Messages: []*mq9.Message{message(7, mq9.Critical), message(8, mq9.Normal)},
		},
		"the number 0":      with(func(m *mq9.Mailbox) { m.Number = 0 }),
		"no ttl":            with(func(m *mq9.Mailbox) { m.TTL = 0 }),
		"negative inflight": with(func(m *mq9.Mailbox) { m.MaxInflight = -1 }),
		"no mail_id":        with(func(m *mq9.Mailbox) { m.ID = "" }),
		"a huge account":    with(func(m *mq9.Mailbox) { m.Account = string(make([]byte, 1<<16)) }),
	} {
		refused, good := make(chan error, 1), make(chan error, 1)
		s.Commit(c, func(err error) { refused <- err })
		s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(1, mq9.Critical)}}, func(err error) { good <- err })
		g.Expect(<-refused).To(gomega.MatchError(ErrInvalid), what)
		g.Expect(<-good).To(gomega.Succeed(), "the one after %s", what)
	}
	g.Expect(mailboxes(g, s)).To(gomega.HaveLen(1))
	_, err := s.ReserveIDs(0)
	g.Expect(err).To(gomega.MatchError(ErrInvalid))
	g.Expect(s.ReserveIDs(1)).To(gomega.BeEquivalentTo(1))
	_, err = s.ReserveIDs(math.MaxUint64)
	g.Expect(err).To(gomega.MatchError(ErrInvalid))
	g.Expect(s.Err()).NotTo(gomega.HaveOccurred())
}

func tellsInOrder(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	const n = 5000
	var told []int // by the store's goroutine alone, until the last
	last := make(chan struct{})
	for i := range n {
		s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(mq9.MsgID(i), mq9.Critical)}}, func(err error) {
			if err == nil {
				told = append(told, i)
			}
			if i == n-1 {
				close(last)
			}
		})
	}
	s.Commit(mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 0}, nil)
	g.Eventually(last).WithTimeout(longest).Should(gomega.BeClosed())
	g.Expect(told).To(gomega.HaveLen(n))
	g.Expect(slices.IsSorted(told)).To(gomega.BeTrue())
}

func neverReusesIDs(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	var (
		mu    sync.Mutex
		seen  = map[uint64]bool{}
		group sync.WaitGroup
	)
	for range 4 {
		group.Go(func() {
			last := uint64(0)
			for n := range uint64(20) {
				first, err := s.ReserveIDs(n + 1)
				mu.Lock()
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(first).To(gomega.BeNumerically(">", last))
				for id := first; id <= first+n; id++ {
					g.Expect(seen).NotTo(gomega.HaveKey(id))
					seen[id] = true
				}
				last = first + n
				mu.Unlock()
			}
		})
	}
	group.Wait()
	g.Expect(seen).To(gomega.HaveKey(uint64(1)))
	g.Expect(seen).NotTo(gomega.HaveKey(uint64(0)))
}

func isSafeForConcurrentUse(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	const writers, each = 4, 200
	var group sync.WaitGroup
	for w := range uint64(writers) {
		number := w + 1
		group.Go(func() {
			g.Expect(tryCommit(s, mq9.CreateMailbox{Mailbox: mailbox(number)})).To(gomega.Succeed())
			var mine sync.WaitGroup
			for id := range mq9.MsgID(each) {
				mine.Add(1)
				s.Commit(mq9.AppendMessages{Number: number, Messages: []*mq9.Message{message(id, mq9.Critical)}}, func(error) { mine.Done() })
			}
			mine.Wait()
		})
		group.Go(func() {
			for range 50 {
				g.Expect(s.Mailboxes(func(mq9.Mailbox) error { return nil })).To(gomega.Succeed())
				g.Expect(s.Index(number, func(mq9.Entry) {})).To(gomega.Succeed())
				got, err := s.Read(number, mq9.Critical, 0, 1<<20)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				for i, m := range got {
					g.Expect(m.ID).To(gomega.BeEquivalentTo(i), "a prefix, whatever is being written")
				}
				g.Expect(s.Err()).To(gomega.Succeed())
			}
		})
	}
	group.Wait()
	for w := range uint64(writers) {
		g.Expect(index(g, s, w+1)).To(gomega.HaveLen(each))
	}
}

func closesOrderly(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	var outcomes []error
	note := func(err error) { outcomes = append(outcomes, err) }
	s.Commit(mq9.CreateMailbox{Mailbox: mailbox(1)}, note)
	for id := range mq9.MsgID(100) {
		s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(id, mq9.Critical)}}, note)
	}
	g.Expect(s.Close()).To(gomega.Succeed())
	g.Expect(outcomes).To(gomega.HaveLen(101))
	g.Expect(outcomes).To(gomega.HaveEach(gomega.BeNil()))

	s.Commit(mq9.CreateMailbox{Mailbox: mailbox(2)}, note)
	s.Commit(mq9.CreateMailbox{Mailbox: mailbox(2)}, nil)
	g.Expect(outcomes).To(gomega.HaveLen(102))
	_, readErr := s.Read(1, mq9.Critical, 0, 1)
	_, idsErr := s.ReserveIDs(1)
	for what, err := range map[string]error{
		"Commit":     outcomes[101],
		"Mailboxes":  s.Mailboxes(func(mq9.Mailbox) error { return nil }),
		"Index":      s.Index(1, func(mq9.Entry) {}),
		"Read":       readErr,
		"ReserveIDs": idsErr,
		"Err":        s.Err(),
	} {
		g.Expect(err).To(gomega.MatchError(ErrClosed), what)
		g.Expect(mq9.AsError(err).Code).To(gomega.Equal(mq9.CodeUnavailable), what)
	}
}

func closesUnderLoad(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	started := make(chan struct{}, 8)
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			var mine sync.WaitGroup
			outstanding := make(chan struct{}, 100)
			refused, last := false, false
			for id := 0; !last; id++ {
				mine.Add(1)
				outstanding <- struct{}{}
				m := message(mq9.MsgID(w<<32|id), mq9.Critical)
				s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{m}}, func(err error) {
					g.Expect(refused && err == nil).To(gomega.BeFalse(), "accepted after a refusal")
					refused = refused || err != nil
					<-outstanding
					mine.Done()
				})
				if id == 100 {
					started <- struct{}{}
				}
				last = s.Err() != nil
			}
			mine.Wait()
		})
		group.Go(func() {
			for s.Err() == nil {
				if _, err := s.Read(1, mq9.Critical, 0, 1000); err != nil {
					g.Expect(err).To(gomega.MatchError(ErrClosed))
				}
			}
		})
	}
	for range 4 {
		<-started
	}
	g.Expect(s.Close()).To(gomega.Succeed())
	group.Wait()
}

func knowsWhatIsOutstanding(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	g.Expect(s.Outstanding()).To(gomega.BeZero())
	var seen []int // owned by the committer, then by the test
	first, last := make(chan bool), make(chan bool)
	s.Commit(mq9.CreateMailbox{Mailbox: mailbox(1)}, func(error) { <-first })
	for id := range mq9.MsgID(3) {
		s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(id, mq9.Critical)}}, func(error) { seen = append(seen, s.Outstanding()) })
	}
	s.Commit(mq9.AppendMessages{Number: 1}, nil) // refused, and nobody is told
	s.Commit(mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 1}, func(error) { seen = append(seen, s.Outstanding()); close(last) })
	g.Expect(s.Outstanding()).To(gomega.BeNumerically(">=", 5))
	close(first)
	<-last
	g.Expect(seen).To(gomega.Equal([]int{4, 3, 2, 0}))
}
