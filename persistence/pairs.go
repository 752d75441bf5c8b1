package persistence

/*
#cgo LDFLAGS: -lrocksdb
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "rocksdb/c.h"

// read_pairs copies keys and values into to, from where the iterator stands, and returns how many bytes these are; 0 means that it stands nowhere or
// that the first pair does not fit, and then *wanted is what it needs. *read says whether the pair on which the iterator
// stands has been read. It ends behind a key of pause bytes.
static size_t read_pairs(rocksdb_iterator_t* it, bool* read, char* to, size_t room, size_t head, size_t pause, size_t* wanted) {
	size_t used = 0;
	*wanted = 0;
	for (;;) {
		if (*read) {
			rocksdb_iter_next(it);
			*read = false;
		}
		if (!rocksdb_iter_valid(it)) return used;
		size_t key_length, value_length;
		const char* key = rocksdb_iter_key(it, &key_length);
		const char* value = rocksdb_iter_value(it, &value_length);
		uint32_t lengths[2] = {key_length, value_length};
		if (head > 0 && value_length > head) value_length = head;
		size_t need = sizeof lengths + key_length + value_length;
		if (used + need > room) {
			if (used == 0) *wanted = need;
			return used;
		}
		memcpy(to + used, lengths, sizeof lengths);
		memcpy(to + used + sizeof lengths, key, key_length);
		memcpy(to + used + sizeof lengths + key_length, value, value_length);
		used += need;
		*read = true;
		if (key_length == pause) return used;
	}
}
*/
import "C"

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// A call into the engine costs as much as it does there to step to the next key, and asking for one pair takes four calls. So pairs are
// copied out of it many at a time.

// pair is a key and its value in memory of ours.
type pair struct {
	key    []byte
	value  []byte // or its head, if that is all that was asked for
	length int    // of the whole value
}

// pairsBytes is how much is copied at a time, more only for a pair that is larger. It is little, because a reader may need no more than the first.
const pairsBytes = 16 << 10

// pairs is memory for what is copied at a time.
type pairs struct {
	memory []byte
	rest   []byte // what has been copied and not been taken
}

var spare = sync.Pool{New: func() any { return &pairs{memory: make([]byte, pairsBytes)} }}

// giveBack lets others use the memory. It must not be used after that.
func (p *pairs) giveBack() {
	if p.rest = nil; len(p.memory) == pairsBytes {
		spare.Put(p)
	}
}

// fill reads pairs from where a cursor stands, at least one if it stands on any.
func (p *pairs) fill(c *cursor, head, pause int) {
	for {
		read := C.bool(c.read)
		var wanted C.size_t
		used := C.read_pairs(native(c.Iterator), &read, (*C.char)(unsafe.Pointer(&p.memory[0])), C.size_t(len(p.memory)),
			C.size_t(head), C.size_t(pause), &wanted)
		c.read = bool(read)
		if wanted == 0 {
			p.rest = p.memory[:used]
			return
		}
		p.memory = make([]byte, wanted)
	}
}

// take returns the next pair. It is good until the next fill.
func (p *pairs) take(head int) pair {
	const lengths = 8
	key, length := int(binary.NativeEndian.Uint32(p.rest)), int(binary.NativeEndian.Uint32(p.rest[4:]))
	there := length
	if head > 0 {
		there = min(there, head)
	}
	end := lengths + key + there
	taken := pair{p.rest[lengths : lengths+key : lengths+key], p.rest[lengths+key : end : end], length}
	p.rest = p.rest[end:]
	return taken
}

// native is the engine's own iterator, which the library keeps in the only field of its type.
func native(it *grocksdb.Iterator) *C.rocksdb_iterator_t {
	return *(**C.rocksdb_iterator_t)(unsafe.Pointer(it)) // TestNativeIterator sees that the field is there
}
