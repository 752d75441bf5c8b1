package tracing

import (
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/mq9-broker/broker/mq9"
)

// mostRecent is how many messages' traces are remembered.
const mostRecent = 1 << 14

// recent remembers which trace the latest traced messages belong to, so that their deliveries and deletions join it. A message's id is
// its own in the whole broker. Safe for concurrent use.
type recent struct {
	mu   sync.Mutex
	of   map[mq9.MsgID]trace.SpanContext
	ring []mq9.MsgID // in the order of coming
	next int         // the place in ring to be used again
}

// add remembers a message and forgets the oldest.
func (r *recent) add(id mq9.MsgID, at trace.SpanContext) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[mq9.MsgID]trace.SpanContext{}
	}
	if len(r.ring) < mostRecent {
		r.ring = append(r.ring, id)
	} else {
		delete(r.of, r.ring[r.next])
		r.ring[r.next] = id
		r.next = (r.next + 1) % mostRecent
	}
	r.of[id] = at
}

// find returns where a message's trace is, or an invalid context.
func (r *recent) find(id mq9.MsgID) trace.SpanContext {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[id]
}
