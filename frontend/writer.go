package frontend

import (
	"net"
	"sync"
	"time"

	"github.com/mq9-broker/broker/frontend/tracing"
)

// chunk holds bytes for the client that are written as they are. The outbox that has it queued owns it, then the writer.
type chunk struct {
	bytes             []byte
	upstream, control int // how many of the bytes are of which kind
}

// keepChunk is the capacity beyond which a buffer is left to the garbage collector.
const keepChunk = 2 * batchBytes

var chunks = sync.Pool{New: func() any { return &chunk{} }}

func newChunk() *chunk { return chunks.Get().(*chunk) }

func (c *chunk) put() {
	if cap(c.bytes) > keepChunk {
		c.bytes = nil
	}
	c.bytes, c.upstream, c.control = c.bytes[:0], 0, 0
	chunks.Put(c)
}

// writer renders a batch of items and writes it at one go. One goroutine owns it at a time.
type writer struct {
	batch   []item
	size    int // about how many bytes the batch will be
	scratch []byte
	vectors net.Buffers

	upstream, control, cost int // what is settled once the batch is written
	delivered               delivered
	owed                    int64 // since when the oldest delivery was owed, Unix nanoseconds; 0 = none in the batch
}

// vectorBytes is the length from which bytes are handed to the system where they lie instead of being copied.
const vectorBytes = 4 << 10

var writers = sync.Pool{New: func() any { return &writer{} }}

func takeWriter() *writer { return writers.Get().(*writer) }

func (w *writer) put() {
	if cap(w.scratch) > keepChunk {
		w.scratch = nil
	}
	writers.Put(w)
}

// reset forgets the batch that was written.
func (w *writer) reset() {
	for i := range w.batch {
		if c := w.batch[i].chunk; c != nil {
			c.put()
		}
	}
	clear(w.batch)
	w.batch, w.size = w.batch[:0], 0
	w.upstream, w.control, w.cost = 0, 0, 0
	w.delivered, w.owed = delivered{}, 0
}

// take adds an item to the batch.
func (w *writer) take(it item) {
	w.batch = append(w.batch, it)
	w.size += it.cost
	w.cost += it.cost
	if c := it.chunk; c != nil {
		w.size += len(c.bytes)
		w.upstream += c.upstream
		w.control += c.control
	} else if m := it.message; m != nil {
		w.delivered[m.Priority].messages++
		w.delivered[m.Priority].bytes += uint64(m.Size())
		if since := max(m.At, it.out.since); w.owed == 0 || since < w.owed {
			w.owed = since
		}
	}
}

// trace makes the spans of the deliveries that were written.
func (w *writer) trace(t *tracing.Tracer) {
	for i := range w.batch {
		if m, out := w.batch[i].message, w.batch[i].out; m != nil {
			since := time.Unix(0, max(m.At, out.since))
			t.Delivered(m, out.session.server.shown(out.id), out.Connection(), hide(out.entry.queue), since)
		}
	}
}

// flush renders the batch and writes it.
func (w *writer) flush(conn net.Conn) error {
	w.scratch = w.scratch[:0]
	clear(w.vectors)
	w.vectors = w.vectors[:0]
	start := 0 // of what is in scratch and in no vector yet
	add := func(b []byte) {
		if len(b) < vectorBytes {
			w.scratch = append(w.scratch, b...)
			return
		}
		if len(w.scratch) > start {
			w.vectors = append(w.vectors, w.scratch[start:])
			start = len(w.scratch)
		}
		w.vectors = append(w.vectors, b)
	}
	for i := range w.batch {
		switch it := &w.batch[i]; {
		case it.chunk != nil:
			add(it.chunk.bytes)
		default:
			var payload []byte
			w.scratch, payload = it.out.style.appendMessage(w.scratch, it.out.entry.sid, it.out.id, it.message)
			add(payload)
			w.scratch = append(w.scratch, "\r\n"...)
		}
	}
	if len(w.vectors) == 0 {
		_, err := conn.Write(w.scratch)
		return err
	}
	if len(w.scratch) > start {
		w.vectors = append(w.vectors, w.scratch[start:])
	}
	vectors := w.vectors // WriteTo consumes what it is given
	_, err := vectors.WriteTo(conn)
	return err
}
