package persistence

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// spareRoom is what an opening needs besides a second copy of what is in the log, in bytes.
const spareRoom = 4 << 20

// checkRoom reports that dir has not the space that RocksDB needs to open: it writes out what it finds in the log before it removes the log. It
// must not find out by itself, because a file that it cannot extend then runs into one of its assertions, which end the process.
func checkRoom(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return err
	}
	need := uint64(spareRoom)
	for _, log := range logs {
		info, err := os.Stat(log)
		if err != nil {
			return err
		}
		need += uint64(info.Size())
	}
	var system syscall.Statfs_t
	if err := syscall.Statfs(dir, &system); err != nil {
		return err
	}
	if free := system.Bavail * uint64(system.Bsize); free < need {
		return fmt.Errorf("%d MiB of disk space are left, and opening it takes up to %d MiB", free>>20, need>>20)
	}
	return nil
}
