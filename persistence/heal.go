package persistence

import (
	"encoding/binary"
	"errors"
	"os"
	"time"
)

var errNoEngine = errors.New("the database is closed until it can be opened again")

const (
	// patience is how many probes fail before the engine is reopened: RocksDB's own recovery, which disturbs nobody, gets to try first.
	patience = 6
	// logInterval is the least time between two log lines that say that writes still fail.
	logInterval = 30 * time.Second
)

// trouble is what the committer remembers of writes that fail; zero = all is well. Owned by its goroutine.
type trouble struct {
	since  time.Time // of the first failure
	logged time.Time // when it was last told
	probed time.Time // when a probe was last made
	probes int       // how many of them failed since the start, or since the last reopening
}

// noteWrite records how a write went, for Err and for the log.
func (s *Store) noteWrite(err error) {
	switch now := time.Now(); {
	case err == nil && s.trouble.since.IsZero():
	case err == nil:
		s.opts.Logger.Info("durable writes work again", "failed_for", now.Sub(s.trouble.since).Round(time.Millisecond))
		s.trouble = trouble{}
		s.failure.Store(nil)
	default:
		if s.trouble.since.IsZero() {
			s.trouble.since = now
		}
		if now.Sub(s.trouble.logged) >= logInterval {
			s.trouble.logged = now
			s.opts.Logger.Error("durable writes fail", "cause", oneLine(err), "since", s.trouble.since)
		}
		err = unavailable(err)
		s.failure.Store(&err)
	}
}

// tick runs on the committer's goroutine now and then: it syncs what the mode SyncInterval left unsynced, and sees whether
// failing writes work again.
func (s *Store) tick() {
	switch {
	case s.failure.Load() == nil:
		if s.unsaved && s.opts.Sync == SyncInterval {
			s.syncLog()
		}
	case time.Since(s.trouble.probed) >= probeInterval/2:
		s.trouble.probed = time.Now()
		s.probe()
	}
}

func (s *Store) syncLog() {
	if err := s.mu.engine.syncLog(); err != nil {
		s.noteWrite(err)
		return
	}
	s.unsaved = false
}

// probe sees whether the engine takes writes. As long as it does not, it leaves the matter to RocksDB, and helps in the end.
func (s *Store) probe() {
	if s.mu.engine != nil && (s.writeProbe() || s.trouble.probes < patience) {
		return
	}
	if err := s.tryDirectory(); err != nil {
		s.noteWrite(err)
		return
	}
	if s.reopen() {
		s.writeProbe()
	}
}

// writeProbe writes what is there already, and reports whether that worked.
func (s *Store) writeProbe() bool {
	s.batch.Clear()
	s.batch.Put(keyFormat, binary.BigEndian.AppendUint32(nil, formatVersion))
	s.trouble.probes++
	err := s.tryWrite(true)
	s.noteWrite(err)
	if err == nil {
		s.unsaved = false
	}
	return err == nil
}

// tryDirectory reports why a reopening would fail: it needs room to write out what is in the log.
func (s *Store) tryDirectory() (err error) {
	if err := checkRoom(s.dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, "probe-*.dbtmp") // RocksDB removes what is left of these when it opens
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err = f.Write(make([]byte, 1<<20)); err != nil {
		return err
	}
	return f.Sync()
}

// reopen replaces the engine and reports whether there is one then. If not, a later probe tries again.
func (s *Store) reopen() bool {
	if s.mu.engine != nil {
		s.mu.engine.stopCompacting() // or the lock would wait for it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.engine != nil {
		s.mu.engine.close()
		s.mu.engine = nil
	}
	s.trouble.probes = 0
	e, err := openEngine(s.dir, &s.opts)
	if err != nil {
		s.noteWrite(err)
		return false
	}
	s.mu.engine = e
	s.opts.Logger.Warn("reopened the database because it did not recover by itself")
	return true
}
