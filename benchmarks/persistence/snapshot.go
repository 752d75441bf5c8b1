package main

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

// snapshot makes snapshots while messages are written, and one when all is quiet, and restores the last.
func snapshot(b *bench) error {
	home := b.dir
	b.dir = filepath.Join(home, "data")
	s, err := b.open()
	if err != nil {
		return err
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		f, bodies := newFeed(s), newBodies()
		f.commit(mq9.CreateMailbox{Mailbox: box(1)})
		for i := 1; ; i++ {
			select {
			case <-stop:
				stopped <- f.wait()
				return
			default:
				f.commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(i, bodies.next(b.size))}})
			}
		}
	}()
	target := ""
	for n := range b.rounds {
		time.Sleep(time.Second)
		all, logs, err := usageOf(b.dir)
		if err != nil {
			return err
		}
		began := time.Now()
		target = filepath.Join(home, "snapshot"+strconv.Itoa(n))
		if err := s.Checkpoint(target); err != nil {
			return err
		}
		say("snapshot under load", "%v (%s, %s of it log)", time.Since(began).Round(time.Millisecond), mib(all), mib(logs))
	}
	close(stop)
	if err := <-stopped; err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return b.restoreOnce(target, filepath.Join(home, "restored"))
}

// restoreOnce measures a restoration.
func (b *bench) restoreOnce(from, to string) error {
	began := time.Now()
	if err := persistence.Restore(from, to, b.options); err != nil {
		return err
	}
	all, _, err := usageOf(to)
	if err != nil {
		return err
	}
	say("restored", "%s in %v", mib(all), time.Since(began).Round(time.Millisecond))
	return os.RemoveAll(to)
}
