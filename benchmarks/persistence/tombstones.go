package main

import (
	"fmt"
	"time"

	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

func tombstones(b *bench) error {
	s, err := b.open()
	if err != nil {
		return err
	}
	f, bodies := newFeed(s), newBodies()
	f.commit(mq9.CreateMailbox{Mailbox: box(1)})
	began := time.Now()
	for i := range b.n {
		f.commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(i+1, bodies.next(b.size))}})
	}
	f.commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(b.n+1, bodies.next(b.size))}})
	alive := 1
	for id := 1; id <= b.n; id++ {
		if b.middle && id == 1 {
			alive++
			continue
		}
		f.commit(mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: msgID(id), First: b.first(id)})
	}
	if err := f.wait(); err != nil {
		return err
	}
	say("published and deleted", "%v", time.Since(began).Round(time.Millisecond))
	if err := firstMessage(s, alive, "before a restart"); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	began = time.Now()
	if s, err = b.open(); err != nil {
		return err
	}
	say("open", "%v", time.Since(began).Round(time.Microsecond))
	if err := firstMessage(s, alive, "right after a restart"); err != nil {
		return err
	}
	return s.Close()
}

// first is the first message as the actor knows it when it deletes one: it learns of a deletion when that is stored.
func (b *bench) first(id int) mq9.MsgID {
	switch {
	case b.unmarked:
		return 0
	case b.middle:
		return msgID(1)
	}
	return msgID(max(1, id-window))
}

// firstMessage does what a mailbox actor does for its first subscriber.
func firstMessage(s *persistence.Store, alive int, when string) error {
	began := time.Now()
	var entries []mq9.Entry
	if err := s.Index(1, func(e mq9.Entry) { entries = append(entries, e) }); err != nil {
		return err
	}
	if len(entries) != alive {
		return fmt.Errorf("%d messages are alive", len(entries))
	}
	read, err := s.Read(1, mq9.Urgent, entries[0].ID, readAhead)
	if err != nil || len(read) == 0 {
		return fmt.Errorf("read %d messages, %w", len(read), err)
	}
	say("to the one alive, "+when, "%v", time.Since(began).Round(time.Microsecond))
	return nil
}
