package persistence

import (
	"github.com/linxGnu/grocksdb"
)

// The package comment says why each of these is as it is.

// databaseOptions are those that column families share.
func databaseOptions(o *Options) *grocksdb.Options {
	const (
		smooth       = 1 << 20 // bytes written between two requests to the system to write them out
		logFileBytes = 4 << 20
	)
	d := grocksdb.NewDefaultOptions()
	d.SetCreateIfMissing(true)
	d.SetCreateIfMissingColumnFamilies(true)
	d.SetWALRecoveryMode(grocksdb.TolerateCorruptedTailRecordsRecovery)
	if o.Salvage {
		d.SetWALRecoveryMode(grocksdb.PointInTimeRecovery)
	}
	d.SetDbWriteBufferSize(uint64(o.MemtableBytes))
	d.SetAtomicFlush(true)
	d.SetBytesPerSync(smooth)
	d.SetAdviseRandomOnOpen(false)
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

// messageOptions are those of the column families in bulk.
func messageOptions(table *grocksdb.BlockBasedTableOptions, o *Options) *grocksdb.Options {
	m := familyOptions(table, o.MemtableBytes)
	if o.Tuning.CloseGaps {
		m.AddCompactOnDeletionCollectorFactory(128, 64) // half of 128 neighbours
	}
	return m
}

// familyOptions are those of one column family.
func familyOptions(table *grocksdb.BlockBasedTableOptions, memtable int64) *grocksdb.Options {
	const memtableStep = 128 << 10 // bytes by which a memtable grows
	f := grocksdb.NewDefaultOptions()
	f.SetBlockBasedTableFactory(table)
	f.SetWriteBufferSize(uint64(memtable))
	f.SetArenaBlockSize(memtableStep)
	f.SetCompression(grocksdb.LZ4Compression)
	f.SetLevelCompactionDynamicLevelBytes(true)
	return f
}

// tableOptions are those of all files.
func tableOptions(cache *grocksdb.Cache) *grocksdb.BlockBasedTableOptions {
	const blockBytes = 32 << 10
	t := grocksdb.NewDefaultBlockBasedTableOptions()
	t.SetBlockCache(cache)
	t.SetFormatVersion(5)
	t.SetBlockSize(blockBytes)
	return t
}
