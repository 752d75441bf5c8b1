package frontend

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// table holds a connection's subscriptions by sid: those on mailboxes, which the front serves, and the plain
// ones, which the embedded server serves, so that a reply whose inbox this connection holds need not go through the shared
// subject space. It is safe for concurrent use.
type table struct {
	limited atomic.Int32 // plain subscriptions with a max; lets the upstream reader skip counting

	mu      sync.Mutex
	entries map[string]*entry
	literal map[string][]*entry // plain ones without queue group, by subject
	wild    []*entry            // the same for patterns
	holders []*entry            // room for those that hold an inbox
	boxes   int                 // mailbox subscriptions
	watches int                 // discovery subscriptions
}

// entry is one subscription. Guarded by table.mu, except out and the names, which are immutable.
type entry struct {
	sid, subject, queue string
	out                 *outlet // nil for a plain one
	max                 int     // plain: deliveries after which it ends; 0 = none
	direct              int     // plain: replies that we wrote to it
	passed              int     // plain: deliveries of the embedded server since max was set
}

func newTable() *table {
	return &table{entries: map[string]*entry{}, literal: map[string][]*entry{}}
}

// add puts in a subscription, unless its sid is taken: then it returns the one that has it.
func (t *table) add(e *entry) (taken *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if taken = t.entries[e.sid]; taken != nil {
		return taken
	}
	t.entries[e.sid] = e
	t.countLocked(e, 1)
	if e.out != nil || e.queue != "" {
		return nil
	}
	if isPattern(e.subject) {
		t.wild = append(t.wild, e)
	} else {
		t.literal[e.subject] = append(t.literal[e.subject], e)
	}
	return nil
}

func (t *table) get(sid []byte) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[string(sid)]
}

func (t *table) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

// counts returns how many subscriptions there are to mailboxes, to discovery, and plain ones.
func (t *table) counts() (boxes, watches, plain int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.boxes, t.watches, len(t.entries) - t.boxes - t.watches
}

func (t *table) countLocked(e *entry, n int) {
	switch {
	case e.out == nil:
	case e.out.id == "":
		t.watches += n
	default:
		t.boxes += n
	}
}

// remove takes out an entry, if it is still the one that has its sid.
func (t *table) remove(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeLocked(e)
}

func (t *table) removeLocked(e *entry) {
	if t.entries[e.sid] != e {
		return
	}
	delete(t.entries, e.sid)
	t.countLocked(e, -1)
	if e.max > 0 {
		t.limited.Add(-1)
	}
	if e.out != nil || e.queue != "" {
		return
	}
	if isPattern(e.subject) {
		t.wild = without(t.wild, e)
	} else if rest := without(t.literal[e.subject], e); len(rest) > 0 {
		t.literal[e.subject] = rest
	} else {
		delete(t.literal, e.subject)
	}
}

// vacate frees a sid whose subscription has had its last message but has not been taken out yet.
func (t *table) vacate(sid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[sid]; e != nil && e.out != nil && e.out.over() {
		t.removeLocked(e)
	}
}

// mailboxes returns the entries of mailbox and discovery subscriptions.
func (t *table) mailboxes() []*entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []*entry
	for _, e := range t.entries {
		if e.out != nil {
			found = append(found, e)
		}
	}
	return found
}

// limit notes an UNSUB of a plain subscription. It returns the line to send upstream in its stead, or nil when the client's own
// is right: replies that we wrote count against max, and the embedded server does not know of them.
func (t *table) limit(e *entry, most int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if most < 1 {
		t.removeLocked(e)
		return nil
	}
	if e.max == 0 {
		t.limited.Add(1)
	}
	e.max = most
	if e.direct == 0 {
		return nil
	}
	return t.recountLocked(nil, e)
}

// recountLocked appends the UNSUB that tells the embedded server what is left of e's max.
func (t *table) recountLocked(b []byte, e *entry) []byte {
	b = append(append(b, "UNSUB "...), e.sid...)
	if left := e.max - e.direct; left > 0 {
		b = strconv.AppendInt(append(b, ' '), int64(left), 10)
	} else {
		t.removeLocked(e)
	}
	return append(b, "\r\n"...)
}

// appendReply renders a reply for each plain subscription that holds its inbox, and counts it there. It returns what must be sent
// upstream to keep the embedded server's count of auto-unsubscribes right.
func (t *table) appendReply(b []byte, inbox string, body []byte) (frames, upstream []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holders = append(t.holders, t.literal[inbox]...)
	for _, e := range t.wild {
		if matches(e.subject, inbox) {
			t.holders = append(t.holders, e)
		}
	}
	for _, e := range t.holders {
		b = appendPlain(b, inbox, e.sid, body)
		e.direct++
		if e.max > 0 {
			upstream = t.recountLocked(upstream, e)
		}
	}
	clear(t.holders)
	t.holders = t.holders[:0]
	return b, upstream
}

// passed counts a delivery of the embedded server against a plain subscription's max.
func (t *table) passed(sid []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[string(sid)]; e != nil && e.max > 0 {
		if e.passed++; e.passed+e.direct >= e.max {
			t.removeLocked(e)
		}
	}
}

// refused forgets the plain subscriptions that the embedded server did not permit.
func (t *table) refused(subject, queue string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if e.out == nil && e.subject == subject && e.queue == queue {
			t.removeLocked(e)
		}
	}
}

func without(list []*entry, gone *entry) []*entry {
	for i, e := range list {
		if e == gone {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// isPattern reports whether a subject has a wildcard token.
func isPattern(subject string) bool {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "*" || token == ">" {
			return true
		}
	}
	return false
}

// matches reports whether a pattern covers a literal subject, by the rules of NATS: `*` stands for one token, a final
// `>` for one or more.
func matches(pattern, subject string) bool {
	for {
		p, morePattern, inPattern := strings.Cut(pattern, ".")
		s, moreSubject, inSubject := strings.Cut(subject, ".")
		if p == ">" && !inPattern {
			return true
		}
		if p != s && p != "*" || inPattern != inSubject {
			return false
		}
		if !inPattern {
			return true
		}
		pattern, subject = morePattern, moreSubject
	}
}
