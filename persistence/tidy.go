package persistence

import (
	"syscall"
	"time"
)

// A deletion frees nothing by itself: the engine writes a tombstone, and the space comes back when a compaction brings that
// together with what it deletes. Compactions are due by size, though, and tombstones are small: thousands of big
// messages can be dead without one being due. So the tidier looks at the engine now and then and asks for a compaction when that pays.

const (
	// tidyEvery is the time between two looks.
	tidyEvery = 5 * time.Second
	// worthTidying is how many dead bytes are worth a compaction, if they are also this part of the files: what is
	// rewritten then is at most three times what is given back.
	worthTidying     = 16 << 20
	worthTidyingPart = 4
	// worthIdleTidying and its part are as much when nothing else goes on, which is when it disturbs nobody.
	worthIdleTidying     = 1 << 20
	worthIdleTidyingPart = 16
	// tidyLatest is when deletions are brought to an end whatever the estimate says: it goes by the messages' mean size.
	tidyLatest = 24 * time.Hour
	// tidyShare bounds the tidier's part of the time: it rests that many times as long as it worked.
	tidyShare = 10
)

// occupancy is what a family takes, as the engine tells.
type occupancy struct {
	files   int64 // bytes of the files
	dead    int64 // about how many of these belong to deleted messages
	memory  int64 // bytes of what is in no file yet; the log is at least as long
	deleted int64 // deletions, in files and in memory, that are not brought to an end
	entries int64 // in memory; it stands still when nobody writes
}

// worth reports whether a compaction pays.
func (o occupancy) worth(idle bool, since time.Duration) bool {
	switch {
	case o.deleted == 0:
		return false
	case since >= tidyLatest:
		return true
	case idle: // what is in memory is in the log too, dead or not
		return max(o.dead, o.memory) >= max(worthIdleTidying, o.files/worthIdleTidyingPart)
	}
	return o.dead >= max(worthTidying, o.files/worthTidyingPart)
}

// fits reports whether there is room for a compaction, which writes before it removes: at worst what lives, some steps
// at a time. On a full disk it would only be one failure more.
func (o occupancy) fits(dir string) bool {
	const step = 2 << 30
	var system syscall.Statfs_t
	if err := syscall.Statfs(dir, &system); err != nil {
		return false
	}
	return int64(system.Bavail)*system.Bsize > o.memory+min(o.files-o.dead, step)
}

// tidier gives space back, on a goroutine of its own.
type tidier struct {
	stop chan struct{} // closed to end it
	gone chan struct{} // closed when it has ended
}

func newTidier() *tidier { return &tidier{stop: make(chan struct{}), gone: make(chan struct{})} }

// tidyAll is the tidier's goroutine.
func (s *Store) tidyAll() {
	defer close(s.tidier.gone)
	if s.opts.Tuning.NoTidying {
		return
	}
	look := time.NewTimer(s.opts.tidyEvery)
	defer look.Stop()
	before := map[family]occupancy{}
	last := time.Now()
	for {
		select {
		case <-s.tidier.stop:
			return
		case <-look.C:
		}
		began := time.Now()
		tidied := false
		for _, f := range bulk {
			now, did := s.tidy(f, before[f], began.Sub(last))
			before[f], tidied = now, tidied || did
		}
		if tidied {
			last = time.Now()
		}
		look.Reset(max(s.opts.tidyEvery, tidyShare*time.Since(began)))
	}
}

// tidy looks at a family once, and compacts it if that pays.
func (s *Store) tidy(f family, before occupancy, since time.Duration) (now occupancy, tidied bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.mu.engine == nil || s.Err() != nil { // the disk has other troubles
		return before, false
	}
	now = s.mu.engine.occupancy(f)
	idle := now.entries == before.entries
	if !now.worth(idle, since) || !now.fits(s.dir) {
		return now, false
	}
	s.mu.engine.compact(f)
	return now, true
}

// stopTidier ends the tidier, and the compaction it may wait for.
func (s *Store) stopTidier() {
	close(s.tidier.stop)
	s.mu.RLock()
	if s.mu.engine != nil {
		s.mu.engine.stopCompacting()
	}
	s.mu.RUnlock()
	<-s.tidier.gone
}
