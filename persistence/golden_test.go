package persistence

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// The golden files are what this format looks like on disk. A later version must go on reading them: a change that needs them written
// anew needs a new format version beside them too.
//
//	testdata/golden/format-1.tar   a store, a part of it in a file and a part in the log
//	testdata/golden/format-1.txt   its keys and records in hexadecimal, "family key record"
//
// To write them anew: go test ./persistence -run TestGolden -update
var update = flag.Bool("update", false, "write the golden files anew")

var goldenName = filepath.Join("testdata", "golden", fmt.Sprintf("format-%d", formatVersion))

// goldenBoxes and goldenMessages are what the golden store holds.
func goldenBoxes() []mq9.Mailbox {
	return []mq9.Mailbox{
		{Number: 7, Account: "$G", ID: "task.queue", Public: true, Desc: "work for anyone", TTL: 3600, MaxInflight: 3, Created: 1_800_000_000_000_000_001},
		{Number: 300, Account: "$G", ID: "任务.队列", Public: true, TTL: mq9.MaxTTL, Created: 1_800_000_000_000_000_002},
		{Number: 1 << 40, Account: "OTHER", ID: "a9d1a2c4-1f7e-4b0e-9d59-2f1f3c1b7a10", TTL: 1, Created: 1_800_000_000_000_000_003},
	}
}

func goldenMessages() []*mq9.Message {
	return []*mq9.Message{
		{ID: 0x101, Priority: mq9.Critical, At: 1_800_000_001_000_000_000, Header: []byte("A: b\r\nA: c\r\n"), Payload: []byte("with headers")},
		{ID: 0x204, Priority: mq9.Critical, At: 1_800_000_001_000_000_000},
		{ID: 0x202, Priority: mq9.Urgent, At: 1_800_000_002_000_000_000, Payload: []byte{0, 0xff, '\r', '\n'}},
		{ID: 0x303, Priority: mq9.Urgent, At: 1_800_000_002_000_000_001, Header: []byte("A: b\r\n"), Payload: bytes.Repeat([]byte("long "), 300)},
		{ID: 1<<62 + 1, Priority: mq9.Urgent, At: 1_800_000_003_000_000_000, Payload: bytes.Repeat([]byte("x"), apartFrom)},
	}
}

const goldenIDs = 1 << 41

// writeGolden makes the golden store in dir.
func writeGolden(t *testing.T, dir string) {
	g := gomega.NewWithT(t)
	s := open(t, dir, Options{})
	_, err := s.ReserveIDs(goldenIDs)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	boxes := goldenBoxes()
	for i := range boxes[:2] {
		commit(g, s, mq9.CreateMailbox{Mailbox: &boxes[i]})
	}
	messages := goldenMessages()
	for _, m := range messages[:4] {
		commit(g, s, mq9.AppendMessages{Number: 7, Messages: []*mq9.Message{m}})
	}
	for id := range mq9.MsgID(markEvery) { // leaves a mark
		commit(g, s, mq9.DeleteMessage{Number: 7, Priority: mq9.Urgent, ID: id + 1, First: id + 2})
	}
	s.mu.engine.compact(familyMessages)
	commit(g, s, mq9.CreateMailbox{Mailbox: &boxes[2]})
	commit(g, s, mq9.AppendMessages{Number: 7, Messages: []*mq9.Message{messages[4]}})
	overwrite(g, s, familyGraveyard, appendNumber(nil, 9), nil) // as if it were killed before the purger came to it
	g.Expect(s.Close()).To(gomega.Succeed())
}

// dump renders what is in a store.
func dump(g gomega.Gomega, e *engine) string {
	var text strings.Builder
	for f, name := range familyNames {
		g.Expect(e.each(scan{family: family(f)}, func(key, value []byte) (bool, error) {
			fmt.Fprintf(&text, "%s %x %x\n", name, key, value)
			return true, nil
		})).To(gomega.Succeed())
	}
	return text.String()
}

func dumpDirectory(g gomega.Gomega, dir string) string {
	i, err := Inspect(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer i.Close()
	return dump(g, i.store.mu.engine)
}

func TestGolden(t *testing.T) {
	g := gomega.NewWithT(t)
	fresh := t.TempDir()
	writeGolden(t, fresh)
	if *update {
		g.Expect(os.MkdirAll(filepath.Dir(goldenName), 0o750)).To(gomega.Succeed())
		g.Expect(os.WriteFile(goldenName+".txt", []byte(dumpDirectory(g, fresh)), 0o600)).To(gomega.Succeed())
		g.Expect(os.WriteFile(goldenName+".tar", pack(g, fresh), 0o600)).To(gomega.Succeed())
	}
	want, err := os.ReadFile(goldenName + ".txt")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(dumpDirectory(g, fresh)).To(gomega.Equal(string(want)), "this version writes what it wrote before")

	old := t.TempDir()
	unpack(g, goldenName+".tar", old)
	g.Expect(dumpDirectory(g, old)).To(gomega.Equal(string(want)), "the golden store is what its dump says")
	s := open(t, old, Options{})
	g.Expect(mailboxes(g, s)).To(gomega.ConsistOf(goldenBoxes()))
	messages := goldenMessages()
	var entries []mq9.Entry
	for _, m := range messages {
		entries = append(entries, m.Entry())
	}
	g.Expect(index(g, s, 7)).To(gomega.Equal(entries))
	g.Expect(readAll(g, s, 7, mq9.Critical)).To(gomega.Equal(messages[:2]))
	g.Expect(readAll(g, s, 7, mq9.Urgent)).To(gomega.Equal(messages[2:]))
	g.Expect(s.ReserveIDs(1)).To(gomega.BeEquivalentTo(goldenIDs + 1))
	g.Eventually(func() int { return stored(g, s, familyGraveyard) }).WithTimeout(longest).Should(gomega.BeZero())
}

// pack makes a tar of the files that a store consists of; the others are the engine's notes to itself.
func pack(g gomega.Gomega, dir string) []byte {
	files, err := os.ReadDir(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		name := f.Name()
		if strings.HasPrefix(name, "LO") || strings.HasPrefix(name, "OPTIONS-") || name == "IDENTITY" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))})).To(gomega.Succeed())
		_, err = w.Write(content)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(w.Close()).To(gomega.Succeed())
	return out.Bytes()
}

func unpack(g gomega.Gomega, file, dir string) {
	packed, err := os.Open(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(packed.Close()).To(gomega.Succeed()) }()
	for r := tar.NewReader(packed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		g.Expect(err).NotTo(gomega.HaveOccurred())
		content, err := io.ReadAll(r)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(os.WriteFile(filepath.Join(dir, filepath.Base(header.Name)), content, 0o600)).To(gomega.Succeed())
	}
}
