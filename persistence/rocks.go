package persistence

import (
	"encoding/binary"

	"github.com/linxGnu/grocksdb"
)

// family is a column family; the keys of each are drawn in keys.go.
type family int

const (
	familyDefault family = iota
	familyMailboxes
	familyMessages
	familyGraveyard
)

var familyNames = []string{"default", "mailboxes", "messages", "graveyard"}

// engine is an open RocksDB. Reads may run from several goroutines; only the committer writes. Its owner sees to it that
// nothing runs when it is closed: a handle that is still in use then aborts the process.
type engine struct {
	db       *grocksdb.DB
	families []*grocksdb.ColumnFamilyHandle // by family
	synced   *grocksdb.WriteOptions
	unsynced *grocksdb.WriteOptions
}

// openEngine opens or creates the database in dir.
func openEngine(dir string, o *Options) (*engine, error) {
	return openWith(o, func(whole *grocksdb.Options, each []*grocksdb.Options) (*grocksdb.DB, []*grocksdb.ColumnFamilyHandle, error) {
		return grocksdb.OpenDbColumnFamilies(whole, dir, familyNames, each)
	})
}

// openEngineReadOnly opens the database in dir without changing anything in it, its lock included. Nothing may be written to
// it.
func openEngineReadOnly(dir string, o *Options) (*engine, error) {
	return openWith(o, func(whole *grocksdb.Options, each []*grocksdb.Options) (*grocksdb.DB, []*grocksdb.ColumnFamilyHandle, error) {
		return grocksdb.OpenDbForReadOnlyColumnFamilies(whole, dir, familyNames, each, false)
	})
}

// blockBytes is how much is read, checked and unpacked at a time. Reads are long here, so it is more than usual.
const blockBytes = 32 << 10

// openWith makes the options, opens with them and lets go of them: the database copies what it needs out of these, the
// cache included, which it shares.
func openWith(o *Options, open func(whole *grocksdb.Options, each []*grocksdb.Options) (
	*grocksdb.DB, []*grocksdb.ColumnFamilyHandle, error),
) (*engine, error) {
	cache := grocksdb.NewLRUCache(uint64(o.BlockCacheBytes))
	defer cache.Destroy()
	table := grocksdb.NewDefaultBlockBasedTableOptions()
	defer table.Destroy()
	table.SetBlockCache(cache)
	table.SetFormatVersion(5)
	table.SetBlockSize(blockBytes)

	rare := familyOptions(table, min(o.MemtableBytes, 4<<20))
	defer rare.Destroy()
	messages, err := tuned(messageOptions(table, o), o.Tuning.Messages)
	if err != nil {
		return nil, err
	}
	defer messages.Destroy()
	whole, err := tuned(databaseOptions(o), o.Tuning.Database)
	if err != nil {
		return nil, err
	}
	defer whole.Destroy()

	db, families, err := open(whole, []*grocksdb.Options{rare, rare, messages, rare})
	if err != nil {
		return nil, err
	}
	e := &engine{
		db:       db,
		families: families,
		synced:   grocksdb.NewDefaultWriteOptions(),
		unsynced: grocksdb.NewDefaultWriteOptions(),
	}
	e.synced.SetSync(true)
	return e, nil
}

// databaseOptions are those that column families share. The package comment gives the reasons.
func databaseOptions(o *Options) *grocksdb.Options {
	const (
		recoverable  = 256 << 20 // bytes of log that a restart reads at most
		smooth       = 1 << 20   // bytes written between two requests to the system to write them out
		logFileBytes = 4 << 20
	)
	d := grocksdb.NewDefaultOptions()
	d.SetCreateIfMissing(true)
	d.SetCreateIfMissingColumnFamilies(true)
	d.SetWALRecoveryMode(grocksdb.TolerateCorruptedTailRecordsRecovery)
	if o.Salvage {
		d.SetWALRecoveryMode(grocksdb.PointInTimeRecovery)
	}
	d.SetAtomicFlush(true)
	d.SetMaxTotalWalSize(recoverable)
	d.SetBytesPerSync(smooth)
	d.SetMaxOpenFiles(1024) // leave file descriptors to connections
	d.SetInfoLogLevel(grocksdb.WarnInfoLogLevel)
	d.SetMaxLogFileSize(logFileBytes)
	d.SetKeepLogFileNum(4)
	d.SetStatsDumpPeriodSec(0)
	d.SetStatsPersistPeriodSec(0)
	return d
}

// tuned puts RocksDB's own option text on top of options, which it takes over.
func tuned(o *grocksdb.Options, text string) (*grocksdb.Options, error) {
	if text == "" {
		return o, nil
	}
	defer o.Destroy()
	return grocksdb.GetOptionsFromString(o, text)
}

// messageOptions are those of the messages' column family.
func messageOptions(table *grocksdb.BlockBasedTableOptions, o *Options) *grocksdb.Options {
	m := familyOptions(table, o.MemtableBytes)
	if !o.Tuning.KeepGaps {
		m.AddCompactOnDeletionCollectorFactory(128, 64) // half of 128 neighbours deleted: worth a compaction
	}
	return m
}

