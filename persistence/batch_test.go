package persistence

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// gate lets a test hold writes up and make them fail.
type gate struct {
	mu       sync.Mutex
	failure  error
	reached  chan struct{} // gets a token when a held write begins
	released chan struct{} // closed to let held writes go; nil = writes are not held
}

func (b *gate) beforeWrite() error {
	b.mu.Lock()
	reached, released := b.reached, b.released
	b.mu.Unlock()
	if released != nil {
		reached <- struct{}{}
		<-released
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// hold stops the next writes; wait tells when one stands, release lets them all go.
func (b *gate) hold() (wait, release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	reached, released := make(chan struct{}, 1), make(chan struct{})
	b.reached, b.released = reached, released
	return func() { <-reached }, func() {
		b.mu.Lock()
		b.released = nil
		b.mu.Unlock()
		close(released)
	}
}

func (b *gate) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failure = err
}

// observed collects what Options.Observe is told.
type observed struct {
	mu      sync.Mutex
	batches []Batch
}

func (o *observed) add(b Batch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batches = append(o.batches, b)
}

func (o *observed) sizes() (all []int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range o.batches {
		all = append(all, b.Changes)
	}
	return all
}

func TestGroupCommit(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		want    []int // sizes of the batches: the mailbox, the one that was held, and what gathered behind it
	}{
		"one batch for all that wait": {Options{}, []int{1, 1, 1000}},
		"bounded by count":            {Options{MaxBatchChanges: 400}, []int{1, 1, 400, 400, 200}},
		"bounded by bytes":            {Options{MaxBatchBytes: 500 * loadOf(mq9.AppendMessages{Messages: []*mq9.Message{message(100, 0)}}).bytes}, []int{1, 1, 500, 500}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var writes gate
			var seen observed
			c.options.Observe, c.options.beforeWrite = seen.add, writes.beforeWrite
			s := open(t, t.TempDir(), c.options)
			commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})

			wait, release := writes.hold()
			var group sync.WaitGroup
			appendOne := func(id mq9.MsgID) {
				group.Add(1)
				s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(id, mq9.Critical)}}, func(error) { group.Done() })
			}
			appendOne(99)
			wait()
			for id := range mq9.MsgID(1000) {
				appendOne(100 + id%900) // ids of three digits: all of one size
			}
			g.Expect(s.Queued()).To(gomega.Equal(1000))
			release()
			group.Wait()
			g.Expect(s.Close()).To(gomega.Succeed())
			g.Expect(seen.sizes()).To(gomega.Equal(c.want))
			g.Expect(seen.batches[1]).To(gomega.And(gomega.HaveField("Queued", 1000), gomega.HaveField("Err", gomega.BeNil()), gomega.HaveField("Took", gomega.BeNumerically(">", 0))))
		})
	}
}

func TestFailedBatchFailsExactlyItsWaiters(t *testing.T) {
	g := gomega.NewWithT(t)
	var writes gate
	var log bytes.Buffer // written by the committer, read after Close
	s := open(t, t.TempDir(), Options{beforeWrite: writes.beforeWrite, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(1, mq9.Critical)}})

	// The first write is held; the second batch fails; the third is written.
	wait, release := writes.hold()
	outcomes := make(chan error, 100)
	note := func(err error) { outcomes <- err }
	s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(2, mq9.Critical)}}, func(err error) {
		writes.fail(errors.New("disk\non fire"))
		note(err)
	})
	wait()
	failing := []mq9.Change{
		mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(3, mq9.Critical)}},
		mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 1},
		mq9.CreateMailbox{Mailbox: mailbox(2)},
		mq9.AppendMessages{Number: 2, Messages: []*mq9.Message{message(4, mq9.Critical)}},
		mq9.ExpireMailbox{Mailbox: mailbox(2)},
		mq9.ExpireMailbox{Mailbox: mailbox(1)},
	}
	for _, c := range failing {
		s.Commit(c, note)
	}
	s.Commit(mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 1}, func(err error) {
		writes.fail(nil)
		note(err)
	})
	release()
	g.Expect(<-outcomes).To(gomega.Succeed(), "the batch before")
	for range len(failing) + 1 {
		err := <-outcomes
		g.Expect(mq9.AsError(err)).To(gomega.Equal(mq9.ErrUnavailable))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("disk on fire")))
	}
	commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(5, mq9.Critical)}})
	g.Expect(s.Err()).To(gomega.Succeed())
	g.Expect(idsOf(readAll(g, s, 1, mq9.Critical))).To(gomega.Equal([]mq9.MsgID{1, 2, 5}))
	g.Expect(mailboxes(g, s)).To(gomega.ConsistOf(*mailbox(1)))
	err := tryCommit(s, mq9.AppendMessages{Number: 2, Messages: []*mq9.Message{message(6, mq9.Critical)}})
	g.Expect(err).To(gomega.MatchError(mq9.ErrNoMailbox), "its creation failed")
	g.Expect(s.Close()).To(gomega.Succeed())
	g.Expect(strings.Count(log.String(), "durable writes fail")).To(gomega.Equal(1))
	g.Expect(log.String()).To(gomega.ContainSubstring("durable writes work again"))
	g.Expect(log.String()).NotTo(gomega.ContainSubstring("box."))
}

func TestErrSaysWhetherWritesFail(t *testing.T) {
	g := gomega.NewWithT(t)
	var writes gate
	s := open(t, t.TempDir(), Options{beforeWrite: writes.beforeWrite})
	fillOneByOne(g, s, 3)
	g.Expect(s.ReserveIDs(10)).To(gomega.BeEquivalentTo(1))
	g.Expect(s.Err()).To(gomega.Succeed())

	writes.fail(errors.New("no space left"))
	for range 20 {
		g.Expect(tryCommit(s, mq9.CreateMailbox{Mailbox: mailbox(2)})).To(gomega.MatchError(mq9.ErrUnavailable))
	}
	_, err := s.ReserveIDs(10)
	g.Expect(err).To(gomega.MatchError(mq9.ErrUnavailable))
	g.Expect(s.Err()).To(gomega.And(gomega.MatchError(mq9.ErrUnavailable), gomega.MatchError(gomega.ContainSubstring("no space left"))))
	g.Expect(index(g, s, 1)).To(gomega.HaveLen(3), "reads go on")

	writes.fail(nil)
	g.Eventually(s.Err).WithTimeout(longest).Should(gomega.Succeed(), "nobody has to write for it to be noticed")
	g.Expect(s.ReserveIDs(10)).To(gomega.BeEquivalentTo(11))
}

func TestMemoryFailsOnRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewMemory()
	fill := func() error { return tryCommit(s, mq9.CreateMailbox{Mailbox: mailbox(1)}) }
	s.FailWrites(errors.New("no space left"))
	g.Expect(fill()).To(gomega.And(gomega.MatchError(mq9.ErrUnavailable), gomega.MatchError(gomega.ContainSubstring("no space left"))))
	g.Expect(s.Err()).To(gomega.MatchError(mq9.ErrUnavailable))
	_, err := s.ReserveIDs(10)
	g.Expect(err).To(gomega.MatchError(mq9.ErrUnavailable))
	g.Expect(mailboxes(g, s)).To(gomega.BeEmpty())
	s.FailWrites(nil)
	g.Expect(s.Err()).To(gomega.Succeed())
	g.Expect(fill()).To(gomega.Succeed())
	g.Expect(s.ReserveIDs(10)).To(gomega.BeEquivalentTo(1))
	g.Expect(s.Close()).To(gomega.Succeed())
}
