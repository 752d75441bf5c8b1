package persistence

import (
	"encoding/binary"

	"github.com/linxGnu/grocksdb"

	"github.com/mq9-broker/broker/persistence/runway"
)

// family is a column family; the keys of each are drawn in keys.go.
type family int

const (
	familyDefault family = iota
	familyMailboxes
	familyMessages
	familyGraveyard
	familyBodies
)

var familyNames = []string{"default", "mailboxes", "messages", "graveyard", "bodies"}

// bulk are the families that grow with what is stored.
var bulk = []family{familyMessages, familyBodies}

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

// openWith makes the options, opens with them and lets go of them: the database copies what it needs out of these, the
// cache included, which it shares.
func openWith(o *Options, open func(whole *grocksdb.Options, each []*grocksdb.Options) (
	*grocksdb.DB, []*grocksdb.ColumnFamilyHandle, error),
) (*engine, error) {
	cache := grocksdb.NewLRUCache(uint64(o.BlockCacheBytes))
	defer cache.Destroy()
	table := tableOptions(cache)
	defer table.Destroy()

	rare := familyOptions(table, min(o.MemtableBytes, 4<<20))
	defer rare.Destroy()
	large, err := tuned(messageOptions(table, o), o.Tuning.Messages)
	if err != nil {
		return nil, err
	}
	defer large.Destroy()
	whole, err := tuned(databaseOptions(o), o.Tuning.Database)
	if err != nil {
		return nil, err
	}
	defer whole.Destroy()
	runway.Use(whole, o.Sync == SyncAlways)

	db, families, err := open(whole, []*grocksdb.Options{rare, rare, large, rare, large})
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
