package persistence

import "time"

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
	// worthIdleTidying is how many are worth it when nothing else goes on.
	worthIdleTidying = 1 << 20
	// tidyLatest is when deletions are brought to an end whatever the estimate says: it goes by the messages' mean size.
	tidyLatest = 24 * time.Hour
	// tidyShare bounds the tidier's part of the time: it rests that many times as long as it worked.
	tidyShare = 10
)

// occupancy is what the messages take, as the engine tells.
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
	case o.dead >= worthTidying && o.dead >= o.files/worthTidyingPart:
		return true
	case idle && (o.dead >= worthIdleTidying || o.memory >= worthIdleTidying):
		return true
	}
	return since >= tidyLatest
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
	var entries int64
	last := time.Now()
	for {
		select {
		case <-s.tidier.stop:
			return
		case <-look.C:
		}
		began := time.Now()
		entries = s.tidy(entries, began.Sub(last), &last)
		look.Reset(max(s.opts.tidyEvery, tidyShare*time.Since(began)))
	}
}

// tidy looks once, and compacts if that pays.
func (s *Store) tidy(before int64, since time.Duration, last *time.Time) (entries int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.mu.engine == nil || s.Err() != nil { // the disk has other troubles
		return 0
	}
	o := s.mu.engine.occupancy()
	if o.worth(o.entries == before, since) {
		s.mu.engine.compact()
		*last = time.Now()
	}
	return o.entries
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
