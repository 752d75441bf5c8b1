package main

import (
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// queue runs mailboxes as queues, over messages that lie there: what is appended is deleted when half a million more were
// appended, and a tenth stays for good.
func queue(b *bench) error {
	s, err := b.open()
	if err != nil {
		return err
	}
	f, bodies := newFeed(s), newBodies()
	for i := range b.mailboxes {
		f.commit(mq9.CreateMailbox{Mailbox: box(i + 1)})
	}
	at := func(id int) uint64 { return uint64(id%b.mailboxes) + 1 }
	var live, user int64
	id := 0
	add := func() {
		id++
		m := message(id, bodies.next(b.size))
		f.commit(mq9.AppendMessages{Number: at(id), Messages: []*mq9.Message{m}})
		live, user = live+int64(m.Size()), user+int64(m.Size())
	}
	for range b.cold {
		add()
	}
	backlog := min(500_000, b.n/3)
	for range b.n {
		add()
		if gone := id - backlog; gone > b.cold && gone%10 != 0 {
			f.commit(mq9.DeleteMessage{Number: at(gone), Priority: mq9.Urgent, ID: msgID(gone)})
			live -= int64(b.size + len("Kind: task\r\n"))
		}
	}
	if err := f.wait(); err != nil {
		return err
	}
	return b.amplification(s, user, live)
}

// amplification says what the disk was given and what it holds, against what the user gave and left.
func (b *bench) amplification(s interface{ Close() error }, user, live int64) error {
	soon, logs, err := usageOf(b.dir)
	if err != nil {
		return err
	}
	time.Sleep(b.watch) // let compactions that are due come to an end
	late, lateLogs, err := usageOf(b.dir)
	if err != nil {
		return err
	}
	out, err := written()
	if err != nil {
		return err
	}
	say("given, and left", "%s, %s", mib(user), mib(live))
	say("write amplification", "%.2f", float64(out)/float64(user))
	say("space amplification at the end", "%.2f (%s, %s of it log)", float64(soon)/float64(live), mib(soon), mib(logs))
	say("space amplification later", "%.2f (%s, %s of it log)", float64(late)/float64(live), mib(late), mib(lateLogs))
	return s.Close()
}
