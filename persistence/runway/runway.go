package runway

/*
#cgo CXXFLAGS: -std=c++17 -O2 -Wall
#cgo LDFLAGS: -lrocksdb
#include <stdint.h>
#include "runway.h"
*/
import "C"

import (
	"os"
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// Use has a database that is opened with the options read its logs as the package says. With ahead it writes them so, too: only if
// every batch is synced before the next one is written. What else is done to the options must not change the Env.
func Use(options *grocksdb.Options, ahead bool) {
	n := C.int(0)
	if ahead {
		n = 1
	}
	C.mq9_set_runway(native(options), n)
}

// native is the engine's own options, which the library keeps in the first field of its type.
func native(o *grocksdb.Options) *C.rocksdb_options_t {
	return *(**C.rocksdb_options_t)(unsafe.Pointer(o)) // TestNativeOptions sees that the field is there
}

// mq9LogEnd is called when the engine begins to read a log. A file that cannot be read is left to it to complain of.
//
//export mq9LogEnd
func mq9LogEnd(path *C.char) C.int64_t {
	file, err := os.Open(C.GoString(path))
	if err != nil {
		return -1
	}
	defer func() { _ = file.Close() }() // it was only read
	about, err := file.Stat()
	if err != nil {
		return -1
	}
	log := logFile{file: file, size: int(about.Size())}
	if end, torn := log.logEnd(); torn {
		return C.int64_t(end)
	}
	return -1
}
