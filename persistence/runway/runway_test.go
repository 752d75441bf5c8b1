package runway

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linxGnu/grocksdb"
	"github.com/onsi/gomega"
)

// open opens a database in dir; nil options for what Use makes of them.
func open(dir string) (*grocksdb.DB, error) {
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	o.SetCreateIfMissing(true)
	o.SetWALRecoveryMode(grocksdb.TolerateCorruptedTailRecordsRecovery)
	Use(o, true)
	return grocksdb.OpenDb(o, dir)
}

// put writes one batch and syncs it.
func put(g gomega.Gomega, db *grocksdb.DB, key string, value []byte) {
	o := grocksdb.NewDefaultWriteOptions()
	defer o.Destroy()
	o.SetSync(true)
	g.Expect(db.Put(o, []byte(key), value)).To(gomega.Succeed())
}

// few is how many batches make a runway.
const few = 16

// body is bytes that have no zeros among them.
func body(n int) []byte { return bytes.Repeat([]byte("x"), n) }

// lastLog is the path and the bytes of the log that is being written.
func lastLog(g gomega.Gomega, dir string) (string, []byte) {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(logs).NotTo(gomega.BeEmpty())
	path := slices.Max(logs)
	log, err := os.ReadFile(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return path, log
}

// reopened opens a copy of a running database's directory, with another log in place of its own.
func reopened(g gomega.Gomega, t *testing.T, dir string, log []byte) (*grocksdb.DB, error) {
	copied := t.TempDir()
	g.Expect(os.CopyFS(copied, os.DirFS(dir))).To(gomega.Succeed())
	path, _ := lastLog(g, copied)
	g.Expect(os.WriteFile(path, log, 0o600)).To(gomega.Succeed())
	return open(copied)
}

// values reads back what was put under the keys 0 to n-1; nil is what is not there.
func values(g gomega.Gomega, db *grocksdb.DB, n int) (all [][]byte) {
	o := grocksdb.NewDefaultReadOptions()
	defer o.Destroy()
	for i := range n {
		value, err := db.GetBytes(o, []byte(fmt.Sprint(i)))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		all = append(all, value)
	}
	return all
}

// That the file is ahead also says that the library keeps the engine's options where native looks for them.
func TestALogIsAheadWhileItIsWritten(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	db, err := open(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	put(g, db, "0", body(300))
	_, log := lastLog(g, dir)
	g.Expect(log).To(gomega.HaveLen(written(log)), "who knows whether more of this kind comes")
	for i := range few {
		put(g, db, fmt.Sprint(i), body(300))
	}
	path, log := lastLog(g, dir)
	end := written(log)
	g.Expect(end).To(gomega.And(gomega.BeNumerically(">", 300*few), gomega.BeNumerically("<", 400*few)))
	g.Expect(len(log)).To(gomega.BeNumerically(">", 200<<10))

	put(g, db, "large", body(1<<20)) // grows as it goes
	_, log = lastLog(g, dir)
	g.Expect(log).To(gomega.HaveLen(written(log)))

	for i := range few {
		put(g, db, fmt.Sprint(i), body(300))
	}
	_, log = lastLog(g, dir)
	g.Expect(len(log)).To(gomega.BeNumerically(">", written(log)+200<<10))
	db.Close()
	after, err := os.ReadFile(path)
	if err == nil { // or it is no longer needed
		g.Expect(after).To(gomega.HaveLen(written(after)))
	}
}

// The last batch loses any of its sectors, in any order, or its rest from a page on: what was synced before is there, and it is not.
func TestATornEndIsDropped(t *testing.T) {
	for _, size := range []int{20, 300, 700, 5000, 40_000, 300_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := t.TempDir()
			db, err := open(dir)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer db.Close()
			const n = few + 1
			var want [][]byte
			for i := range n {
				want = append(want, body(200+i))
				put(g, db, fmt.Sprint(i), want[i])
			}
			_, before := lastLog(g, dir)
			put(g, db, fmt.Sprint(n), body(size))
			_, after := lastLog(g, dir)
			before = append(before, make([]byte, max(0, len(after)-len(before)))...)[:len(after)]

			first, last := written(before)/sectorBytes, (written(after)-1)/sectorBytes
			random := rand.New(rand.NewPCG(1, uint64(size)))
			for round := range 12 {
				torn, missing := slices.Clone(after), 0
				for sector := first; sector <= last; sector++ {
					lost := random.IntN(2) == 0
					switch round {
					case 0: // its beginning
						lost = sector == first
					case 1: // its end
						lost = sector == last
					case 2: // what a process that was killed in the write had not written
						lost = sector >= (first+8)/8*8
					}
					if lost {
						from, to := sector*sectorBytes, min((sector+1)*sectorBytes, len(after))
						if !bytes.Equal(torn[from:to], before[from:to]) {
							missing++
						}
						copy(torn[from:to], before[from:to])
					}
				}
				if missing == 0 {
					continue
				}
				db, err := reopened(g, t, dir, torn)
				g.Expect(err).NotTo(gomega.HaveOccurred(), "round %d", round)
				g.Expect(values(g, db, n+1)).To(gomega.Equal(append(slices.Clone(want), nil)), "round %d", round)
				put(g, db, fmt.Sprint(n), []byte("again"))
				db.Close()
			}
			whole, err := reopened(g, t, dir, after)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(values(g, whole, n+1)).To(gomega.Equal(append(slices.Clone(want), body(size))))
			whole.Close()
		})
	}
}

