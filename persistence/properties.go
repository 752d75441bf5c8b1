package persistence

import (
	"os"
	"path/filepath"
	"syscall"
)

// properties are what RocksDB counts of a column family and an operator may want to see, by the name that Properties gives them.
var properties = map[string]string{
	"files_bytes":              "rocksdb.total-sst-files-size",
	"live_data_bytes":          "rocksdb.estimate-live-data-size",
	"blob_files_bytes":         "rocksdb.total-blob-file-size",
	"keys_estimated":           "rocksdb.estimate-num-keys",
	"memtable_bytes":           "rocksdb.cur-size-all-mem-tables",
	"memtable_flush_pending":   "rocksdb.mem-table-flush-pending",
	"immutable_memtables":      "rocksdb.num-immutable-mem-table",
	"compaction_pending":       "rocksdb.compaction-pending",
	"compaction_pending_bytes": "rocksdb.estimate-pending-compaction-bytes",
	"table_readers_bytes":      "rocksdb.estimate-table-readers-mem",
	"live_versions":            "rocksdb.num-live-versions",
}

// sharedProperties are the same of the whole database.
var sharedProperties = map[string]string{
	"block_cache_bytes":          "rocksdb.block-cache-usage",
	"block_cache_capacity_bytes": "rocksdb.block-cache-capacity",
	"block_cache_pinned_bytes":   "rocksdb.block-cache-pinned-usage",
	"background_errors":          "rocksdb.background-errors",
	"write_stopped":              "rocksdb.is-write-stopped",
	"delayed_write_rate_bytes":   "rocksdb.actual-delayed-write-rate",
	"running_flushes":            "rocksdb.num-running-flushes",
	"running_compactions":        "rocksdb.num-running-compactions",
	"snapshots":                  "rocksdb.num-snapshots",
}

// Properties returns what RocksDB counts, over all column families, by name: bytes, or a number where the name does not end in bytes. It is empty
// while the database is closed.
func (s *Store) Properties() map[string]float64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.mu.engine
	found := make(map[string]float64, len(properties)+len(sharedProperties))
	if e == nil {
		return found
	}
	for name, property := range properties {
		for f := range e.families {
			if n, ok := e.db.GetIntPropertyCF(property, e.families[f]); ok {
				found[name] += float64(n)
			}
		}
	}
	for name, property := range sharedProperties {
		if n, ok := e.db.GetIntPropertyCF(property, e.families[familyDefault]); ok {
			found[name] = float64(n)
		}
	}
	return found
}

// DiskUsage is the length of the files in the store's directory and what is free on its disk, bytes. Of what cannot be read it says nothing.
func (s *Store) DiskUsage() (used, free int64) {
	files, err := os.ReadDir(s.dir)
	if err == nil {
		for _, f := range files {
			if info, err := f.Info(); err == nil { // else it was removed meanwhile
				used += info.Size()
			}
		}
	}
	var disk syscall.Statfs_t
	if syscall.Statfs(filepath.Clean(s.dir), &disk) == nil {
		free = int64(disk.Bavail) * disk.Bsize
	}
	return used, free
}
