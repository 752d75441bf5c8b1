package persistence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// A sender works on a mailbox of its own: it sends message 1, 2, 3 …, all in one order, and deletes each third as soon as it is sent.
type sender struct {
	number        uint64
	issued, acked atomic.Int64 // how many operations, in their order
}

// operations of a sender, in order: messages 1 2 3, the deletion of 3, messages 4 5 6, the deletion of 6 …
func (w *sender) operation(i int64) mq9.Change {
	round, step := i/4, i%4
	if step == 3 {
		return mq9.DeleteMessage{Number: w.number, Priority: mq9.Critical, ID: mq9.MsgID(round*3 + 3)}
	}
	return mq9.AppendMessages{Number: w.number, Messages: []*mq9.Message{message(mq9.MsgID(round*3+step+1), mq9.Critical)}}
}

// after is what is stored after the first n operations.
func (w *sender) after(n int64) (ids []mq9.MsgID) {
	for i := range n {
		switch c := w.operation(i).(type) {
		case mq9.AppendMessages:
			ids = append(ids, c.Messages[0].ID)
		case mq9.DeleteMessage:
			ids = ids[:len(ids)-1]
		}
	}
	return ids
}

// run sends until stop is closed.
func (w *sender) run(s *Store, stop <-chan struct{}) error {
	room := make(chan struct{}, 64)
	var failed atomic.Pointer[error]
	for i := int64(0); ; i++ {
		select {
		case <-stop:
			for range cap(room) {
				room <- struct{}{}
			}
			if err := failed.Load(); err != nil {
				return *err
			}
			return nil
		case room <- struct{}{}:
		}
		w.issued.Store(i + 1)
		s.Commit(w.operation(i), func(err error) {
			if err != nil {
				failed.Store(&err)
			}
			w.acked.Store(i + 1)
			<-room
		})
	}
}

// bounds are how many operations a snapshot may hold.
type bounds struct{ least, most int64 }

// allow reports whether ids is what a number of operations within the bounds makes of a mailbox.
func (b bounds) allow(w *sender, ids []mq9.MsgID) bool {
	for n := b.least; n <= b.most; n++ {
		if slices.Equal(w.after(n), ids) {
			return true
		}
	}
	return false
}

// A snapshot under load holds, of each mailbox, what its first so-and-so many operations made of it: all that were acknowledged
// when it was asked for, and none that were not yet issued when it was there.
func TestSnapshotUnderLoadIsAPrefix(t *testing.T) {
	g := gomega.NewWithT(t)
	home := t.TempDir()
	s := open(t, filepath.Join(home, "data"), Options{MemtableBytes: 256 << 10}) // flushes and compactions go on all the time
	const senders, snapshots = 4, 4
	first, err := s.ReserveIDs(1 << 20)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var all [senders]sender
	var running sync.WaitGroup
	stop := make(chan struct{})
	for i := range all {
		all[i].number = first + uint64(i)
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(all[i].number)})
		running.Go(func() { g.Expect(all[i].run(s, stop)).To(gomega.Succeed()) })
	}
	var taken [snapshots][senders]bounds
	for n := range snapshots {
		g.Eventually(func() int64 { return all[0].acked.Load() }).WithTimeout(longest).Should(gomega.BeNumerically(">", n*200))
		for i := range all {
			taken[n][i].least = all[i].acked.Load()
		}
		g.Expect(s.Checkpoint(filepath.Join(home, fmt.Sprint("snapshot", n)))).To(gomega.Succeed())
		for i := range all {
			taken[n][i].most = all[i].issued.Load()
		}
	}
	close(stop)
	running.Wait()
	last, err := s.ReserveIDs(1 << 20) // the store goes on after its snapshots
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(s.Close()).To(gomega.Succeed())

	for n := range snapshots {
		restored := filepath.Join(home, fmt.Sprint("restored", n))
		g.Expect(Restore(filepath.Join(home, fmt.Sprint("snapshot", n)), restored, Options{})).To(gomega.Succeed())
		r := open(t, restored, Options{})
		g.Expect(mailboxes(g, r)).To(gomega.HaveLen(senders))
		for i := range all {
			got := idsOf(readAll(g, r, all[i].number, mq9.Critical))
			g.Expect(taken[n][i].allow(&all[i], got)).To(gomega.BeTrue(), "mailbox %d of snapshot %d, %+v: %v", i, n, taken[n][i], got)
		}
		next, err := r.ReserveIDs(1)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(next).To(gomega.BeNumerically(">", last+1<<20), "an id of the store that went on")
		g.Expect(r.Close()).To(gomega.Succeed())
	}
}

