//go:build !race

package main

import (
	"log/slog"
	"math"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

const (
	// hugePage is what the system calls a huge page.
	hugePage = 2 << 20

	// mostPrepared bounds the heap that is laid out in huge pages. Go's books on that much take 4 MiB.
	mostPrepared = 4 << 30
)

// prepareHeap has the system back the heap with huge pages, as far as it grows within a quarter of the machine's memory. A million mailboxes are some
// gigabytes of small objects: in pages of 4 KiB, waking up once a second made such a process use 3 % of a core where paging is virtual,
// as in many virtual machines, with nothing to do; in huge pages it is 0.5 %. Fresh memory costs a thirtieth of the page faults besides.
//
// Go has no setting for this. But memory that it has once taken from the system it keeps, with the system's settings for it: so take a
// large piece, say what it should be made of, and let it go untouched. The heap grows into it. Nothing of it is resident before that.
func prepareHeap(log *slog.Logger) {
	size := preparedSize()
	if size < hugePage || !mayHave(size) {
		return
	}
	err := unix.Madvise(make([]byte, size), unix.MADV_HUGEPAGE) // it begins with a page, as all large pieces do
	debug.FreeOSMemory()                                        // it is not to count as garbage that the heap may grow to again
	if err != nil {
		log.Debug("the heap has no huge pages: the system does not offer them", "error", err)
	}
}

// preparedSize is how many bytes prepareHeap lays out.
func preparedSize() uint64 {
	size := uint64(mostPrepared)
	var machine unix.Sysinfo_t
	if err := unix.Sysinfo(&machine); err == nil {
		size = min(size, machine.Totalram*uint64(machine.Unit)/4)
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 { // GOMEMLIMIT
		size = min(size, uint64(limit)/2)
	}
	return size / hugePage * hugePage
}

// mayHave reports whether the system lets this process have so much address space: Go ends the process if it does not.
func mayHave(size uint64) bool {
	trial, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	return err == nil && unix.Munmap(trial) == nil
}
