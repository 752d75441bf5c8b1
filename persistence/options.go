package persistence

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Sync says what must have happened before a change is acknowledged. See the package comment for what each one survives.
type Sync uint8

// The sync modes.
const (
	SyncAlways   Sync = iota // on disk; the default
	SyncInterval             // handed to the operating system, synced every Options.SyncInterval
	SyncNever                // handed to the operating system
)

var syncNames = [...]string{"always", "interval", "never"}

// String returns the name that ParseSync reads.
func (s Sync) String() string {
	if int(s) < len(syncNames) {
		return syncNames[s]
	}
	return "invalid"
}

// ParseSync reads "always", "interval" or "never".
func ParseSync(name string) (Sync, error) {
	for i, known := range syncNames {
		if name == known {
			return Sync(i), nil
		}
	}
	return 0, fmt.Errorf("unknown sync mode %q: use always, interval or never", name)
}

// Options says how a Store works. The zero value of every field means its default.
type Options struct {
	// Sync is what an acknowledgement promises; zero = SyncAlways.
	Sync Sync
	// SyncInterval is the time between two syncs in the mode SyncInterval, the most that a power failure costs then;
	// zero = 100 ms. The other modes ignore it.
	SyncInterval time.Duration

	// Logger is told of failing and recovering writes, never of a mail_id; nil = slog.Default().
	Logger *slog.Logger
	// Observe, if given, is called after each batch from the committer's goroutine, so it must not block.
	Observe func(Batch)

	// BlockCacheBytes bounds the memory for blocks read from disk; zero = 64 MiB.
	BlockCacheBytes int64
	// MemtableBytes is how much gathers in memory before files are written; zero = 64 MiB. Twice as much may exist at a time.
	MemtableBytes int64
	// MaxBatchChanges bounds the changes of one batch; zero = 2048. More of them cost less each and make the first ones wait longer.
	MaxBatchChanges int
	// MaxBatchBytes bounds the bytes of one batch, except that one change always fits; zero = 4 MiB.
	MaxBatchBytes int

	// Salvage opens a store whose log is damaged in the middle: what was written before the damage is kept, what
	// came after it is dropped.
	Salvage bool

	// Tuning changes the engine's own options, for measurements; a broker leaves it zero.
	Tuning Tuning

	// tidyEvery is the time between two looks of the tidier; zero = 5 s. Tests only.
	tidyEvery time.Duration
	// beforeWrite is called by the committer ahead of each write; an error stands in for the engine's. Tests only.
	beforeWrite func() error
}

// Tuning departs from the options of RocksDB that the package comment argues for, so that benchmarks/persistence can measure
// the alternatives. The texts are RocksDB's own, "name=value;name=value", and go on top of ours; a wrong one makes Open fail.
type Tuning struct {
	Database  string // options of the database
	Messages  string // options of the messages' column family
	CloseGaps bool   // compact files that are dense with deletions as soon as they are written
	WarmReads bool   // Read leaves what it read in the block cache
	ReadAhead int    // bytes that Read's iterator asks the disk for ahead; 0 = RocksDB's own judgement
	NoTidying bool   // nobody looks for space to give back
}

// Batch describes one batch that was written, or was not.
type Batch struct {
	Changes int           // how many changes gathered in it
	Bytes   int           // their size
	Queued  int           // how many had gathered behind it when it was done
	Took    time.Duration // writing and syncing
	Waited  time.Duration // from the acceptance of its oldest message, by the wall clock, to its end; 0 = it has no message
	Err     error         // why it was not written, or nil
}

// EnsureDefaults replaces every zero field with its default.
func (o *Options) EnsureDefaults() {
	fill(&o.SyncInterval, 100*time.Millisecond)
	fill(&o.BlockCacheBytes, 64<<20)
	fill(&o.MemtableBytes, 64<<20)
	fill(&o.MaxBatchChanges, 2048)
	fill(&o.MaxBatchBytes, 4<<20)
	fill(&o.tidyEvery, tidyEvery)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// Validate reports everything that is wrong with the options, in one line, or nil.
func (o *Options) Validate() error {
	var wrong []string
	check := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	check(int(o.Sync) < len(syncNames), "Sync is none of the known modes")
	check(o.SyncInterval >= time.Millisecond, "SyncInterval must be at least 1ms")
	check(o.BlockCacheBytes > 0, "BlockCacheBytes must be positive")
	check(o.MemtableBytes >= 64<<10, "MemtableBytes must be at least 64 KiB")
	check(o.MaxBatchChanges > 0, "MaxBatchChanges must be positive")
	check(o.MaxBatchBytes > 0, "MaxBatchBytes must be positive")
	if wrong == nil {
		return nil
	}
	return errors.New("store options: " + strings.Join(wrong, "; "))
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
