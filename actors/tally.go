package actors

import (
	"sync/atomic"

	"github.com/mq9-broker/broker/mq9"
)

// Depth is how much is stored of one priority.
type Depth struct {
	Messages int64
	Bytes    int64 // header lines and payloads
}

// Counts are what a broker did since it started and what it holds, by priority.
type Counts struct {
	Published   Depth  // stored for a sender
	Deleted     Depth  // removed by DELETE
	Expired     Depth  // gone with their mailboxes
	Redelivered uint64 // handed out again by a queue group because a member went
	Stored      Depth  // held now; of the durable tiers what was counted so far, see Stats.Counted
}

// Stats are figures of a whole broker, at about one moment.
type Stats struct {
	ByPriority [mq9.Priorities]Counts

	Public, Private  int64  // mailboxes alive
	Created, Expired uint64 // mailboxes, since the start
	Groups           int64  // queue groups with members
	Memory           int64  // bytes of the memory tier, as Limits counts them
	Restarts         uint64 // actors that crashed and were started again
	Counted          bool   // all that was on disk at the start is counted
}

// stripes is over how many places the counting is spread, so that mailboxes on different processors seldom share one.
const stripes = 16

// tally counts for one stripe of the mailboxes. What is stored follows from the rest: found + published - deleted - expired.
type tally struct {
	published, deleted, expired [mq9.Priorities]amount
	found                       [mq9.Priorities]amount // read from disk at a start, less what a crash took
	redelivered                 [mq9.Priorities]atomic.Uint64

	_ [64]byte // the next one is on another cache line
}

// amount is a number of messages and their bytes.
type amount struct{ messages, bytes atomic.Int64 }

func (a *amount) add(messages int, bytes int64) {
	a.messages.Add(int64(messages))
	a.bytes.Add(bytes)
}

// addTo adds the amount to a sum.
func (a *amount) addTo(sum *Depth) {
	sum.Messages += a.messages.Load()
	sum.Bytes += a.bytes.Load()
}

// tally is where the mailbox counts.
func (m *mailbox) tally() *tally { return m.broker.tallyOf(m.at) }

func (b *Broker) tallyOf(at *ref) *tally { return &b.tallies[at.box.Number%stripes] }

// Stats adds up what was counted. It takes a moment and disturbs nobody.
func (b *Broker) Stats() Stats {
	s := Stats{
		Public: b.usage.public.Load(), Created: b.usage.created.Load(), Expired: b.usage.expired.Load(),
		Groups: b.usage.groups.Load(), Memory: b.usage.memory.Load(), Restarts: b.Restarts(), Counted: b.census.done.Load(),
	}
	s.Private = max(0, b.usage.mailboxes.Load()-s.Public)
	for i := range b.tallies {
		t := &b.tallies[i]
		for p := range s.ByPriority {
			c := &s.ByPriority[p]
			t.deleted[p].addTo(&c.Deleted) // before what was published, so that the difference is never negative
			t.expired[p].addTo(&c.Expired)
			t.published[p].addTo(&c.Published)
			t.found[p].addTo(&c.Stored)
			c.Redelivered += t.redelivered[p].Load()
		}
	}
	for p := range s.ByPriority {
		c := &s.ByPriority[p]
		c.Stored.Messages = max(0, c.Stored.Messages+c.Published.Messages-c.Deleted.Messages-c.Expired.Messages)
		c.Stored.Bytes = max(0, c.Stored.Bytes+c.Published.Bytes-c.Deleted.Bytes-c.Expired.Bytes)
	}
	return s
}

// depths are what a mailbox holds, by priority.
type depths [mq9.Priorities]Depth

// noDepths are those of a mailbox that holds nothing. Immutable.
var noDepths depths

// held is what a queue holds that is stored.
func (q *queue) held() Depth { return Depth{int64(q.live - len(q.pending)), q.bytes - q.unsafe} }

// depths is what the mailbox holds, or nil if that is not known yet.
func (m *mailbox) depths() *depths {
	if m.contents == nil {
		return m.atRest
	}
	var d depths
	for p := range m.queues {
		d[p] = m.queues[p].held()
	}
	return &d
}

// found counts what was read from disk in the place of what was known before.
func (m *mailbox) found(read *depths) {
	before := m.atRest
	if before == nil {
		before = &noDepths
	}
	if *read == noDepths {
		read = &noDepths // shared, so that an idle mailbox stays small
	}
	for p := range read {
		m.tally().found[p].add(int(read[p].Messages-before[p].Messages), read[p].Bytes-before[p].Bytes)
	}
	m.atRest = read
}

// weigh counts what a mailbox holds on disk that nobody has used yet, without keeping the index.
func (m *mailbox) weigh() {
	if m.contents != nil || m.atRest != nil || m.phase != living {
		return
	}
	var read depths
	err := m.broker.store.Index(m.at.box.Number, func(e mq9.Entry) {
		read[e.Priority].Messages++
		read[e.Priority].Bytes += int64(e.Size)
	})
	if err != nil {
		m.logFailure("counting what is stored", err)
		return
	}
	m.found(&read)
}
