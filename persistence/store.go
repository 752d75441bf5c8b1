package persistence

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/linxGnu/grocksdb"

	"github.com/mq9-broker/broker/mq9"
)

// Store is the durable store on RocksDB. Open makes it, Close ends it; its methods are safe for concurrent use.
type Store struct {
	dir  string  // immutable
	opts Options // immutable

	committer committer
	ids       ids
	graves    *graves
	tidier    *tidier

	// Owned by the committer's goroutine.
	batch   *grocksdb.WriteBatch
	scratch []byte          // a key and a record under construction
	live    map[uint64]*box // by number, exactly the mailboxes that have metadata; nil = nothing to remember of it
	turns   []turn          // how the batch changes live
	unsaved bool            // something was written and not synced
	trouble trouble

	checkpoints sync.Mutex // held while a snapshot is made

	failure atomic.Pointer[error] // why writes fail now; written by the committer, and by Close when that has ended

	mu struct {
		sync.RWMutex         // held for reading during every read, so that nobody closes the engine under it
		engine       *engine // nil after Close, and while a reopening fails. Replaced by the committer, which alone may read it unlocked
	}
	closing sync.Once
}

// start begins the goroutines.
func (s *Store) start() {
	s.batch = grocksdb.NewWriteBatch()
	s.committer = committer{
		maxChanges: s.opts.MaxBatchChanges,
		maxBytes:   s.opts.MaxBatchBytes,
		write:      s.writeBatch,
		tick:       s.tick,
		period:     probeInterval,
	}
	if s.opts.Sync == SyncInterval {
		s.committer.period = min(s.opts.SyncInterval, probeInterval)
	}
	s.ids.committer = &s.committer
	s.committer.start()
	s.startPurger()
	go s.tidyAll()
}

// Close writes what was handed over before it, syncs, ends the goroutines and closes RocksDB, waiting for reads that run.
// It must not be called from a callback. What is called afterwards answers [ErrClosed]. Closing again does nothing.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.stopTidier()
		s.stopPurger()
		s.committer.close()
		s.failure.Store(&ErrClosed)

		s.mu.Lock()
		defer s.mu.Unlock()
		s.batch.Destroy()
		if s.mu.engine == nil {
			return
		}
		if s.unsaved {
			err = s.mu.engine.syncLog()
		}
		s.mu.engine.close()
		s.mu.engine = nil
	})
	return err
}

// Commit hands over a change and returns at once. Changes take effect in the order of the calls. done, which may be nil, is called exactly once,
// in that order too, on the committer's goroutine, so it must neither block nor call ReserveIDs or Close: with nil
// when the change is down as the sync mode promises, or with the reason why it changed nothing. That is mq9.ErrNoMailbox
// for a message to a mailbox that is not alive, [ErrInvalid] for what cannot be stored, or an error that reads as 503.
// Nothing is stored for a mailbox after its expiry. After Close, done is called before Commit returns.
// The change, and what it points to, is immutable from then on.
func (s *Store) Commit(c mq9.Change, done func(error)) { s.committer.commit(c, done) }

// ReserveIDs takes n ids, at least one, out of use for good and returns the first; the others follow it. They are on
// disk as used, synced in every mode, before it returns. Ids begin at 1.
func (s *Store) ReserveIDs(n uint64) (first uint64, err error) { return s.ids.reserve(n) }

// Err reports why durable writes would fail now, or nil. It knows within about a second when they work again.
func (s *Store) Err() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Outstanding is how many changes were handed over whose outcome is not told yet, without the one that is being told.
func (s *Store) Outstanding() int { return int(s.committer.outstanding.Load()) }

// Queued is how many changes wait for the batch that is being written.
func (s *Store) Queued() int { return s.committer.queued() }

// probeInterval is how often the committer tries again when writes fail.
const probeInterval = time.Second
