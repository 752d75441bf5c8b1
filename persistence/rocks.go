package persistence

import (
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
	cache := grocksdb.NewLRUCache(uint64(o.BlockCacheBytes))
	defer cache.Destroy()
	table := grocksdb.NewDefaultBlockBasedTableOptions()
	defer table.Destroy()
	table.SetBlockCache(cache)
	table.SetFormatVersion(5)

	// The database copies what it needs out of these, the cache included, which it shares.
	rare, messages := familyOptions(table, min(o.MemtableBytes, 4<<20)), familyOptions(table, o.MemtableBytes)
	defer rare.Destroy()
	defer messages.Destroy()
	whole := databaseOptions(o)
	defer whole.Destroy()

	db, families, err := grocksdb.OpenDbColumnFamilies(whole, dir, familyNames,
		[]*grocksdb.Options{rare, rare, messages, rare})
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

// familyOptions are those of one column family.
func familyOptions(table *grocksdb.BlockBasedTableOptions, memtable int64) *grocksdb.Options {
	f := grocksdb.NewDefaultOptions()
	f.SetBlockBasedTableFactory(table)
	f.SetWriteBufferSize(uint64(memtable))
	f.SetCompression(grocksdb.LZ4Compression)
	f.SetLevelCompactionDynamicLevelBytes(true)
	f.AddCompactOnDeletionCollectorFactory(128, 64) // half of 128 neighbours deleted: worth a compaction
	return f
}

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

// scan is a read of consecutive keys.
type scan struct {
	family   family
	from     []byte // the first key; nil = the family's first
	to       []byte // the first key not to be read; nil = none
	keepWarm bool   // leave the blocks in the cache, because the same or their neighbours will be read again soon
}

// each calls fn for the keys of the scan, as they were when it began, until fn returns false or an error. Key and value are RocksDB's
// memory, valid during that call alone.
func (e *engine) each(s scan, fn func(key, value []byte) (more bool, err error)) error {
	o := grocksdb.NewDefaultReadOptions()
	defer o.Destroy() // after the iterator, which points at the bound in it
	o.SetFillCache(s.keepWarm)
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
	for ; i.Valid(); i.Next() {
		more, err := fn(i.Key().Data(), i.Value().Data())
		if err != nil || !more {
			return err
		}
	}
	return i.Err()
}
