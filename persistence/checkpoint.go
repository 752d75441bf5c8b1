package persistence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// Checkpoint puts a snapshot of the whole store into dir, which must not exist, while everything goes on: all that was acknowledged
// before the call, and of what came later nothing, or the first so-and-so many changes. It is cheap, because it links the files instead of copying
// them; so dir must be on the store's own file system. It belongs to this user alone, since it
// holds secrets. When Checkpoint returns nil the snapshot is on disk; a broken-off one never gets the name dir, it
// leaves dir.partial behind at worst. Errors are one line each and wrap an [mq9.Error]: 400 or 409 for a dir that will not do, 503 when
// the disk fails. One snapshot is made at a time.
//
// A snapshot is read by [Restore], by [Inspect], or by Open, which turns it into a store of its own.
func (s *Store) Checkpoint(dir string) error {
	s.checkpoints.Lock()
	defer s.checkpoints.Unlock()
	dir = filepath.Clean(dir)
	if err := s.checkTarget(dir); err != nil {
		return err
	}
	// The engine makes its directory with the permissions of the day, so it does that inside one that is private.
	partial := dir + ".partial"
	if err := os.Mkdir(partial, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return mq9.Errorf(mq9.CodeConflict, "%s is left over from a snapshot that was broken off: remove it", partial)
		}
		return badTarget(dir, err)
	}
	inner := filepath.Join(partial, "store")
	err := s.checkpointInto(inner)
	if err == nil {
		err = finishSnapshot(inner, dir)
	}
	if err := errors.Join(err, os.RemoveAll(partial)); err != nil {
		return unavailable(err)
	}
	return nil
}

// checkTarget refuses a directory in which no snapshot can be made.
func (s *Store) checkTarget(dir string) error {
	if !filepath.IsAbs(dir) {
		return mq9.Errorf(mq9.CodeBadRequest, "the snapshot's directory must be an absolute path")
	}
	if _, err := os.Lstat(dir); err == nil {
		return mq9.Errorf(mq9.CodeConflict, "%s exists: name a directory that does not", dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return badTarget(dir, err)
	}
	var there, here syscall.Stat_t
	if err := syscall.Stat(filepath.Dir(dir), &there); err != nil {
		return badTarget(dir, err)
	}
	if err := syscall.Stat(s.dir, &here); err != nil {
		return unavailable(err)
	}
	if there.Dev != here.Dev {
		return mq9.Errorf(mq9.CodeBadRequest,
			"%s is on another file system than the data: name a directory beside the data directory, and copy it from there", dir)
	}
	return nil
}

func badTarget(dir string, err error) error {
	return mq9.Errorf(mq9.CodeBadRequest, "no snapshot can be made in %s (%s): name a directory that does not exist below one that does", dir, oneLine(err))
}

func (s *Store) checkpointInto(dir string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.mu.engine == nil {
		return errNoEngine
	}
	return s.mu.engine.checkpoint(dir)
}

// finishSnapshot marks what the engine made as whole and gives it its name.
func finishSnapshot(made, dir string) error {
	if err := os.Chmod(made, 0o700); err != nil { //nolint:gosec // a directory needs to be searched
		return err
	}
	if err := writeSnapshotMark(made, time.Now()); err != nil {
		return err
	}
	if err := syncDirectory(made); err != nil {
		return err
	}
	if err := os.Rename(made, dir); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(dir))
}

// syncDirectory puts the names in a directory on disk.
func syncDirectory(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Restore makes a store in the directory to out of the snapshot in from, which stays as it is. to must not exist or be
// empty. What is broken off half-way is refused by Open and by Restore alike: remove it and begin anew. Ids go on far beyond those that the
// store which the snapshot is of may have handed out in the meantime. Errors are one line each.
func Restore(from, to string, opts Options) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	mark, err := readSnapshotMark(from)
	if err != nil {
		return err
	}
	if err := mark.check(from); err != nil {
		return err
	}
	if err := makeDirectory(to); err != nil {
		return fmt.Errorf("%s %w (%s): choose a directory that this user may write", to, ErrPath, oneLine(err))
	}
	there, err := os.ReadDir(to)
	if err != nil {
		return fmt.Errorf("%s %w (%s): choose a directory that this user may read", to, ErrPath, oneLine(err))
	}
	if len(there) > 0 {
		return fmt.Errorf("%s %w: restore into a new directory", to, ErrNotEmpty)
	}
	if err := mark.copy(from, to); err != nil {
		return fmt.Errorf("%s %w (%s): remove what is in it and see that it has space", to, ErrPath, oneLine(err))
	}
	s, err := Open(to, opts) // reads all metadata, and moves the ids on
	if err != nil {
		return err
	}
	return s.Close()
}
