package persistence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mq9-broker/broker/mq9"
)

// Inspection is a look at a store that no broker has open. It changes nothing on disk. Inspect makes it, Close ends it; its methods are safe
// for concurrent use and answer as those of [Store] do.
type Inspection struct {
	// Format is the format version on disk.
	Format int
	// Snapshot reports whether the directory is a snapshot rather than a broker's store.
	Snapshot bool
	// UsedIDs is the highest id out of use.
	UsedIDs uint64
	// Purging is how many expired mailboxes have messages that are still to be deleted.
	Purging int
	// FileBytes and LogBytes are the lengths of the files on disk, without and with only the write-ahead log's.
	FileBytes, LogBytes int64

	store *Store // for its reads; nothing runs in it
}

// Inspect opens the store, or the snapshot, in dir to be looked at. It refuses a store that a broker has open, which
// changes under the look. What is in the log is read into memory. Errors are one line each and wrap ErrPath, ErrInUse, ErrNoStore, ErrForeign,
// ErrFormat or ErrDamaged where one of them fits.
func Inspect(dir string) (*Inspection, error) {
	dir = filepath.Clean(dir)
	if err := checkAtRest(dir); err != nil {
		return nil, err
	}
	var o Options
	o.EnsureDefaults()
	e, err := openEngineReadOnly(dir, &o)
	if err != nil {
		return nil, explain(dir, err)
	}
	i := &Inspection{store: &Store{dir: dir, opts: o}}
	i.store.mu.engine = e
	if err := i.look(dir, e); err != nil {
		e.close()
		return nil, err
	}
	return i, nil
}

// look fills in what is to be known at once.
func (i *Inspection) look(dir string, e *engine) error {
	value, err := e.get(keyFormat)
	if err != nil {
		return explain(dir, err)
	}
	if len(value) != 4 {
		return fmt.Errorf("%s %w: nothing was stored in it yet", dir, ErrNoStore)
	}
	i.Format = int(binary.BigEndian.Uint32(value))
	if i.Format != formatVersion {
		return wrongFormat(dir, i.Format)
	}
	if i.UsedIDs, err = e.idMark(); err != nil {
		return err
	}
	if err := e.each(scan{family: familyGraveyard}, func(_, _ []byte) (bool, error) { i.Purging++; return true, nil }); err != nil {
		return explain(dir, err)
	}
	_, err = os.Stat(filepath.Join(dir, snapshotFile))
	i.Snapshot = err == nil
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s %w (%s)", dir, ErrPath, oneLine(err))
	}
	for _, f := range files {
		info, err := f.Info()
		switch {
		case err != nil:
			return fmt.Errorf("%s %w (%s)", dir, ErrPath, oneLine(err))
		case strings.HasSuffix(f.Name(), ".log"):
			i.LogBytes += info.Size()
		default:
			i.FileBytes += info.Size()
		}
	}
	return nil
}

// Mailboxes is like Store.Mailboxes.
func (i *Inspection) Mailboxes(fn func(mq9.Mailbox) error) error { return i.store.Mailboxes(fn) }

// Index is like Store.Index.
func (i *Inspection) Index(number uint64, fn func(mq9.Entry)) error { return i.store.Index(number, fn) }

// Read is like Store.Read.
func (i *Inspection) Read(number uint64, p mq9.Priority, from mq9.MsgID, maxBytes int) ([]*mq9.Message, error) {
	return i.store.Read(number, p, from, maxBytes)
}

// Close ends the look. What is called afterwards answers [ErrClosed]. Closing again does nothing.
func (i *Inspection) Close() {
	i.store.mu.Lock()
	defer i.store.mu.Unlock()
	if i.store.mu.engine != nil {
		i.store.mu.engine.close()
		i.store.mu.engine = nil
	}
}

// checkAtRest refuses a directory that holds no store of ours, or one that is open.
func checkAtRest(dir string) error {
	none := fmt.Errorf("%s %w: name the data directory of a broker, or a snapshot", dir, ErrNoStore)
	switch _, err := os.Stat(filepath.Join(dir, currentFile)); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return none
	case err != nil:
		return fmt.Errorf("%s %w (%s): see that this user may read it", dir, ErrPath, oneLine(err))
	}
	held, err := lockHeld(filepath.Join(dir, "LOCK"))
	if err != nil {
		return fmt.Errorf("%s %w (%s): see that this user may read it", dir, ErrPath, oneLine(err))
	}
	if held {
		return fmt.Errorf("%s %w: stop it, or make a snapshot and look at that", dir, ErrInUse)
	}
	names, err := families(dir)
	if err != nil {
		return err
	}
	if len(names) < len(familyNames) {
		return none
	}
	return nil
}

// lockHeld reports whether another process holds the engine's lock.
func lockHeld(file string) (bool, error) {
	f, err := os.Open(file) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // a snapshot
	}
	if err != nil {
		return false, err
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock)
	return lock.Type != syscall.F_UNLCK, errors.Join(err, f.Close())
}
