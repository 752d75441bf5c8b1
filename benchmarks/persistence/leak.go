package main

import (
	"os"
	"path/filepath"

	"github.com/mq9-broker/broker/mq9"
)

// leak opens and closes -n iterators and one snapshot in a thousand of that, and shows the memory.
func leak(b *bench) error {
	home := b.dir
	b.dir = filepath.Join(home, "data")
	s, err := b.open()
	if err != nil {
		return err
	}
	reads := b.n
	b.n = 1000
	if _, err := b.fill(s, 1); err != nil {
		return err
	}
	for n := range reads {
		if n%(reads/10+1) == 0 {
			now, err := resident()
			if err != nil {
				return err
			}
			say("memory", "%s after %d iterators", mib(now), n)
		}
		if _, err := s.Read(1, mq9.Urgent, msgID(n%b.n), 1000); err != nil {
			return err
		}
		if n%1000 == 0 {
			target := filepath.Join(home, "snapshot")
			if err := s.Checkpoint(target); err != nil {
				return err
			}
			if err := os.RemoveAll(target); err != nil {
				return err
			}
		}
	}
	now, err := resident()
	if err != nil {
		return err
	}
	say("memory", "%s after %d iterators", mib(now), reads)
	return s.Close()
}
