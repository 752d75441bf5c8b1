package persistence

import (
	"github.com/linxGnu/grocksdb"
)

// occupancy asks what a family takes.
func (e *engine) occupancy(of family) (o occupancy) {
	var puts, deletions int64
	for _, f := range e.db.GetLiveFilesMetaData() {
		if f.ColumnFamilyName == familyNames[of] {
			o.files += f.Size
			puts += int64(f.Entries - f.Deletions)
			deletions += int64(f.Deletions)
		}
	}
	o.entries = e.property(of, "rocksdb.num-entries-active-mem-table")
	o.memory = e.property(of, "rocksdb.cur-size-active-mem-table")
	inMemory := e.property(of, "rocksdb.num-deletes-active-mem-table")
	o.deleted = deletions + inMemory
	// Deletions of what is in memory too free nothing of the files: a busy queue makes them all the time.
	inFiles := deletions + max(0, inMemory-(o.entries-inMemory))
	if puts > 0 {
		o.dead = int64(float64(o.files) / float64(puts) * float64(min(inFiles, puts)))
	}
	return o
}

// property reads a number that the engine keeps about a family.
func (e *engine) property(of family, name string) int64 {
	n, _ := e.db.GetIntPropertyCF(name, e.families[of]) // all that are asked for exist
	return int64(n)
}

// compact writes out what is in memory and brings all deletions in a family to an end, while everything else goes on. It returns early
// when stopCompacting is called.
func (e *engine) compact(f family) {
	o := grocksdb.NewCompactRangeOptions()
	defer o.Destroy()
	o.SetExclusiveManualCompaction(false)
	e.db.CompactRangeCFOpt(e.families[f], grocksdb.Range{}, o)
}

// dropFiles removes the files that hold nothing but what is in the range, without reading or writing them. Tombstones
// go with them, so what else is in the range may come back to life: the caller deletes it afterwards.
func (e *engine) dropFiles(f family, from, to []byte) error {
	if err := e.db.DeleteFileInRangeCF(e.families[f], grocksdb.Range{Start: from, Limit: to}); err != nil {
		return engineError{err}
	}
	return nil
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
