package crash

import (
	"fmt"
	"time"
)

const (
	// slack is what the clocks of broker and observer may differ by, and how long an event may wait to be recorded on a loaded machine.
	slack = int64(250 * time.Millisecond)
	// late is how long what was on its way when a mailbox expired may take to arrive, and a busy broker to unlist it.
	late = int64(10 * time.Second)
	// enough is how many violations are kept: the first ones tell most.
	enough = 1000
)

// Totals counts what a history held.
type Totals struct {
	Operations   int // calls of every kind
	Acknowledged int // messages, by a reply or a flush
	Deleted      int // messages, by a reply or a flush
	Mailboxes    int // that were made
	Open         int // calls that a kill left without an outcome
	Violations   int
}

// Checker goes over a history and notes every promise of the protocol that it shows to be broken. Feed it the events in order, then
// Finish. It belongs to one goroutine.
//
// Its rules compare places in the history: what was acknowledged before a reading was called must be in what the reading returned, unless its
// deletion was called before the reading returned; and so on. Whatever such a place leaves open is no violation.
type Checker struct {
	seq   int   // place of the event at hand, from 1
	now   int64 // its time
	life  int   // number of the current life, from 1
	read  int   // the last life that began with a reading
	dying bool  // SIGKILL is on its way: calls may stay without an answer

	calls   map[int]*call
	names   map[string]*mailboxes
	tokens  map[string]*message
	ids     map[string]*message
	subs    map[int]*reader  // of this life
	ended   []*reader        // to be judged when what their life left has been read
	groups  map[string]*team // of this life
	pending map[int][]*call  // publishes and drops by connection, until a flush
	touched map[string]int   // the place of the first call of a connection on a mailbox, by both

	violations []string
	totals     Totals
}

// call is a call and its place.
type call struct {
	Event
	seq  int
	life int
	msg  *message // Send, Publish
}

// NewChecker makes a checker of a history from its beginning.
func NewChecker() *Checker {
	return &Checker{
		calls: map[int]*call{}, names: map[string]*mailboxes{}, tokens: map[string]*message{}, ids: map[string]*message{},
		subs: map[int]*reader{}, groups: map[string]*team{}, pending: map[int][]*call{}, touched: map[string]int{},
	}
}

// Violations returns what was found so far.
func (c *Checker) Violations() []string { return c.violations }

// Totals returns the counts so far.
func (c *Checker) Totals() Totals { return c.totals }

// Finish draws the last conclusions. The history must have ended with a life that was read.
func (c *Checker) Finish() []string {
	c.endLife()
	c.settle()
	return c.violations
}

// blame notes a violation.
func (c *Checker) blame(format string, args ...any) {
	c.totals.Violations++
	if len(c.violations) < enough {
		c.violations = append(c.violations, fmt.Sprintf("life %d, event %d: ", c.life, c.seq)+fmt.Sprintf(format, args...))
	}
}

// Feed takes the next event.
func (c *Checker) Feed(e Event) {
	c.seq++
	c.now = e.At
	switch e.Kind {
	case Starting:
		c.endLife()
		c.life++
		c.settle()
		c.dying = false
	case Killing, Stopping:
		c.dying = true
	case Create, Send, Publish, Delete, Drop, Flush, List, Discover, Subscribe:
		c.called(e)
	case Created, Sent, Deleted, Flushed, Listed, Discovered, Refused, Unanswered:
		c.answered(e)
	case Delivered, Replayed, Left:
		c.onSubscription(e)
	case Complaint:
		c.complained(e)
	default:
		c.blame("unknown event %q", e.Kind)
	}
}

// endLife forgets what dies with the process.
func (c *Checker) endLife() {
	for _, r := range c.subs {
		c.endSubscription(r)
	}
	for _, k := range c.calls {
		c.lost(k)
	}
	for _, calls := range c.pending {
		c.totals.Open += len(calls)
	}
	clear(c.subs)
	clear(c.calls)
	clear(c.groups)
	clear(c.pending)
	clear(c.touched)
}

func (c *Checker) called(e Event) {
	c.totals.Operations++
	k := &call{Event: e, seq: c.seq, life: c.life}
	if e.Box != "" {
		key := touch(e.Conn, e.Box)
		if c.touched[key] == 0 {
			c.touched[key] = c.seq
		}
	}
	switch e.Kind {
	case Create:
		if e.Box != "" {
			c.name(e.Box).creates++
		}
	case Send, Publish:
		k.msg = c.drafted(k)
	case Delete, Drop:
		c.deletionCalled(k)
	case Subscribe:
		c.subs[e.Op] = newReader(k)
		c.team(e)
		return
	}
	if e.Kind == Publish || e.Kind == Drop {
		c.pending[e.Conn] = append(c.pending[e.Conn], k)
		return
	}
	c.calls[e.Op] = k
}

func touch(conn int, box string) string { return fmt.Sprintf("%d %s", conn, box) }

func (c *Checker) answered(e Event) {
	k := c.calls[e.Op]
	if k == nil {
		c.blame("an outcome of a call that was not made: %+v", e)
		return
	}
	delete(c.calls, e.Op)
	switch e.Kind {
	case Created:
		c.created(k, e.Info)
	case Sent:
		c.totals.Acknowledged++
		c.acknowledged(k, e.Msg)
	case Deleted:
		c.deleted(k, e.Existed)
	case Flushed:
		c.flushed(k)
	case Listed:
		c.listed(k, e)
	case Discovered:
		c.discovered(k, e)
	case Refused:
		c.refused(k, e)
	case Unanswered:
		if !c.dying {
			c.blame("%s of %s was not answered by a living broker: %s", k.Kind, k.Box, e.Wrong)
		}
		c.lost(k)
	}
}

// lost notes a call whose outcome nobody will know.
func (c *Checker) lost(k *call) {
	c.totals.Open++
	if k.Kind == Create && k.Box != "" {
		n := c.name(k.Box)
		n.creates--
		n.unknown++
		n.lastCreate = c.now
	}
}

// refused judges a refusal: nothing but 404 may be, and that only when the mailbox may be gone.
func (c *Checker) refused(k *call, e Event) {
	if k.Kind == Create && k.Box != "" {
		n := c.name(k.Box)
		n.creates--
		n.lastCreate = c.now
	}
	if k.msg != nil {
		k.msg.refused = true
	}
	if e.Code != 404 {
		c.blame("%s of %s was refused: %d %s", k.Kind, k.Box, e.Code, e.Wrong)
	} else if inc := c.aliveAll(k.Box, k.seq, k.At); inc != nil {
		c.blame("%s: mailbox %s is unknown %v before it expires", k.Kind, k.Box, time.Duration(inc.info.Expires-c.now))
	}
}

// complained judges an asynchronous error in the same way.
func (c *Checker) complained(e Event) {
	if e.Code != 404 {
		c.blame("connection %d: %s", e.Conn, e.Wrong)
		return
	}
	first, ok := c.touched[touch(e.Conn, e.Box)]
	if !ok {
		c.blame("connection %d was told of %s, which it did not use", e.Conn, e.Box)
		return
	}
	for _, k := range c.pending[e.Conn] {
		if k.Box == e.Box && k.msg != nil {
			k.msg.refused = true
		}
	}
	if inc := c.aliveAll(e.Box, first, c.now); inc != nil {
		c.blame("mailbox %s is unknown %v before it expires: %s", e.Box, time.Duration(inc.info.Expires-c.now), e.Wrong)
	}
}
