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
	"time"

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
	if err := checkRoom(dir); err != nil {
		return nil, fmt.Errorf("%s %w (%s): make room", dir, ErrPath, oneLine(err))
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
	return syncDirectory(filepath.Dir(dir))
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
	if !slices.ContainsFunc(files, func(f fs.DirEntry) bool { return f.Name() == currentFile }) {
		if slices.ContainsFunc(files, func(f fs.DirEntry) bool { return !unfinished(f) }) {
			return foreign(dir)
		}
		return nil
	}
	names, err := families(dir)
	if err != nil || len(names) > 1 {
		return err
	}
	// One family: somebody's plain RocksDB, or the first start of a broker was killed half-way.
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	o.SetInfoLogLevel(grocksdb.WarnInfoLogLevel)
	db, err := grocksdb.OpenDbForReadOnly(o, dir, false)
	if err != nil {
		return explain(dir, err)
	}
	defer db.Close()
	if db.GetLatestSequenceNumber() > 0 {
		return foreign(dir)
	}
	return nil
}

// families reads the names of the column families, which must be some of ours.
func families(dir string) ([]string, error) {
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	o.SetInfoLogLevel(grocksdb.WarnInfoLogLevel)
	names, err := grocksdb.ListColumnFamilies(o, dir)
	if err != nil {
		return nil, explain(dir, err)
	}
	if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(familyNames, name) }) {
		return nil, foreign(dir)
	}
	return names, nil
}

func foreign(dir string) error {
	return fmt.Errorf("%s %w: choose an empty directory", dir, ErrForeign)
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
		return fmt.Errorf("%s %w (%s): restore it from a snapshot, or start once with --salvage to keep what was written before the damage",
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
		return wrongFormat(dir, int(v))
	}
	return nil
}

func wrongFormat(dir string, format int) error {
	return fmt.Errorf("%s %w: it is of format %d and this broker reads %d: use the broker that wrote it, or choose another directory",
		dir, ErrFormat, format, formatVersion)
}

// load reads what the store keeps in memory: the mark of used ids, which mailboxes live, and what is still to be purged.
func (s *Store) load(e *engine) error {
	if err := settleSnapshot(s.dir, e, time.Now()); err != nil {
		return err
	}
	mark, err := e.idMark()
	if err != nil {
		return err
	}
	s.ids.mu.mark = mark
	err = e.each(scan{family: familyMailboxes}, func(key, value []byte) (bool, error) {
		m, err := decodeMailbox(key, value)
		if err == nil {
			s.live[m.Number] = nil
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
	s := &Store{dir: dir, opts: opts, graves: newGraves(), tidier: newTidier(), live: map[uint64]*box{}}
	if err := s.load(e); err != nil {
		if errors.Is(err, ErrCorrupt) {
			return nil, fmt.Errorf("%s %w (%w): restore it from a snapshot", dir, ErrDamaged, err)
		}
		return nil, explain(dir, err)
	}
	s.mu.engine = e
	return s, nil
}
