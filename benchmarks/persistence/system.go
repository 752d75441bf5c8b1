package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// written is how many bytes this process has handed to write calls.
func written() (int64, error) { return procNumber("/proc/self/io", "wchar:") }

// resident and its peak are what this process has of the memory, in bytes.
func resident() (int64, error) {
	debug.FreeOSMemory()
	kib, err := procNumber("/proc/self/status", "VmRSS:")
	return kib << 10, err
}

func peak() (int64, error) {
	kib, err := procNumber("/proc/self/status", "VmHWM:")
	return kib << 10, err
}

// processor is how long this process has kept processors busy. It depends less than the clock on what else the machine does.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0 // it fails for no argument of this kind
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// procNumber reads the number behind a word.
func procNumber(file, word string) (int64, error) {
	text, err := os.ReadFile(file) //nolint:gosec // one of two names above
	if err != nil {
		return 0, err
	}
	_, rest, found := bytes.Cut(text, []byte(word))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, fmt.Errorf("%s does not say %s", file, word)
	}
	return strconv.ParseInt(string(fields[0]), 10, 64)
}

// chillFiles asks the system to forget the files' contents, so that they are read from the disk.
func chillFiles(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := chill(name); err != nil {
			return err
		}
	}
	return nil
}

func chill(name string) error {
	const dontNeed = 4      // POSIX_FADV_DONTNEED, which works on what is on disk
	f, err := os.Open(name) //nolint:gosec // a file of the store that is measured
	if err != nil {
		return err
	}
	err = f.Sync()
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		err = errors.Join(err, errno)
	}
	return errors.Join(err, f.Close())
}