// familyOptions are those of one column family.
func familyOptions(table *grocksdb.BlockBasedTableOptions, memtable int64) *grocksdb.Options {
	f := grocksdb.NewDefaultOptions()
	f.SetBlockBasedTableFactory(table)
	f.SetWriteBufferSize(uint64(memtable))
	f.SetCompression(grocksdb.LZ4Compression)
	f.SetLevelCompactionDynamicLevelBytes(true)
	return f
}

// occupancy asks what the messages take.
func (e *engine) occupancy() (o occupancy) {
	var puts, deletions int64
	for _, f := range e.db.GetLiveFilesMetaData() {
		if f.ColumnFamilyName == familyNames[familyMessages] {
			o.files += f.Size
			puts += int64(f.Entries - f.Deletions)
			deletions += int64(f.Deletions)
		}
	}
	o.entries = e.property("rocksdb.num-entries-active-mem-table")
	o.memory = e.property("rocksdb.cur-size-active-mem-table")
	inMemory := e.property("rocksdb.num-deletes-active-mem-table")
	o.deleted = deletions + inMemory
	// Deletions of what is in memory too free nothing of the files: a busy queue makes them all the time.
	inFiles := deletions + max(0, inMemory-(o.entries-inMemory))
	if puts > 0 {
		o.dead = int64(float64(o.files) / float64(puts) * float64(min(inFiles, puts)))
	}
	return o
}

// property reads a number that the engine keeps about the messages' family.
func (e *engine) property(name string) int64 {
	n, _ := e.db.GetIntPropertyCF(name, e.families[familyMessages]) // all that are asked for exist
	return int64(n)
}

// compact writes out what is in memory and brings all deletions to an end, while everything else goes on. It returns early
// when stopCompacting is called.
func (e *engine) compact() {
	o := grocksdb.NewCompactRangeOptions()
	defer o.Destroy()
	o.SetExclusiveManualCompaction(false)
	e.db.CompactRangeCFOpt(e.families[familyMessages], grocksdb.Range{}, o)
}

// dropFiles removes the files that hold nothing but what is in the range, without reading or writing them. Tombstones
// go with them, so what else is in the range may come back to life: the caller deletes it afterwards.
func (e *engine) dropFiles(from, to []byte) error {
	return e.db.DeleteFileInRangeCF(e.families[familyMessages], grocksdb.Range{Start: from, Limit: to})
}

// checkpoint makes a copy of the database in a new directory, by links where it can. What is in memory is written out first, so that
// the copy opens fast.
func (e *engine) checkpoint(dir string) error {
	c, err := e.db.NewCheckpoint()
	if err != nil {
		return err
	}
	defer c.Destroy()
	return c.CreateCheckpoint(dir, 0)
}

// stopCompacting makes compact return, now and for ever.
func (e *engine) stopCompacting() { e.db.DisableManualCompaction() }

func (e *engine) close() {
	for _, f := range e.families {
		f.Destroy()
	}
	e.synced.Destroy()
	e.unsynced.Destroy()
	e.db.Close()
}

// write applies a batch whole or not at all.
func (e *engine) write(b *grocksdb.WriteBatch, sync bool) error {
	if sync {
		return e.db.Write(e.synced, b)
	}
	return e.db.Write(e.unsynced, b)
}

// syncLog puts on disk what was written unsynced.
func (e *engine) syncLog() error { return e.db.FlushWAL(true) }

// get reads one value of the default family; nil when there is none.
func (e *engine) get(key []byte) ([]byte, error) {
	o := grocksdb.NewDefaultReadOptions()
	defer o.Destroy()
	return e.db.GetBytes(o, key)
}

// idMark reads the highest id out of use; 0 = none was used.
func (e *engine) idMark() (uint64, error) {
	value, err := e.get(keyIDs)
	if err != nil || len(value) == 0 {
		return 0, err
	}
	if len(value) != numberLength {
		return 0, corrupt("a mark of used ids of %d bytes", len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

// scan is a read of consecutive keys.
type scan struct {
	family   family
	from     []byte // the first key; nil = the family's first
	to       []byte // the first key not to be read; nil = none
	ahead    int    // bytes to ask the disk for ahead; 0 = as RocksDB sees fit
	keepWarm bool   // leave the blocks in the cache

	// jump, if given, sees each key before fn does. What it returns is a later key where the scan goes on; nil = here.
	jump func(key, value []byte) (to []byte, err error)
}

// each calls fn for the keys of the scan, as they were when it began, until fn returns false or an error. Key and value are RocksDB's
// memory, valid during that call alone.
func (e *engine) each(s scan, fn func(key, value []byte) (more bool, err error)) error {
	o := grocksdb.NewDefaultReadOptions()
	defer o.Destroy() // after the iterator, which points at the bound in it
	o.SetFillCache(s.keepWarm)
	o.SetReadaheadSize(uint64(s.ahead))
	if s.to != nil {
		o.SetIterateUpperBound(s.to)
	}
	i := e.db.NewIteratorCF(o, e.families[s.family])
	defer i.Close()
	if s.from == nil {
		i.SeekToFirst()
	} else {
		i.Seek(s.from)
	}
	for i.Valid() {
		key, value := i.Key().Data(), i.Value().Data()
		if s.jump != nil {
			to, err := s.jump(key, value)
			if err != nil {
				return err
			}
			if to != nil {
				i.Seek(to)
				continue
			}
		}
		more, err := fn(key, value)
		if err != nil || !more {
			return err
		}
		i.Next()
	}
	return i.Err()
}
