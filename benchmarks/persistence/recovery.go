package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// fillVariable names the directory that a second process is to fill and leave as a kill leaves it.
const fillVariable = "MQ9_BENCH_FILL"

func recovery(b *bench) error {
	if dir := os.Getenv(fillVariable); dir != "" {
		b.clean() // its own directory, which it does not need
		b.dir = dir
		return b.fillAndDie()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fill := exec.Command(self, os.Args[1:]...) //nolint:gosec // this program, as it was called
	fill.Env = append(os.Environ(), fillVariable+"="+b.dir)
	fill.Stdout, fill.Stderr = os.Stdout, os.Stderr
	if err := fill.Run(); err == nil || fill.ProcessState.ExitCode() != -1 {
		return fmt.Errorf("filling: %w", err)
	}
	for _, after := range []string{"a kill", "an orderly end"} {
		if err := b.startOnce(after); err != nil {
			return err
		}
	}
	return nil
}

// fillAndDie fills the store and kills this process.
func (b *bench) fillAndDie() error {
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
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// startOnce opens the store as a starting broker does, and indexes each mailbox.
func (b *bench) startOnce(after string) error {
	if err := chillFiles(b.dir); err != nil {
		return err
	}
	_, logs, err := usageOf(b.dir)
	if err != nil {
		return err
	}
	began := time.Now()
	s, err := b.open()
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
