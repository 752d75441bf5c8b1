package main

import (
	"fmt"
	"os"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

func recovery(b *bench) error {
	s, err := b.open()
	if err != nil {
		return err
	}
	began := time.Now()
	bytes, err := b.fill(s, b.mailboxes)
	if err != nil {
		return err
	}
	say("written", "%s in %v", mib(bytes), time.Since(began).Round(time.Millisecond))
	// What a kill would leave: the files as they are now, the log unflushed.
	killed := b.dir + "-killed"
	if err := os.CopyFS(killed, os.DirFS(b.dir)); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(killed) }()
	if err := s.Close(); err != nil {
		return err
	}
	for _, start := range []struct{ after, dir string }{{"a kill", killed}, {"an orderly end", b.dir}} {
		if err := b.startOnce(start.after, start.dir); err != nil {
			return err
		}
	}
	return nil
}

// startOnce opens a store as a starting broker does, and indexes each mailbox.
func (b *bench) startOnce(after, dir string) error {
	if err := chillFiles(dir); err != nil {
		return err
	}
	_, logs, err := usageOf(dir)
	if err != nil {
		return err
	}
	began := time.Now()
	kept := b.dir
	b.dir = dir
	s, err := b.open()
	b.dir = kept
	if err != nil {
		return err
	}
	opened := time.Since(began)
	mailboxes := 0
	if err := s.Mailboxes(func(mq9.Mailbox) error { mailboxes++; return nil }); err != nil {
		return err
	}
	say("serving after "+after, "%v: open %v, %d mailboxes %v (%s of log)", time.Since(began).Round(time.Millisecond),
		opened.Round(time.Millisecond), mailboxes, (time.Since(began) - opened).Round(time.Microsecond), mib(logs))
	var longest, sum time.Duration
	entries := 0
	for i := range mailboxes {
		began := time.Now()
		if err := s.Index(uint64(i+1), func(mq9.Entry) { entries++ }); err != nil {
			return err
		}
		took := time.Since(began)
		longest, sum = max(longest, took), sum+took
	}
	if entries != b.n {
		return fmt.Errorf("%d of %d messages are there", entries, b.n)
	}
	say("index of a mailbox", "mean %v, longest %v", (sum / time.Duration(mailboxes)).Round(time.Microsecond), longest.Round(time.Microsecond))
	return s.Close()
}
