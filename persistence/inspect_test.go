package persistence

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestInspect(t *testing.T) {
	g := gomega.NewWithT(t)
	home := t.TempDir()
	dir, snapshot := filepath.Join(home, "data"), filepath.Join(home, "snapshot")
	s := open(t, dir, Options{})
	fillOneByOne(g, s, 10)
	g.Expect(s.ReserveIDs(100)).To(gomega.BeEquivalentTo(1))
	g.Expect(s.Checkpoint(snapshot)).To(gomega.Succeed())
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 3})
	g.Expect(s.Close()).To(gomega.Succeed())
	for where, want := range map[string]int{dir: 9, snapshot: 10} {
		before := contents(g, where)
		i, err := Inspect(where + "/")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(i.Format).To(gomega.Equal(formatVersion))
		g.Expect(i.Snapshot).To(gomega.Equal(where == snapshot))
		g.Expect(i.UsedIDs).To(gomega.BeEquivalentTo(100))
		g.Expect(i.Purging).To(gomega.BeZero())
		g.Expect(i.FileBytes).To(gomega.BeNumerically(">", 0))
		g.Expect(i.FileBytes + i.LogBytes).To(gomega.Equal(onDisk(where)))
		var boxes []mq9.Mailbox
		g.Expect(i.Mailboxes(func(m mq9.Mailbox) error { boxes = append(boxes, m); return nil })).To(gomega.Succeed())
		g.Expect(boxes).To(gomega.ConsistOf(*mailbox(1)))
		entries := 0
		g.Expect(i.Index(1, func(mq9.Entry) { entries++ })).To(gomega.Succeed())
		g.Expect(entries).To(gomega.Equal(want))
		g.Expect(i.Read(1, mq9.Critical, 9, 1)).To(gomega.Equal([]*mq9.Message{message(9, mq9.Critical)}))
		i.Close()
		i.Close()
		g.Expect(i.Index(1, func(mq9.Entry) {})).To(gomega.MatchError(ErrClosed))
		g.Expect(contents(g, where)).To(gomega.Equal(before), "a look changes nothing")
	}
}

// contents are the checksums of the files in a directory.
func contents(g gomega.Gomega, dir string) map[string][sha256.Size]byte {
	files, err := os.ReadDir(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	sums := map[string][sha256.Size]byte{}
	for _, f := range files {
		bytes, err := os.ReadFile(filepath.Join(dir, f.Name()))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		sums[f.Name()] = sha256.Sum256(bytes)
	}
	return sums
}

func TestInspectRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(g gomega.Gomega, dir string)
		class   error
	}{
		"nothing": {func(gomega.Gomega, string) {}, ErrNoStore},
		"an empty directory": {func(g gomega.Gomega, dir string) {
			g.Expect(os.Mkdir(dir, 0o700)).To(gomega.Succeed())
		}, ErrNoStore},
		"a file": {func(g gomega.Gomega, dir string) {
			g.Expect(os.WriteFile(dir, nil, 0o600)).To(gomega.Succeed())
		}, ErrNoStore},
		"a store whose first start was killed": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, familyNames[:2], "", nil)
		}, ErrNoStore},
		"one that was killed a little later": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, familyNames, "", nil)
		}, ErrNoStore},
		"somebody's RocksDB": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, []string{"default", "theirs"}, "k", []byte("v"))
		}, ErrForeign},
		"a later format": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, familyNames, "format", []byte{0, 0, 0, formatVersion + 1})
		}, ErrFormat},
		"a nonsense CURRENT": {func(g gomega.Gomega, dir string) {
			g.Expect(os.Mkdir(dir, 0o700)).To(gomega.Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, currentFile), []byte("nonsense"), 0o600)).To(gomega.Succeed())
		}, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := filepath.Join(t.TempDir(), "data")
			c.prepare(g, dir)
			_, err := Inspect(dir)
			g.Expect(err).To(gomega.MatchError(c.class))
			g.Expect(err.Error()).To(gomega.HavePrefix(dir))
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring("\n"))
		})
	}
}

func TestInspectRefusesWhatIsOpen(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	holder := start(t, "holder", dir)
	g.Expect(holder.lines.Scan()).To(gomega.BeTrue())
	_, err := Inspect(dir)
	g.Expect(err).To(gomega.MatchError(ErrInUse))
	g.Expect(holder.input.Close()).To(gomega.Succeed())
	g.Expect(holder.Wait()).To(gomega.Succeed())
	i, err := Inspect(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	i.Close()
}
