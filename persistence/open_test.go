package persistence

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linxGnu/grocksdb"
	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestOpenRefusesInOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(g gomega.Gomega, dir string)
		class   error
		says    string
	}{
		"a file": {func(g gomega.Gomega, dir string) {
			g.Expect(os.WriteFile(dir, nil, 0o600)).To(gomega.Succeed())
		}, ErrPath, "choose a directory"},
		"a directory with something in it": {func(g gomega.Gomega, dir string) {
			g.Expect(os.MkdirAll(dir, 0o700)).To(gomega.Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600)).To(gomega.Succeed())
		}, ErrForeign, "choose an empty directory"},
		"a directory with a directory in it": {func(g gomega.Gomega, dir string) {
			g.Expect(os.MkdirAll(filepath.Join(dir, "LOG"), 0o700)).To(gomega.Succeed())
		}, ErrForeign, "choose an empty directory"},
		"somebody's RocksDB": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, []string{"default"}, "k", []byte("v"))
		}, ErrForeign, "choose an empty directory"},
		"somebody's RocksDB with families": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, []string{"default", "theirs"}, "k", []byte("v"))
		}, ErrForeign, "choose an empty directory"},
		"a later format": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, familyNames, "format", binary.BigEndian.AppendUint32(nil, formatVersion+1))
		}, ErrFormat, "it is of format 2 and this broker reads 1"},
		"a format mark that is none": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, familyNames, "format", []byte("one"))
		}, ErrDamaged, "snapshot"},
		"a mark of ids that is none": {func(g gomega.Gomega, dir string) {
			rawPut(g, dir, familyNames, "format", binary.BigEndian.AppendUint32(nil, formatVersion))
			rawPut(g, dir, familyNames, "ids", []byte("one"))
		}, ErrDamaged, "snapshot"},
		"a nonsense CURRENT": {func(g gomega.Gomega, dir string) {
			g.Expect(os.MkdirAll(dir, 0o700)).To(gomega.Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("nonsense"), 0o600)).To(gomega.Succeed())
		}, ErrDamaged, "snapshot"},
		"a store that is open": {func(g gomega.Gomega, dir string) {
			open(t, dir, Options{})
		}, ErrInUse, "choose another directory"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := filepath.Join(t.TempDir(), "data")
			c.prepare(g, dir)
			_, err := Open(dir+"/", Options{})
			g.Expect(err).To(gomega.MatchError(c.class))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
			g.Expect(err.Error()).To(gomega.HavePrefix(dir))
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring("\n"))
		})
	}
}

func TestOpenBelowAFile(t *testing.T) {
	g := gomega.NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(gomega.Succeed())
	_, err := Open(filepath.Join(file, "data"), Options{})
	g.Expect(err).To(gomega.MatchError(ErrPath))
}

func TestOpenRefusesABadOption(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := Open(t.TempDir(), Options{SyncInterval: -1, MaxBatchBytes: -1})
	g.Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring("SyncInterval"), gomega.ContainSubstring("MaxBatchBytes"))))
}

func TestOpenLeavesAForeignDatabaseAlone(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	rawPut(g, dir, []string{"default"}, "k", []byte("v"))
	_, err := Open(dir, Options{})
	g.Expect(err).To(gomega.MatchError(ErrForeign))
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	g.Expect(grocksdb.ListColumnFamilies(o, dir)).To(gomega.Equal([]string{"default"}))
}

func TestOpenAcceptsWhatAKilledFirstStartLeft(t *testing.T) {
	for name, prepare := range map[string]func(g gomega.Gomega, dir string){
		"nothing": func(gomega.Gomega, string) {},
		"the root of a file system": func(g gomega.Gomega, dir string) {
			g.Expect(os.Mkdir(filepath.Join(dir, "lost+found"), 0o700)).To(gomega.Succeed())
		},
		"a lock and a log": func(g gomega.Gomega, dir string) {
			for _, name := range []string{"LOCK", "LOG", "LOG.old.1", "IDENTITY", "MANIFEST-000001", "000001.dbtmp"} {
				g.Expect(os.WriteFile(filepath.Join(dir, name), nil, 0o600)).To(gomega.Succeed())
			}
		},
		"a database before our families": func(g gomega.Gomega, dir string) {
			rawPut(g, dir, []string{"default"}, "", nil)
		},
		"a database with some of our families": func(g gomega.Gomega, dir string) {
			rawPut(g, dir, familyNames[:2], "", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := t.TempDir()
			prepare(g, dir)
			s := open(t, dir, Options{})
			commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
		})
	}
}

func TestOpenAfterTornTail(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	const n = 20
	fillOneByOne(g, open(t, dir, Options{}), n)
	whole := logEnd(g, dir)
	fewer := 0
	for cut := int64(1); cut < whole/2; cut += 7 {
		torn := clone(t, dir)
		g.Expect(os.Truncate(logFile(g, torn), whole-cut)).To(gomega.Succeed())
		s := open(t, torn, Options{})
		got := readAll(g, s, 1, mq9.Critical)
		g.Expect(len(got)).To(gomega.BeNumerically("<", n))
		for i, m := range got {
			g.Expect(m).To(gomega.Equal(message(mq9.MsgID(i), mq9.Critical)))
		}
		fewer = n - len(got)
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(n, mq9.Critical)}})
		g.Expect(s.Close()).To(gomega.Succeed())
	}
	g.Expect(fewer).To(gomega.BeNumerically(">", 1))
}