func TestSnapshotAndStorePartWays(t *testing.T) {
	g := gomega.NewWithT(t)
	home := t.TempDir()
	s := open(t, filepath.Join(home, "data"), Options{})
	fillOneByOne(g, s, 10)
	snapshot := filepath.Join(home, "snapshot")
	g.Expect(s.Checkpoint(snapshot + "/")).To(gomega.Succeed())
	info, err := os.Stat(snapshot)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(info.Mode().Perm()).To(gomega.BeEquivalentTo(0o700))
	g.Expect(snapshot + ".partial").NotTo(gomega.BeADirectory())
	commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(10, mq9.Critical)}})
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 3})
	s.mu.engine.compact(familyMessages) // the store's old files go, the snapshot's links to them stay

	used := uint64(0)
	for n := range 3 { // the same snapshot again and again, each life longer than nothing
		restored := filepath.Join(home, fmt.Sprint("restored", n))
		g.Expect(Restore(snapshot, restored, Options{})).To(gomega.Succeed())
		r := open(t, restored, Options{})
		g.Expect(readAll(g, r, 1, mq9.Critical)).To(gomega.HaveLen(10))
		if n == 0 {
			used, err = r.ReserveIDs(1)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(used).To(gomega.BeNumerically(">", 1<<40))
		}
		g.Expect(filepath.Join(restored, snapshotFile)).NotTo(gomega.BeAnExistingFile())
		g.Expect(r.Close()).To(gomega.Succeed())
	}
	g.Expect(readAll(g, s, 1, mq9.Critical)).To(gomega.HaveLen(10))

	// Opened where it is, it becomes a store too, and its ids move on as well.
	r := open(t, snapshot, Options{})
	next, err := r.ReserveIDs(1)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(next).To(gomega.BeNumerically(">=", used))
	g.Expect(r.Close()).To(gomega.Succeed())
	g.Expect(Restore(snapshot, filepath.Join(home, "late"), Options{})).To(gomega.MatchError(ErrNoSnapshot))
}

func TestCheckpointRefuses(t *testing.T) {
	g := gomega.NewWithT(t)
	home := t.TempDir()
	s := open(t, filepath.Join(home, "data"), Options{})
	fillOneByOne(g, s, 3)
	taken := filepath.Join(home, "taken")
	g.Expect(s.Checkpoint(taken)).To(gomega.Succeed())
	g.Expect(os.Mkdir(filepath.Join(home, "cut.partial"), 0o700)).To(gomega.Succeed())
	for dir, want := range map[string]struct {
		code int
		says string
	}{
		taken:                                {mq9.CodeConflict, "exists"},
		home:                                 {mq9.CodeConflict, "exists"},
		filepath.Join(home, "cut"):           {mq9.CodeConflict, "remove it"},
		"relative":                           {mq9.CodeBadRequest, "absolute"},
		"":                                   {mq9.CodeBadRequest, "absolute"},
		filepath.Join(home, "none", "new"):   {mq9.CodeBadRequest, "below one that does"},
		filepath.Join(taken, "CURRENT", "x"): {mq9.CodeBadRequest, "below one that does"},
		"/dev/mq9-snapshot":                  {mq9.CodeBadRequest, "another file system"},
	} {
		err := s.Checkpoint(dir)
		g.Expect(mq9.AsError(err)).To(gomega.HaveField("Code", want.code), dir)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want.says)), dir)
		g.Expect(err.Error()).NotTo(gomega.ContainSubstring("\n"))
	}
	g.Expect(s.Close()).To(gomega.Succeed())
	late := filepath.Join(home, "late")
	g.Expect(mq9.AsError(s.Checkpoint(late))).To(gomega.HaveField("Code", mq9.CodeUnavailable))
	g.Expect(late).NotTo(gomega.BeADirectory())
	g.Expect(late + ".partial").NotTo(gomega.BeADirectory())
}

func TestSnapshotsOfOneStoreQueue(t *testing.T) {
	g := gomega.NewWithT(t)
	home := t.TempDir()
	s := open(t, filepath.Join(home, "data"), Options{})
	fillOneByOne(g, s, 3)
	var made atomic.Int32
	var group sync.WaitGroup
	for range 4 { // of those who name one directory, one gets it
		group.Go(func() {
			if s.Checkpoint(filepath.Join(home, "same")) == nil {
				made.Add(1)
			}
		})
	}
	group.Wait()
	g.Expect(made.Load()).To(gomega.BeEquivalentTo(1))
}
