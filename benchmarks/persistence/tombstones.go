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
		f.commit(mq9.AppendMessage{Number: 1, Message: message(i+1, mq9.Urgent, bodies.next(b.size))})
	}
	f.commit(mq9.AppendMessage{Number: 1, Message: message(b.n+1, mq9.Urgent, bodies.next(b.size))})
	for i := range b.n {
		first := mq9.NewMsgID(uint64(max(1, i+1-window)), mq9.Urgent) // the actor learns of a deletion when it is stored
		f.commit(mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: mq9.NewMsgID(uint64(i+1), mq9.Urgent), First: first})
	}
	if err := f.wait(); err != nil {
		return err
	}
	say("published and deleted", "%v", time.Since(began).Round(time.Millisecond))
	if err := firstMessage(b, s, "before a restart"); err != nil {
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
	if err := firstMessage(b, s, "right after a restart"); err != nil {
		return err
	}
	return s.Close()
}

// firstMessage does what a mailbox actor does for its first subscriber.
func firstMessage(b *bench, s *persistence.Store, when string) error {
	began := time.Now()
	var entries []mq9.Entry
	if err := s.Index(1, func(e mq9.Entry) { entries = append(entries, e) }); err != nil {
		return err
	}
	if len(entries) != 1 {
		return fmt.Errorf("%d messages are alive", len(entries))
	}
	read, err := s.Read(1, mq9.Urgent, entries[0].ID, readAhead)
	if err != nil || len(read) != 1 {
		return fmt.Errorf("read %d messages, %w", len(read), err)
	}
	say("to the one alive, "+when, "%v", time.Since(began).Round(time.Microsecond))
	return nil
}
