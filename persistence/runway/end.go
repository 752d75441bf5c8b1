package runway

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// The engine's log is made of blocks; a batch is one record in a block, or a first, some middle and a last one in several. A record is a checksum of its kind
// and data (4 bytes), the data's length (2), its kind (1) and the data. What is left of a block that is too short for that is zeros.
const (
	blockBytes  = 32 << 10
	headerBytes = 7

	kindZero   = 0 // nothing was written here
	kindFull   = 1
	kindFirst  = 2
	kindMiddle = 3
	kindLast   = 4
)

// sectorBytes is what a disk writes as a whole, at least.
const sectorBytes = 512

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// logFile is a log that is read block by block. It belongs to one goroutine.
type logFile struct {
	file  io.ReaderAt
	size  int
	block []byte // the one that was read last
	place int    // where that begins
	err   error  // the first; what is read after it is empty
}

// from is what a block has from a place on.
func (l *logFile) from(at int) []byte {
	if begin := at - at%blockBytes; l.block == nil || begin != l.place {
		l.place = begin
		if cap(l.block) == 0 {
			l.block = make([]byte, 0, blockBytes)
		}
		l.block = l.block[:min(blockBytes, l.size-begin)]
		if _, err := l.file.ReadAt(l.block, int64(begin)); err != nil && l.err == nil {
			l.err = err
		}
	}
	return l.block[at-l.place:]
}

// record is one of the log, or what claims to be one.
type record struct {
	kind  byte
	end   int  // behind it, as its length says
	whole bool // it is as it was written
}

// record reads what begins at a place in the log.
func (l *logFile) record(at int) record {
	head := l.from(at)
	if len(head) < headerBytes {
		return record{end: at + len(head)}
	}
	length := int(binary.LittleEndian.Uint16(head[4:]))
	r := record{kind: head[6], end: at + headerBytes + length}
	if r.kind < kindFull || r.kind > kindLast || len(head) < headerBytes+length {
		return r
	}
	sum := crc32.Checksum(head[6:headerBytes+length], castagnoli)
	masked := (sum>>15 | sum<<17) + 0xa282ead8 // so that the checksum of data with checksums in it is a good one
	r.whole = masked == binary.LittleEndian.Uint32(head)
	return r
}

// next is where the next record begins, behind one that ends there.
func next(end int) int {
	if rest := blockBytes - end%blockBytes; rest < headerBytes {
		return end + rest
	}
	return end
}

func nextBlock(at int) int { return (at/blockBytes + 1) * blockBytes }

// logEnd finds what is torn at the end of a log, and where it begins.
//
// The end is torn where the last batch is missing in part: a sector of it was never written, so that it is still zeros behind what was written
// before, and no other batch begins behind it. A batch that is there in all its sectors and does not have its checksum is damaged, and so is one with another
// behind it, since that was written when this one had been synced; that is left for the engine to see. So is a log that stops in the middle of a record, which
// the engine knows for torn by itself.
func (l *logFile) logEnd() (end int, torn bool) {
	at := 0 // the next record
	var r record
	for at < l.size {
		if r = l.record(at); !r.whole {
			break
		}
		if r.kind == kindFull || r.kind == kindLast {
			end = r.end
		}
		at = next(r.end)
	}
	written := l.written()
	if at >= l.size || end >= written {
		return 0, false // all is whole, and the rest zeros
	}
	written = max(written, r.end)
	torn = written <= l.size && !l.beginsBehind(at, r) && l.hole(at, written)
	return end, torn && l.err == nil
}

// written is the end of what is not zeros.
func (l *logFile) written() int {
	for end := l.size; end > 0; {
		begin := (end - 1) / blockBytes * blockBytes
		if n := written(l.from(begin)); n > 0 {
			return begin + n
		}
		end = begin
	}
	return 0
}

// written is the end of what is not zeros.
func written(bytes []byte) int {
	n := len(bytes)
	for n > 0 && bytes[n-1] == 0 {
		n--
	}
	return n
}

// beginsBehind reports whether a batch begins behind a record at a place that is not whole: where that says that it ends, or in a later block.
func (l *logFile) beginsBehind(at int, broken record) bool {
	begin := nextBlock(at)
	if broken.kind != kindZero && broken.end < begin {
		begin = next(broken.end)
	}
	for begin < l.size {
		switch r := l.record(begin); {
		case !r.whole:
			begin = nextBlock(begin)
		case r.kind == kindFull || r.kind == kindFirst:
			return true
		default:
			begin = next(r.end)
		}
	}
	return false
}

// hole reports whether a sector between two places was not written: what it has from the first place on is zeros.
func (l *logFile) hole(from, to int) bool {
	for from < to {
		rest := l.from(from)
		sector := rest[:min(len(rest), sectorBytes-from%sectorBytes)]
		if written(sector) == 0 {
			return true
		}
		from += len(sector)
	}
	return false
}
