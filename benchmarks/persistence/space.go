package main

import (
	"time"

	"github.com/mq9-broker/broker/mq9"
)

func space(b *bench) error {
	s, err := b.open()
	if err != nil {
		return err
	}
	boxes := make([]*mq9.Mailbox, b.mailboxes)
	f, bodies := newFeed(s), newBodies()
	for i := range boxes {
		boxes[i] = box(i + 1)
		f.commit(mq9.CreateMailbox{Mailbox: boxes[i]})
	}
	user := int64(0)
	for i := range b.n {
		m := message(i+1, bodies.next(b.size))
		user += int64(m.Size())
		f.commit(mq9.AppendMessages{Number: uint64(i%b.mailboxes) + 1, Messages: []*mq9.Message{m}})
	}
	if err := f.wait(); err != nil {
		return err
	}
	full, logs, err := usageOf(b.dir)
	if err != nil {
		return err
	}
	say("written", "%s; on disk %s, %s of it log", mib(user), mib(full), mib(logs))
	began := time.Now()
	if b.expire {
		for _, m := range boxes {
			f.commit(mq9.ExpireMailbox{Mailbox: m})
		}
	} else {
		for i := range b.n {
			f.commit(mq9.DeleteMessage{Number: uint64(i%b.mailboxes) + 1, Priority: mq9.Urgent, ID: msgID(i + 1)})
		}
	}
	if err := f.wait(); err != nil {
		return err
	}
	say("deleted", "in %v", time.Since(began).Round(time.Millisecond))
	for deleted := time.Now(); ; {
		now, logs, err := usageOf(b.dir)
		if err != nil {
			return err
		}
		since := time.Since(deleted)
		if now < full/10 || since > b.watch {
			say("on disk", "%s, %s of it log, %v after the last deletion", mib(now), mib(logs), since.Round(time.Second/10))
			break
		}
		time.Sleep(time.Second / 5)
	}
	return s.Close()
}
