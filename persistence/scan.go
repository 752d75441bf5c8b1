package persistence

import (
	"bytes"
	"errors"
	"strings"

	"github.com/linxGnu/grocksdb"
)

// scan is a read of consecutive keys.
type scan struct {
	family   family
	from     []byte // the first key; nil = the family's first
	to       []byte // the first key not to be read; nil = none
	ahead    int    // bytes to ask the disk for ahead; 0 = as the engine sees fit
	head     int    // how much of each value is wanted; 0 = all of it
	keepWarm bool   // leave the blocks in the cache
	patience int    // tombstones to walk over until errFar; 0 = any number

	// jump, if given, sees each key before fn does. What it returns for one of tierLength is a later key where the scan goes on; nil = here.
	jump func(key, value []byte) (to []byte, err error)
}

// errFar ends a scan that had to walk over too many deleted keys.
var errFar = errors.New("too many deleted keys in the way")

// engineError marks what the engine says, among what its callers say.
type engineError struct{ error }

// Unwrap returns what it says.
func (e engineError) Unwrap() error { return e.error }

// each calls fn for the keys of the scan, as they were when it began, until fn returns false or an error. Key and value are
// valid during that call alone.
func (e *engine) each(s scan, fn func(key, value []byte) (more bool, err error)) error {
	return e.pairs(s, func(p pair) (bool, error) { return fn(p.key, p.value) })
}

// pairs is each for those who ask for the heads of values alone.
func (e *engine) pairs(s scan, fn func(p pair) (more bool, err error)) error {
	c := e.cursor(s)
	defer c.close()
	some := spare.Get().(*pairs)
	defer some.giveBack()
	pause := 0
	if s.jump != nil {
		pause = tierLength // what is behind a mark may be many tombstones
	}
	for {
		if some.fill(c, s.head, pause); len(some.rest) == 0 {
			return c.err()
		}
		for len(some.rest) > 0 {
			p := some.take(s.head)
			if s.jump != nil {
				to, err := s.jump(p.key, p.value)
				if err != nil {
					return err
				}
				if to != nil {
					c.seek(to)
					some.rest = nil
					continue
				}
			}
			more, err := fn(p)
			if err != nil || !more {
				return err
			}
		}
	}
}

// cursor is an iterator with what it needs. Whoever makes one closes it before the engine.
type cursor struct {
	*grocksdb.Iterator

	options *grocksdb.ReadOptions
	read    bool // the pair on which it stands has been read, by pairs
}

// cursor makes a cursor that stands on the first key of the scan.
func (e *engine) cursor(s scan) *cursor {
	o := grocksdb.NewDefaultReadOptions()
	o.SetFillCache(s.keepWarm)
	o.SetReadaheadSize(uint64(s.ahead))
	o.SetMaxSkippableInternalKeys(uint64(s.patience))
	if s.to != nil {
		o.SetIterateUpperBound(s.to)
	}
	c := &cursor{Iterator: e.db.NewIteratorCF(o, e.families[s.family]), options: o}
	if s.from == nil {
		c.SeekToFirst()
	} else {
		c.Seek(s.from)
	}
	return c
}

// seek has the cursor stand on the first key that is not before key.
func (c *cursor) seek(key []byte) {
	c.Seek(key)
	c.read = false
}

// at reports whether the cursor stands on key.
func (c *cursor) at(key []byte) bool { return c.Valid() && bytes.Equal(c.Key().Data(), key) }

// err is why the cursor stands nowhere; nil = it is at its end.
func (c *cursor) err() error {
	switch err := c.Err(); {
	case err == nil:
		return nil
	case strings.HasPrefix(err.Error(), "Result incomplete"):
		return errFar
	default:
		return engineError{err}
	}
}

func (c *cursor) close() {
	c.Close()
	c.options.Destroy() // after the iterator, which points at the bound in it
}

// bodies finds the bodies that are kept apart, for a scan of messages. It is made cheaply and opens its cursor when it is needed, so
// that it may miss what was deleted since the scan began. A snapshot would show both as of one moment, but when a snapshot
// is let go of the engine rewrites every file at the bottom that is older and was not rewritten yet.
type bodies struct {
	engine *engine
	scan   scan // of the messages
	cursor *cursor
}

// get returns the body to the message with this key; it is not there if the message was deleted meanwhile. The keys come in ascending
// order. The body is RocksDB's memory, valid until the next call.
func (b *bodies) get(key []byte) (body []byte, there bool, err error) {
	if b.cursor == nil {
		b.cursor = b.engine.cursor(scan{
			family: familyBodies, from: key, to: b.scan.to, ahead: b.scan.ahead, keepWarm: b.scan.keepWarm,
		})
	} else if b.cursor.Valid() {
		b.cursor.Next() // most often this is it
	}
	if !b.cursor.at(key) {
		b.cursor.Seek(key)
	}
	if b.cursor.at(key) {
		return b.cursor.Value().Data(), true, nil
	}
	if err := b.cursor.err(); err != nil {
		return nil, false, err
	}
	lost, err := b.engine.holds(familyMessages, key)
	if err == nil && lost {
		err = corrupt("a message without its body")
	}
	return nil, false, err
}

// holds reports whether a family has the key now.
func (e *engine) holds(f family, key []byte) (bool, error) {
	c := e.cursor(scan{family: f, from: key, to: append(bytes.Clone(key), 0)})
	defer c.close()
	return c.at(key), c.err()
}

func (b *bodies) close() {
	if b.cursor != nil {
		b.cursor.close()
	}
}
