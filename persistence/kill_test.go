package persistence

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// writerRole stores messages in a mailbox per tier until it is killed, deletes every fourth, and writes a line for each acknowledgement.
func writerRole(dir string) error {
	s, err := Open(dir, Options{MemtableBytes: 64 << 10}) // flushes and compactions are on the way when it dies
	if err != nil {
		return err
	}
	const chunk = 64
	var out sync.Mutex // keeps lines whole
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Fprintf(os.Stdout, format+"\n", args...)
	}
	number, err := s.ReserveIDs(1)
	if err != nil {
		return err
	}
	say("mailbox %d", number)
	if err := tryCommit(s, mq9.CreateMailbox{Mailbox: mailbox(number)}); err != nil {
		return err
	}
	say("created %d", number)
	for {
		first, err := s.ReserveIDs(chunk)
		if err != nil {
			return err
		}
		var group sync.WaitGroup
		for id := mq9.MsgID(first); id < mq9.MsgID(first)+chunk; id++ {
			p := mq9.Priority(id % 2)
			group.Add(1)
			s.Commit(mq9.AppendMessages{Number: number, Messages: []*mq9.Message{message(id, p)}}, func(err error) {
				if err == nil {
					say("stored %d", id)
				}
				group.Done()
			})
			if id%4 == 0 {
				group.Add(1)
				s.Commit(mq9.DeleteMessage{Number: number, Priority: p, ID: id}, func(err error) {
					if err == nil {
						say("deleted %d", id)
					}
					group.Done()
				})
			}
		}
		group.Wait()
	}
}

// What was acknowledged before SIGKILL is there afterwards, once and in order; what was deleted stays deleted; no id comes again.
func TestKilledProcessLosesNothing(t *testing.T) {
	t.Parallel() // it mostly waits
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	type life struct{ stored, deleted map[mq9.MsgID]bool }
	lives := map[uint64]*life{}
	var highest uint64
	for round := range 6 {
		c := start(t, "writer", dir)
		var number uint64
		for line := 0; c.lines.Scan(); line++ {
			var verb string
			var id uint64
			_, err := fmt.Sscan(c.lines.Text(), &verb, &id)
			g.Expect(err).NotTo(gomega.HaveOccurred(), c.lines.Text())
			switch verb {
			case "mailbox":
				number = id
				g.Expect(id).To(gomega.BeNumerically(">", highest), "ids of an earlier life")
			case "created":
				lives[id] = &life{map[mq9.MsgID]bool{}, map[mq9.MsgID]bool{}}
			case "stored":
				lives[number].stored[mq9.MsgID(id)] = true
			case "deleted":
				lives[number].deleted[mq9.MsgID(id)] = true
			}
			highest = max(highest, id)
			if line == 1+round*700 { // the first life ends right after its mailbox was created
				g.Expect(c.Process.Kill()).To(gomega.Succeed()) // what it still wrote is read to the end
			}
		}
		g.Expect(c.Wait()).To(gomega.MatchError("signal: killed"))
	}

	s := open(t, dir, Options{})
	g.Expect(mailboxes(g, s)).To(gomega.HaveLen(len(lives)))
	for number, l := range lives {
		found := map[mq9.MsgID]bool{}
		var last mq9.Entry
		for _, e := range index(g, s, number) {
			g.Expect(e.Priority > last.Priority || e.ID > last.ID).To(gomega.BeTrue(), "order")
			last = e
			found[e.ID] = true
		}
		for id := range l.stored {
			g.Expect(found[id] || id%4 == 0).To(gomega.BeTrue(), "message %d was acknowledged", id)
		}
		for id := range l.deleted {
			g.Expect(found).NotTo(gomega.HaveKey(id), "message %d was deleted", id)
		}
		for p := range mq9.Normal {
			for _, m := range readAll(g, s, number, p) {
				g.Expect(m).To(gomega.Equal(message(m.ID, m.Priority)))
			}
		}
	}
	first, err := s.ReserveIDs(1)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(first).To(gomega.BeNumerically(">", highest))
}

func openerRole(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

func TestSecondProcessIsRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	s := open(t, dir, Options{})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})

	second := start(t, "opener", dir)
	g.Expect(second.lines.Scan()).To(gomega.BeTrue())
	g.Expect(second.lines.Text()).To(gomega.Equal("error . is in use by another broker: stop that one, or choose another directory"))
	g.Expect(second.lines.Scan()).To(gomega.BeFalse(), "one line")
	g.Expect(second.Wait()).To(gomega.MatchError("exit status 1"))

	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(2)})
	g.Expect(s.Close()).To(gomega.Succeed())
	third := start(t, "opener", dir)
	g.Expect(third.lines.Scan()).To(gomega.BeFalse())
	g.Expect(third.Wait()).To(gomega.Succeed())
}
