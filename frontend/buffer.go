package frontend

import "io"

const (
	minBuffer  = 512
	maxBuffer  = 64 << 10
	shortReads = 4 // reads that leave most of the buffer empty before it shrinks
)

// readBuffer is a buffer that grows while its reader is behind and shrinks when it is not, so that an idle
// connection keeps little. One goroutine owns it.
type readBuffer struct {
	bytes []byte // the buffer
	end   int    // bytes[:end] is read and not used up yet
	full  bool   // the last read filled it
	short int    // short reads in a row
}

// fill reads once from r and returns all that is not used up. want is how long that must be able to get, if more than usual.
func (b *readBuffer) fill(r io.Reader, want int) ([]byte, error) {
	b.size(want)
	n, err := r.Read(b.bytes[b.end:])
	b.end += n
	b.full = b.end == len(b.bytes)
	if b.end < len(b.bytes)/2 {
		b.short++
	} else {
		b.short = 0
	}
	return b.bytes[:b.end], err
}

// use forgets the first n bytes. It moves the rest: slices into it become invalid.
func (b *readBuffer) use(n int) {
	copy(b.bytes, b.bytes[n:b.end])
	b.end -= n
}

// size makes the buffer fit what is to come.
func (b *readBuffer) size(want int) {
	size := len(b.bytes)
	switch {
	case size == 0:
		size = minBuffer
	case b.full && size < maxBuffer:
		size *= 2
		b.full = false
	case b.short >= shortReads && size > minBuffer:
		size = max(size/2, minBuffer)
		b.short = 0
	}
	for size < want || size <= b.end {
		size *= 2
	}
	if size != len(b.bytes) {
		grown := make([]byte, size)
		copy(grown, b.bytes[:b.end])
		b.bytes = grown
	}
}
