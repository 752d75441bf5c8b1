package persistence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestIDsAfterRestore(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	g.Expect(idsAfterRestore(5, now)).To(gomega.Equal(uint64(now.Unix()-1_577_836_800) << 30))
	g.Expect(idsAfterRestore(5, now.Add(time.Second)) - idsAfterRestore(5, now)).To(gomega.BeEquivalentTo(1 << 30))
	g.Expect(idsAfterRestore(5, time.Unix(0, 0))).To(gomega.BeEquivalentTo(5+1<<40), "a clock that is wrong")
	g.Expect(idsAfterRestore(1<<60, now)).To(gomega.BeEquivalentTo(uint64(1<<60+1<<40)), "a mark that is ahead of it")
	last := time.Date(2155, 1, 1, 0, 0, 0, 0, time.UTC)
	id := mq9.NewMsgID(idsAfterRestore(5, last), mq9.Urgent)
	g.Expect(id.Priority()).To(gomega.Equal(mq9.Urgent))
	g.Expect(id).To(gomega.BeNumerically(">", mq9.NewMsgID(idsAfterRestore(5, last.Add(-time.Second)), mq9.Urgent)))
}

func TestRestoreRefuses(t *testing.T) {
	home := t.TempDir()
	g := gomega.NewWithT(t)
	s := open(t, filepath.Join(home, "data"), Options{})
	fillOneByOne(g, s, 3)
	whole := filepath.Join(home, "whole")
	g.Expect(s.Checkpoint(whole)).To(gomega.Succeed())
	mark := func(change func(m *snapshotMark)) func(gomega.Gomega, string, string) {
		return func(g gomega.Gomega, from, _ string) {
			m, err := readSnapshotMark(from)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			change(&m)
			text, err := json.Marshal(m)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(os.WriteFile(filepath.Join(from, snapshotFile), text, 0o600)).To(gomega.Succeed())
		}
	}
	for name, c := range map[string]struct {
		prepare func(g gomega.Gomega, from, to string)
		class   error
	}{
		"no snapshot": {func(g gomega.Gomega, from, _ string) {
			g.Expect(os.RemoveAll(from)).To(gomega.Succeed())
		}, ErrNoSnapshot},
		"one that was cut off before it was marked": {func(g gomega.Gomega, from, _ string) {
			g.Expect(os.Remove(filepath.Join(from, snapshotFile))).To(gomega.Succeed())
		}, ErrNoSnapshot},
		"a mark that is none": {func(g gomega.Gomega, from, _ string) {
			g.Expect(os.WriteFile(filepath.Join(from, snapshotFile), []byte("x"), 0o600)).To(gomega.Succeed())
		}, ErrDamaged},
		"a later format":        {mark(func(m *snapshotMark) { m.Format++ }), ErrFormat},
		"a file somewhere else": {mark(func(m *snapshotMark) { m.Files[0].Name = "../data/LOG" }), ErrDamaged},
		"a file missing": {func(g gomega.Gomega, from, _ string) {
			g.Expect(os.Remove(filepath.Join(from, "CURRENT"))).To(gomega.Succeed())
		}, ErrDamaged},
		"a file cut off": {func(g gomega.Gomega, from, _ string) {
			g.Expect(os.Truncate(filepath.Join(from, "CURRENT"), 3)).To(gomega.Succeed())
		}, ErrDamaged},
		"a target with something in it": {func(g gomega.Gomega, _, to string) {
			g.Expect(os.MkdirAll(filepath.Join(to, "x"), 0o700)).To(gomega.Succeed())
		}, ErrNotEmpty},
		"a target that is a file": {func(g gomega.Gomega, _, to string) {
			g.Expect(os.WriteFile(to, nil, 0o600)).To(gomega.Succeed())
		}, ErrPath},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
			g.Expect(os.CopyFS(from, os.DirFS(whole))).To(gomega.Succeed())
			c.prepare(g, from, to)
			err := Restore(from, to, Options{})
			g.Expect(err).To(gomega.MatchError(c.class))
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring("\n"))
			_, err = os.Stat(filepath.Join(to, currentFile))
			g.Expect(err).To(gomega.HaveOccurred(), "no store has come about")
		})
	}
}

// A restoration that was broken off has everything but the file that makes it a store.
func TestHalfARestorationIsNoStore(t *testing.T) {
	g := gomega.NewWithT(t)
	home := t.TempDir()
	s := open(t, filepath.Join(home, "data"), Options{})
	fillOneByOne(g, s, 3)
	from, to := filepath.Join(home, "from"), filepath.Join(home, "to")
	g.Expect(s.Checkpoint(from)).To(gomega.Succeed())
	g.Expect(Restore(from, to, Options{})).To(gomega.Succeed())
	g.Expect(os.Remove(filepath.Join(to, currentFile))).To(gomega.Succeed())
	_, err := Open(to, Options{})
	g.Expect(err).To(gomega.MatchError(ErrForeign))
	g.Expect(Restore(from, to, Options{})).To(gomega.MatchError(ErrNotEmpty))
	_, err = Inspect(to)
	g.Expect(err).To(gomega.MatchError(ErrNoStore))
}
