package persistence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/linxGnu/grocksdb"
)

// The file that makes a directory a snapshot. It is written when everything else is there, and goes when the directory
// becomes a store of its own.
const snapshotFile = "SNAPSHOT"

// snapshotMark is its content, in JSON.
type snapshotMark struct {
	Format int            `json:"format"` // formatVersion
	Taken  time.Time      `json:"taken"`
	Files  []snapshotPart `json:"files"` // all files beside this one
}

type snapshotPart struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// writeSnapshotMark marks the directory, with the files that are in it, as a whole snapshot.
func writeSnapshotMark(dir string, taken time.Time) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	mark := snapshotMark{Format: formatVersion, Taken: taken.UTC().Truncate(time.Second)}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return err
		}
		mark.Files = append(mark.Files, snapshotPart{f.Name(), info.Size()})
	}
	text, err := json.MarshalIndent(mark, "", "  ")
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(dir, snapshotFile), append(text, '\n'))
}

// readSnapshotMark reads what writeSnapshotMark wrote.
func readSnapshotMark(dir string) (mark snapshotMark, err error) {
	text, err := os.ReadFile(filepath.Join(dir, snapshotFile)) //nolint:gosec // the operator names it
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return mark, fmt.Errorf("%s %w: name a directory that mq9 snapshot made", dir, ErrNoSnapshot)
	case err != nil:
		return mark, fmt.Errorf("%s %w (%s)", dir, ErrNoSnapshot, oneLine(err))
	}
	if err := json.Unmarshal(text, &mark); err != nil {
		return mark, fmt.Errorf("%s %w: its file %s is unreadable", dir, ErrDamaged, snapshotFile)
	}
	if mark.Format != formatVersion {
		return mark, wrongFormat(dir, mark.Format)
	}
	return mark, nil
}

// check sees that the files are there and as long as they were.
func (m *snapshotMark) check(dir string) error {
	for _, part := range m.Files {
		if !filepath.IsLocal(part.Name) || filepath.Base(part.Name) != part.Name {
			return fmt.Errorf("%s %w: its file %s is unreadable", dir, ErrDamaged, snapshotFile)
		}
		info, err := os.Stat(filepath.Join(dir, part.Name))
		if err != nil || info.Size() != part.Bytes {
			return fmt.Errorf("%s %w: its file %s is not as it was: use another snapshot", dir, ErrDamaged, part.Name)
		}
	}
	return nil
}

// copy copies the files. The one without which there is no store comes last, when the others are on disk.
func (m *snapshotMark) copy(from, to string) error {
	for _, part := range append(m.Files, snapshotPart{Name: snapshotFile}) {
		if part.Name == currentFile {
			continue
		}
		if err := copySynced(filepath.Join(from, part.Name), filepath.Join(to, part.Name)); err != nil {
			return err
		}
	}
	if err := syncDirectory(to); err != nil {
		return err
	}
	if err := copySynced(filepath.Join(from, currentFile), filepath.Join(to, currentFile)); err != nil {
		return err
	}
	return syncDirectory(to)
}

// currentFile is the one that RocksDB looks for first.
const currentFile = "CURRENT"

// copySynced copies a file onto the disk. The copy belongs to this user alone.
func copySynced(from, to string) (err error) {
	source, err := os.Open(from) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}

// writeSynced writes a new file onto the disk.
func writeSynced(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// settleSnapshot makes a store of its own out of a snapshot. The store that it was taken of went on, and handed out ids beyond the mark that the snapshot
// holds. None of them may come again, so the mark moves beyond all of them. A crash half-way repeats it, which only
// leaves more ids unused.
func settleSnapshot(dir string, e *engine, now time.Time) error {
	name := filepath.Join(dir, snapshotFile)
	switch _, err := os.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	mark, err := e.idMark()
	if err != nil {
		return err
	}
	b := grocksdb.NewWriteBatch()
	defer b.Destroy()
	b.Put(keyIDs, appendNumber(nil, idsAfterRestore(mark, now)))
	if err := e.write(b, true); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	return syncDirectory(dir)
}

// idsAfterRestore is the mark of used ids with which a restored store begins. Every second since 2020 has 2^30 ids of its own, so
// that a store that began at its restoration, or at 1, and hands out fewer than these on average has used none
// beyond them, however often a snapshot is restored. A clock that is wrong still leaves 2^40 ids aside. Message ids
// hold numbers up to 2^62: the seconds last until 2156.
func idsAfterRestore(mark uint64, now time.Time) uint64 {
	const (
		epoch     = 1_577_836_800 // 2020-01-01, Unix seconds
		perSecond = 1 << 30
		atLeast   = 1 << 40
	)
	seconds := max(0, now.Unix()-epoch)
	return max(mark+atLeast, uint64(seconds)*perSecond)
}
