package persistence

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// The library has its assertions on: closing it with an iterator alive aborts the process. What a read leaves behind
// besides, options and slices, shows in the process's memory, and what the engine keeps for readers in its own figures. benchmarks/persistence
// does the same over 100,000.
func TestReadsLeakNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	home := t.TempDir()
	s := open(t, filepath.Join(home, "data"), Options{})
	fillOneByOne(g, s, 100)
	overwrite(g, s, familyMessages, appendMessageKey(nil, 2, mq9.Critical, 1), []byte("junk"))
	s.mu.engine.compact(familyMessages) // so that readers need blocks of a file
	enough := errors.New("enough")
	reads := func(n int) {
		for range n {
			_, err := s.Read(1, mq9.Critical, 50, 1)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(s.Index(1, func(mq9.Entry) {})).To(gomega.Succeed())
			_, err = s.Read(2, mq9.Critical, 0, 1)
			g.Expect(err).To(gomega.MatchError(ErrCorrupt))
			g.Expect(s.Mailboxes(func(mq9.Mailbox) error { return enough })).To(gomega.Equal(enough))
			g.Expect(func() {
				_ = s.Index(1, func(mq9.Entry) { panic("a caller's mistake") })
			}).To(gomega.Panic())
		}
	}
	snapshots := func(n int) {
		for range n {
			dir := filepath.Join(home, "snapshot")
			g.Expect(s.Checkpoint(dir)).To(gomega.Succeed())
			i, err := Inspect(dir)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			i.Close()
			g.Expect(os.RemoveAll(dir)).To(gomega.Succeed())
		}
	}
	reads(500)
	snapshots(5)
	before, held := resident(g), s.mu.engine.heldForReaders()
	reads(4000) // 20,000 iterators
	snapshots(20)
	g.Expect(resident(g) - before).To(gomega.BeNumerically("<", 16<<20))
	g.Expect(s.mu.engine.heldForReaders()).To(gomega.Equal(held))
	g.Expect(s.Close()).To(gomega.Succeed())
}

// heldForReaders is what the engine keeps as long as an iterator or a snapshot needs it.
func (e *engine) heldForReaders() map[string]int64 {
	held := map[string]int64{}
	for _, name := range []string{
		"rocksdb.num-snapshots", "rocksdb.num-live-versions", "rocksdb.block-cache-pinned-usage",
		"rocksdb.estimate-table-readers-mem", "rocksdb.cur-size-all-mem-tables", "rocksdb.num-immutable-mem-table",
	} {
		held[name] = e.property(familyMessages, name)
	}
	return held
}

func TestOpeningLeaksNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	cycles := func(n int) {
		for range n {
			s, err := Open(dir, Options{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = Open(dir, Options{})
			g.Expect(err).To(gomega.MatchError(ErrInUse))
			commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
			g.Expect(s.Close()).To(gomega.Succeed())
		}
	}
	cycles(20)
	before := resident(g)
	cycles(100)
	g.Expect(resident(g) - before).To(gomega.BeNumerically("<", 48<<20))
}

// resident is how much memory the process has, in bytes, the unused part of Go's heap left out.
func resident(g gomega.Gomega) int {
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return pages * os.Getpagesize()
}
