package persistence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linxGnu/grocksdb"
)

// Open opens the store in dir, which belongs to the store alone, and makes it if dir is missing or empty. It
// reads all mailboxes' metadata once. Errors are one line each and wrap ErrPath, ErrInUse, ErrForeign, ErrFormat or ErrDamaged where one of
// them fits. The lock on the directory dies with the process that holds it.
func Open(dir string, opts Options) (*Store, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	dir = filepath.Clean(dir) // RocksDB's messages, which explain reads, name files with it
	if err := checkDirectory(dir); err != nil {
		return nil, err
	}
	e, err := openEngine(dir, &opts)
	if err != nil {
		return nil, explain(dir, err)
	}
	s, err := newStore(dir, opts, e)
	if err != nil {
		e.close()
		return nil, err
	}
	s.start()
	return s, nil
}

// makeDirectory makes dir if need be, such that it outlives a power failure as what will be in it does.
func makeDirectory(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// checkDirectory refuses a directory that is somebody else's before RocksDB has changed anything in it.
func checkDirectory(dir string) error {
	if err := makeDirectory(dir); err != nil {
		return fmt.Errorf("%s %w (%s): choose a directory that this user may write", dir, ErrPath, oneLine(err))
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s %w (%s): choose a directory that this user may read", dir, ErrPath, oneLine(err))
	}
	foreign := fmt.Errorf("%s %w: choose an empty directory", dir, ErrForeign)
	if !slices.ContainsFunc(files, func(f fs.DirEntry) bool { return f.Name() == "CURRENT" }) {
		if slices.ContainsFunc(files, func(f fs.DirEntry) bool { return !unfinished(f) }) {
			return foreign
		}
		return nil
	}
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	o.SetInfoLogLevel(grocksdb.WarnInfoLogLevel)
	names, err := grocksdb.ListColumnFamilies(o, dir)
	if err != nil {
		return explain(dir, err)
	}
	if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(familyNames, name) }) {
		return foreign
	}
	if len(names) > 1 {
		return nil
	}
	// One family: somebody's plain RocksDB, or the first start of a broker was killed half-way.
	db, err := grocksdb.OpenDbForReadOnly(o, dir, false)
	if err != nil {
		return explain(dir, err)
	}
	defer db.Close()
	if db.GetLatestSequenceNumber() > 0 {
		return foreign
	}
	return nil
}

// unfinished reports whether a file may be what a killed first start leaves, or what every file system has.
func unfinished(f fs.DirEntry) bool {
	switch name := f.Name(); {
	case name == "lost+found":
		return f.IsDir()
	case f.IsDir():
		return false
	case name == "LOCK", name == "IDENTITY", name == "LOG":
		return true
	default:
		return strings.HasPrefix(name, "LOG.old.") || strings.HasPrefix(name, "MANIFEST-") ||
			strings.HasPrefix(name, "OPTIONS-") || filepath.Ext(name) == ".dbtmp"
	}
}

// explain turns the engine's reason for not opening into ours. Its statuses come as text.
func explain(dir string, err error) error {
	text := oneLine(err)
	switch {
	case strings.Contains(text, dir+"/LOCK:") && !strings.Contains(text, "Permission denied"):
		return fmt.Errorf("%s %w: stop that one, or choose another directory", dir, ErrInUse)
	case strings.HasPrefix(text, "Corruption:"):
		return fmt.Errorf("%s %w (%s): restore it from a snapshot, or open it once with salvage to keep what was written before the damage",
			dir, ErrDamaged, text)
	default:
		return fmt.Errorf("%s %w (%s): see that it is writable and has space", dir, ErrPath, text)
	}
}

// checkFormat refuses a store of another format, and marks a new one as ours.
func checkFormat(dir string, e *engine) error {
	value, err := e.get(keyFormat)
	switch {
	case err != nil:
		return explain(dir, err)
	case len(value) == 0:
		b := grocksdb.NewWriteBatch()
		defer b.Destroy()
		b.Put(keyFormat, binary.BigEndian.AppendUint32(nil, formatVersion))
		if err := e.write(b, true); err != nil {
			return explain(dir, err)
		}
		return nil
	case len(value) != 4:
		return fmt.Errorf("%s %w: its format mark is unreadable: restore it from a snapshot", dir, ErrDamaged)
	}
	if v := binary.BigEndian.Uint32(value); v != formatVersion {
		return fmt.Errorf("%s %w: it is of format %d and this broker reads %d: use the broker that wrote it, or choose another directory",
			dir, ErrFormat, v, formatVersion)
	}
	return nil
}

// load reads what the store keeps in memory: the mark of used ids, which mailboxes live, and what is still to be purged.
func (s *Store) load(e *engine) error {
	mark, err := e.get(keyIDs)
	switch {
	case err != nil:
		return err
	case len(mark) == 8:
		s.ids.mu.mark = binary.BigEndian.Uint64(mark)
	case len(mark) != 0:
		return corrupt("a mark of used ids of %d bytes", len(mark))
	}
	err = e.each(scan{family: familyMailboxes}, func(key, value []byte) (bool, error) {
		m, err := decodeMailbox(key, value)
		if err == nil {
			s.live[m.Number] = struct{}{}
		}
		return true, err
	})
	if err != nil {
		return err
	}
	return e.each(scan{family: familyGraveyard}, func(key, _ []byte) (bool, error) {
		number, err := parseNumber(key)
		if err == nil {
			s.graves.add(number)
		}
		return true, err
	})
}

// newStore checks and loads an open engine, which stays the caller's to close if that fails.
func newStore(dir string, opts Options, e *engine) (*Store, error) {
	if err := checkFormat(dir, e); err != nil {
		return nil, err
	}
	s := &Store{dir: dir, opts: opts, graves: newGraves(), live: map[uint64]struct{}{}}
	if err := s.load(e); err != nil {
		if errors.Is(err, ErrCorrupt) {
			return nil, fmt.Errorf("%s %w (%w): restore it from a snapshot", dir, ErrDamaged, err)
		}
		return nil, explain(dir, err)
	}
	s.mu.engine = e
	return s, nil
}
