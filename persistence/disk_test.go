package persistence

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// fullDiskRole makes the system refuse longer files, so that RocksDB's own writes fail, and gives the room back later.
func fullDiskRole(dir string) error {
	signal.Ignore(syscall.SIGXFSZ) // let the write return an error instead
	s, err := Open(dir, Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	if err := tryCommit(s, mq9.CreateMailbox{Mailbox: mailbox(1)}); err != nil {
		return err
	}
	body := make([]byte, 4000)
	appendOne := func(id mq9.MsgID) error {
		m := &mq9.Message{ID: id, Priority: mq9.Critical, At: 1, Payload: body}
		return tryCommit(s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{m}})
	}
	if err := limitFiles(200_000); err != nil {
		return err
	}
	id := mq9.MsgID(1)
	for ; appendOne(id) == nil; id++ {
		fmt.Println("stored", uint64(id))
	}
	if err := s.Err(); !errors.Is(err, mq9.ErrUnavailable) {
		return fmt.Errorf("Err while the disk is full: %w", err)
	}
	stored := 0
	if err := s.Index(1, func(mq9.Entry) { stored++ }); err != nil || stored != int(id-1) {
		return fmt.Errorf("index while the disk is full: %d of %d messages, %w", stored, id-1, err)
	}
	fmt.Println("full", uint64(id))

	if err := limitFiles(math.MaxUint64); err != nil {
		return err
	}
	deadline := time.After(2 * longest)
	for s.Err() != nil {
		select {
		case <-deadline:
			return fmt.Errorf("no recovery: %w", s.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := appendOne(id + 1); err != nil {
		return err
	}
	fmt.Println("stored", uint64(id+1))
	return s.Close()
}

// limitFiles bounds the size of every file that the process writes.
func limitFiles(bytes uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = min(bytes, limit.Max)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

func TestFullDisk(t *testing.T) {
	t.Parallel() // it mostly waits
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	c := start(t, "full", dir)
	var acknowledged []mq9.MsgID
	full := false
	for c.lines.Scan() {
		var verb string
		var id uint64
		_, err := fmt.Sscan(c.lines.Text(), &verb, &id)
		g.Expect(err).NotTo(gomega.HaveOccurred(), c.lines.Text())
		if full = full || verb == "full"; verb == "stored" {
			acknowledged = append(acknowledged, mq9.MsgID(id))
		}
	}
	g.Expect(c.Wait()).To(gomega.Succeed())
	g.Expect(full).To(gomega.BeTrue())
	s := open(t, dir, Options{})
	g.Expect(idsOf(readAll(g, s, 1, mq9.Critical))).To(gomega.Equal(acknowledged))
}
