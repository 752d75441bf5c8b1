package persistence

import (
	"encoding/binary"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// onDisk is how many bytes the files of a directory have.
func onDisk(dir string) (bytes int64) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return -1
	}
	for _, f := range files {
		var info fs.FileInfo
		if info, err = f.Info(); err == nil { // or it is gone
			bytes += info.Size()
		}
	}
	return bytes
}

// fillMegabytes stores some megabytes in each of the mailboxes 1 to n and returns the ids.
func fillMegabytes(g gomega.Gomega, s *Store, n, megabytes int) (ids []mq9.MsgID) {
	const size = 16 << 10
	for number := range uint64(n) {
		s.Commit(mq9.CreateMailbox{Mailbox: mailbox(number + 1)}, nil)
	}
	for id := range mq9.MsgID(megabytes << 20 / size) {
		for number := range uint64(n) {
			s.Commit(mq9.AppendMessages{Number: number + 1, Messages: []*mq9.Message{{
				ID: id, Priority: mq9.Urgent, Payload: noise(size, uint64(id)),
			}}}, nil)
		}
		ids = append(ids, id)
	}
	_, err := s.ReserveIDs(1) // comes behind them
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return ids
}

// noise does not compress.
func noise(size int, seed uint64) []byte {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	b := make([]byte, size)
	_, _ = rand.NewChaCha8(key).Read(b) // it never fails
	return b
}

func TestTheDiskComesBack(t *testing.T) {
	for name, forget := range map[string]func(s *Store, number uint64, ids []mq9.MsgID){
		"after deletions": func(s *Store, number uint64, ids []mq9.MsgID) {
			for _, id := range ids {
				s.Commit(mq9.DeleteMessage{Number: number, Priority: mq9.Urgent, ID: id}, nil)
			}
		},
		"after expiry": func(s *Store, number uint64, _ []mq9.MsgID) {
			s.Commit(mq9.ExpireMailbox{Mailbox: mailbox(number)}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := t.TempDir()
			s := open(t, dir, Options{Sync: SyncNever, MemtableBytes: 16 << 20, tidyEvery: 100 * time.Millisecond})
			const mailboxes, each = 4, 16
			ids := fillMegabytes(g, s, mailboxes, each)
			g.Expect(onDisk(dir)).To(gomega.BeNumerically(">", mailboxes*each<<20))
			for number := uint64(1); number < mailboxes; number++ {
				forget(s, number, ids)
			}
			disk := func() int64 { return onDisk(dir) }
			g.Eventually(disk).WithTimeout(longest).Should(gomega.BeNumerically("<", (each+2)<<20), "what lives and little more")
			forget(s, mailboxes, ids)
			g.Eventually(disk).WithTimeout(longest).Should(gomega.BeNumerically("<", 1<<20), "nothing lives")
		})
	}
}

func TestTidyingLeavesWhatLives(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	s := open(t, dir, Options{Sync: SyncNever, MemtableBytes: 1 << 20, tidyEvery: time.Millisecond})
	ids := fillMegabytes(g, s, 2, 8)
	var kept []mq9.MsgID
	for _, id := range ids {
		if id%8 == 0 {
			kept = append(kept, id)
			continue
		}
		commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: id, First: kept[0]})
	}
	commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(2)})
	g.Eventually(func() int64 { return onDisk(dir) }).WithTimeout(longest).Should(gomega.BeNumerically("<", 3<<20))
	for range 2 {
		got := readAll(g, s, 1, mq9.Urgent)
		g.Expect(idsOf(got)).To(gomega.Equal(kept))
		for _, m := range got {
			g.Expect(m.Payload).To(gomega.Equal(noise(16<<10, uint64(m.ID))))
		}
		g.Expect(index(g, s, 2)).To(gomega.BeEmpty())
		g.Expect(s.Close()).To(gomega.Succeed())
		s = open(t, dir, Options{})
	}
}

func TestExpiryOfABigMailboxLeavesItsNeighbours(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	s := open(t, dir, Options{Sync: SyncNever, MemtableBytes: 64 << 10, Tuning: Tuning{
		Messages: "target_file_size_base=65536", // so that whole files belong to one mailbox
	}})
	ids := fillMegabytes(g, s, 3, 2)
	s.mu.engine.compact(familyMessages)
	commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(2)})
	g.Eventually(func() int { return stored(g, s, familyGraveyard) }).WithTimeout(longest).Should(gomega.BeZero())
	for range 2 {
		g.Expect(index(g, s, 1)).To(gomega.HaveLen(len(ids)))
		g.Expect(index(g, s, 2)).To(gomega.BeEmpty())
		g.Expect(index(g, s, 3)).To(gomega.HaveLen(len(ids)))
		g.Expect(s.Close()).To(gomega.Succeed())
		s = open(t, dir, Options{})
	}
}

func TestCloseDoesNotWaitForTheTidier(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	for range 5 {
		s := open(t, dir, Options{Sync: SyncNever, tidyEvery: time.Microsecond})
		ids := fillMegabytes(g, s, 1, 2)
		for _, id := range ids {
			s.Commit(mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: id}, nil)
		}
		began := time.Now()
		g.Expect(s.Close()).To(gomega.Succeed())
		g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 5*time.Second))
	}
}

func TestWorthTidying(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		o     occupancy
		idle  bool
		since time.Duration
		want  bool
	}{
		"nothing deleted":                     {occupancy{files: 100 * mib, memory: 60 * mib}, true, 48 * time.Hour, false},
		"a quarter is dead":                   {occupancy{files: 100 * mib, dead: 25 * mib, deleted: 1}, false, 0, true},
		"less than a quarter":                 {occupancy{files: 100 * mib, dead: 24 * mib, deleted: 1}, false, 0, false},
		"all of little":                       {occupancy{files: 4 * mib, dead: 4 * mib, deleted: 1}, false, 0, false},
		"all of little, in peace":             {occupancy{files: 4 * mib, dead: 4 * mib, deleted: 1}, true, 0, true},
		"next to nothing, in peace":           {occupancy{files: 4 * mib, dead: 1000, deleted: 1}, true, 0, false},
		"a little of much, in peace":          {occupancy{files: 100 * mib, dead: 6 * mib, memory: 6 * mib, deleted: 1}, true, 0, false},
		"not so little, in peace":             {occupancy{files: 100 * mib, dead: 7 * mib, deleted: 1}, true, 0, true},
		"next to nothing for a day":           {occupancy{files: 4 * mib, dead: 1000, deleted: 1}, false, 24 * time.Hour, true},
		"a busy queue in memory":              {occupancy{memory: 60 * mib, deleted: 1000}, false, 0, false},
		"a queue in memory that came to rest": {occupancy{memory: 60 * mib, deleted: 1000}, true, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(c.o.worth(c.idle, c.since)).To(gomega.Equal(c.want))
		})
	}
}

func TestNoTidyingWithoutRoom(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(occupancy{files: 1 << 20}.fits(t.TempDir())).To(gomega.BeTrue())
	g.Expect(occupancy{memory: 1 << 62}.fits(t.TempDir())).To(gomega.BeFalse())
	g.Expect(occupancy{}.fits("/nonexistent")).To(gomega.BeFalse())
}