func TestOpenAfterDamageInTheMiddle(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	const n = 100
	fillOneByOne(g, open(t, dir, Options{}), n)
	damaged := clone(t, dir)
	log := logFile(g, damaged)
	text, err := os.ReadFile(log)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	text[logEnd(g, damaged)/2] ^= 0x10
	g.Expect(os.WriteFile(log, text, 0o600)).To(gomega.Succeed())

	_, err = Open(damaged, Options{})
	g.Expect(err).To(gomega.MatchError(ErrDamaged))
	g.Expect(err.Error()).NotTo(gomega.ContainSubstring("\n"))

	s := open(t, damaged, Options{Salvage: true})
	got := readAll(g, s, 1, mq9.Critical)
	g.Expect(len(got)).To(gomega.And(gomega.BeNumerically(">", n/4), gomega.BeNumerically("<", n)))
	g.Expect(got[len(got)-1].ID).To(gomega.BeEquivalentTo(len(got) - 1))
	g.Expect(s.Close()).To(gomega.Succeed())
	g.Expect(readAll(g, open(t, damaged, Options{}), 1, mq9.Critical)).To(gomega.HaveLen(len(got)), "mended for good")
}

func TestCorruptRecordsAreReported(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	s := open(t, dir, Options{})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(1, mq9.Critical)}})
	overwrite(g, s, familyMessages, appendMessageKey(nil, 1, mq9.Critical, 1), []byte("junk"))
	_, err := s.Read(1, mq9.Critical, 0, 1)
	g.Expect(err).To(gomega.MatchError(ErrCorrupt))
	g.Expect(s.Index(1, func(mq9.Entry) {})).To(gomega.MatchError(ErrCorrupt))
	key, err := appendMailboxKey(nil, "$G", mailbox(1).ID)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	overwrite(g, s, familyMailboxes, key, []byte("junk"))
	g.Expect(s.Mailboxes(func(mq9.Mailbox) error { return nil })).To(gomega.MatchError(ErrCorrupt))
	g.Expect(s.Close()).To(gomega.Succeed())

	_, err = Open(dir, Options{})
	g.Expect(err).To(gomega.And(gomega.MatchError(ErrDamaged), gomega.MatchError(ErrCorrupt)))
	g.Expect(err.Error()).NotTo(gomega.ContainSubstring(string(mailbox(1).ID)), "a mail_id may be a secret")
}

// fillOneByOne stores n messages, each in a log record of its own.
func fillOneByOne(g gomega.Gomega, s *Store, n int) {
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	for id := range n {
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(mq9.MsgID(id), mq9.Critical)}})
	}
}

// clone copies the directory of an idle store that is still open: what a crash at this moment would leave.
func clone(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// logFile is the newest write-ahead log.
func logFile(g gomega.Gomega, dir string) string {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(logs).NotTo(gomega.BeEmpty())
	return logs[len(logs)-1]
}

// logEnd is where the newest write-ahead log ends: what is behind it is zeros for what may come.
func logEnd(g gomega.Gomega, dir string) int64 {
	log, err := os.ReadFile(logFile(g, dir))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return int64(len(bytes.TrimRight(log, "\x00")))
}

// rawPut makes a RocksDB with these families and, if key is not empty, puts a pair into the first one.
func rawPut(g gomega.Gomega, dir string, families []string, key string, value []byte) {
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	o.SetCreateIfMissing(true)
	o.SetCreateIfMissingColumnFamilies(true)
	each := make([]*grocksdb.Options, len(families))
	for i := range each {
		each[i] = o
	}
	g.Expect(os.MkdirAll(dir, 0o700)).To(gomega.Succeed())
	db, handles, err := grocksdb.OpenDbColumnFamilies(o, dir, families, each)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer db.Close()
	for _, h := range handles {
		defer h.Destroy()
	}
	if key == "" {
		return
	}
	w := grocksdb.NewDefaultWriteOptions()
	defer w.Destroy()
	g.Expect(db.PutCF(w, handles[0], []byte(key), value)).To(gomega.Succeed())
}

// overwrite changes a record behind the store's back.
func overwrite(g gomega.Gomega, s *Store, f family, key, value []byte) {
	b := grocksdb.NewWriteBatch()
	defer b.Destroy()
	b.PutCF(s.family(f), key, value)
	g.Expect(s.mu.engine.write(b, true)).To(gomega.Succeed())
}

func TestErrorsAreOneLine(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(oneLine(os.ErrNotExist)).To(gomega.Equal("file does not exist"))
	g.Expect(strings.Count(oneLine(explain("d", errorText("Corruption: a\nb"))), "\n")).To(gomega.BeZero())
}

type errorText string

func (e errorText) Error() string { return string(e) }