// A bit flips in what was synced, in the last batch too: nothing is dropped for that.
func TestDamageIsNotTakenForATornEnd(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	db, err := open(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer db.Close()
	for i := range few + 1 {
		put(g, db, fmt.Sprint(i), body(900))
	}
	_, log := lastLog(g, dir)
	at := 0
	for at < written(log) {
		r := logOf(log).record(at)
		g.Expect(r.whole).To(gomega.BeTrue())
		for _, offset := range []int{0, 3, headerBytes, headerBytes + 20, (r.end - at) / 2, r.end - at - 1} { // not its length and kind
			damaged := slices.Clone(log)
			damaged[at+offset] ^= 0x10
			db, err := reopened(g, t, dir, damaged)
			if err == nil {
				db.Close()
			}
			g.Expect(err).To(gomega.MatchError(gomega.HavePrefix("Corruption")), "at %d+%d", at, offset)
		}
		at = next(r.end)
	}
}

// A sector of a batch is lost that was synced, since others follow it.
func TestALostSectorInTheMiddleIsDamage(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	db, err := open(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer db.Close()
	for i := range few + 1 {
		put(g, db, fmt.Sprint(i), body(1500))
	}
	_, log := lastLog(g, dir)
	for at, last := 0, written(log)-2000; at < last; at = next(logOf(log).record(at).end) {
		damaged := slices.Clone(log)
		sector := ((at+headerBytes)/sectorBytes + 1) * sectorBytes // in the record, behind its header
		clear(damaged[sector : sector+sectorBytes])
		db, err := reopened(g, t, dir, damaged)
		if err == nil {
			db.Close()
		}
		g.Expect(err).To(gomega.MatchError(gomega.HavePrefix("Corruption")), "at %d", at)
	}
}

func logOf(log []byte) *logFile { return &logFile{file: bytes.NewReader(log), size: len(log)} }

func FuzzLogEnd(f *testing.F) {
	g := gomega.NewWithT(f)
	dir := f.TempDir()
	db, err := open(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for i := range few {
		put(g, db, fmt.Sprint(i), body(600))
	}
	_, log := lastLog(g, dir)
	db.Close()
	end := written(log)
	f.Add(log[:end])
	f.Add(log[:end-100])
	f.Add(log[:end+2000])
	f.Add(append(slices.Clone(log[:sectorBytes]), log[2*sectorBytes:end]...))
	f.Add(append(make([]byte, blockBytes-3), log[:end]...))
	f.Add([]byte(strings.Repeat("\x01", 2*blockBytes)))
	f.Fuzz(func(t *testing.T, log []byte) {
		g := gomega.NewWithT(t)
		end, torn := logOf(log).logEnd()
		if !torn {
			return
		}
		g.Expect(end).To(gomega.BeNumerically("<", len(log)))
		mended := append(slices.Clone(log[:end]), make([]byte, len(log)-end)...)
		again, torn := logOf(mended).logEnd()
		g.Expect(torn).To(gomega.BeFalse(), "%d, then %d", end, again)
	})
}
