package persistence

import (
	"bytes"
	"sync"
	"time"
)

// purgeBatch is how many messages the purger deletes at a time: enough to make a sync cheap, little enough not to be felt by those who wait behind it.
const purgeBatch = 512

// graves are the expired mailboxes whose messages are still to be deleted. On disk they are the family graveyard.
type graves struct {
	stop chan struct{} // closed to end the purger
	gone chan struct{} // closed when the purger has ended
	wake chan struct{} // holds a token while numbers may be non-empty

	mu struct {
		sync.Mutex
		numbers []uint64
	}
}

func newGraves() *graves {
	return &graves{stop: make(chan struct{}), gone: make(chan struct{}), wake: make(chan struct{}, 1)}
}

func (g *graves) add(number uint64) {
	g.mu.Lock()
	g.mu.numbers = append(g.mu.numbers, number)
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default: // there is a token already
	}
}

// first returns the oldest grave and leaves it there: it goes when it is empty.
func (g *graves) first() (number uint64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.mu.numbers) == 0 {
		return 0, false
	}
	return g.mu.numbers[0], true
}

func (g *graves) dropFirst() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.numbers = g.mu.numbers[1:]
}

func (s *Store) startPurger() { go s.purgeAll() }

func (s *Store) stopPurger() {
	close(s.graves.stop)
	<-s.graves.gone
}

// purgeAll is the purger's goroutine. What fails is tried again later.
func (s *Store) purgeAll() {
	defer close(s.graves.gone)
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		select {
		case <-s.graves.stop:
			return
		case <-s.graves.wake:
		case <-retry.C:
		}
		for {
			number, ok := s.graves.first()
			if !ok {
				break
			}
			if err := s.purge(number); err != nil {
				retry.Reset(probeInterval)
				break
			}
			if s.stopping() {
				return
			}
			s.graves.dropFirst()
		}
	}
}

func (s *Store) stopping() bool {
	select {
	case <-s.graves.stop:
		return true
	default:
		return false
	}
}

// purge deletes what is stored under the number of an expired mailbox, and then its grave. It leaves early, without an error,
// when the store stops.
func (s *Store) purge(number uint64) error {
	for _, f := range bulk {
		if err := s.purgeFamily(f, number); err != nil {
			return err
		}
	}
	if s.stopping() {
		return nil
	}
	return s.committer.commitWait(bury{number})
}

// purgeFamily empties a family of an expired mailbox. Files of a big mailbox go as a whole; the rest is deleted key by key,
// each round behind what the last one deleted, not to walk over its tombstones.
func (s *Store) purgeFamily(f family, number uint64) error {
	from, to := appendNumber(nil, number), mailboxEnd(number)
	if err := s.view(func(e *engine) error { return e.dropFiles(f, from, to) }); err != nil {
		return err
	}
	for !s.stopping() {
		keys, err := s.keys(f, from, to)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := s.committer.commitWait(purge{f, keys}); err != nil {
			return err
		}
		from = append(keys[len(keys)-1], 0)
	}
	return nil
}

// keys reads the first keys of a range.
func (s *Store) keys(f family, from, to []byte) (keys [][]byte, err error) {
	err = s.read(scan{family: f, from: from, to: to}, func(key, _ []byte) (bool, error) {
		keys = append(keys, bytes.Clone(key))
		return len(keys) < purgeBatch, nil
	})
	return keys, err
}
