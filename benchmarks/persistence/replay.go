package main

import (
	"fmt"
	"time"

	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

// readAhead is what a mailbox actor asks for at once.
const readAhead = 128 << 10

// fill writes n messages, spread over the mailboxes, one after the other.
func (b *bench) fill(s *persistence.Store, mailboxes int) (bytes int64, err error) {
	f, bodies := newFeed(s), newBodies()
	for i := range mailboxes {
		f.commit(mq9.CreateMailbox{Mailbox: box(i + 1)})
	}
	for i := range b.n {
		m := message(i+1, bodies.next(b.size))
		bytes += int64(m.Size())
		f.commit(mq9.AppendMessages{Number: uint64(i%mailboxes) + 1, Messages: []*mq9.Message{m}})
	}
	return bytes, f.wait()
}

func replay(b *bench) error {
	s, err := b.open()
	if err != nil {
		return err
	}
	began := time.Now()
	bytes, err := b.fill(s, 1)
	if err != nil {
		return err
	}
	say("written", "%s in %v, %s", mib(bytes), time.Since(began).Round(time.Millisecond), perSecond(bytes, time.Since(began)))
	if err := s.Close(); err != nil {
		return err
	}
	for _, cold := range []bool{true, false} {
		if err := b.replayOnce(cold); err != nil {
			return err
		}
	}
	most, err := peak()
	say("memory at its peak", "%s", mib(most))
	return err
}

// replayOnce opens the store, indexes the mailbox and reads it through, as its actor does for a subscriber.
func (b *bench) replayOnce(cold bool) error {
	state := "warm"
	if cold {
		state = "cold"
		if err := chillFiles(b.dir); err != nil {
			return err
		}
	}
	began := time.Now()
	s, err := b.open()
	if err != nil {
		return err
	}
	say("open, "+state, "%v", time.Since(began).Round(time.Millisecond))
	began, busy := time.Now(), processor()
	entries := 0
	if err := s.Index(1, func(mq9.Entry) { entries++ }); err != nil {
		return err
	}
	say("index, "+state, "%v for %d messages, %v of processor", time.Since(began).Round(time.Millisecond), entries,
		(processor() - busy).Round(time.Millisecond))
	if cold {
		if err := chillFiles(b.dir); err != nil {
			return err
		}
	}
	began, busy = time.Now(), processor()
	bytes, count, calls := int64(0), 0, 0
	for from := mq9.MsgID(1); ; calls++ {
		read, err := s.Read(1, mq9.Urgent, from, readAhead)
		if err != nil {
			return err
		}
		if len(read) == 0 {
			break
		}
		for _, m := range read {
			bytes += int64(m.Size())
		}
		count += len(read)
		from = read[len(read)-1].ID + 1
	}
	took := time.Since(began)
	if count != entries {
		return fmt.Errorf("%d of %d messages were read", count, entries)
	}
	say("replay, "+state, "%s in %v, %s, %d reads, %v of processor", mib(bytes), took.Round(time.Millisecond),
		perSecond(bytes, took), calls, (processor() - busy).Round(time.Millisecond))
	now, err := resident()
	if err != nil {
		return err
	}
	say("memory after it", "%s", mib(now))
	return s.Close()
}
