package persistence

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mq9-broker/broker/mq9"
)

// Memory is a store like [Store] that keeps everything in memory and forgets it when it is closed: for tests, and for a broker that shall
// leave no trace. Its methods promise what those of Store promise, the order and the goroutine of callbacks included.
type Memory struct {
	committer committer
	ids       ids
	failure   atomic.Pointer[error] // why writes fail, or nil

	mu struct {
		sync.RWMutex
		closed    bool
		mailboxes map[string]mq9.Mailbox // by the key of the mailboxes' family
		tiers     map[uint64]*tiers      // by number; exactly the mailboxes that are alive
	}
}

// tiers are the durable messages of one mailbox, by priority, each sorted by id.
type tiers [mq9.Normal][]*mq9.Message

// NewMemory makes an empty store. Close ends its goroutine.
func NewMemory() *Memory {
	var defaults Options
	defaults.EnsureDefaults()
	m := &Memory{}
	m.mu.mailboxes = map[string]mq9.Mailbox{}
	m.mu.tiers = map[uint64]*tiers{}
	m.committer = committer{maxChanges: defaults.MaxBatchChanges, maxBytes: defaults.MaxBatchBytes, write: m.apply}
	m.ids.committer = &m.committer
	m.committer.start()
	return m
}

// FailWrites makes every change from now on fail with an error that reads as 503 and names the cause, as on a full disk; nil ends that.
// Changes handed over before it may fail too.
func (m *Memory) FailWrites(cause error) {
	if cause == nil {
		m.failure.Store(nil)
		return
	}
	err := unavailable(cause)
	m.failure.Store(&err)
}

// Close takes what was handed over before it and ends the goroutine. What is called afterwards answers [ErrClosed].
// Closing again does nothing.
func (m *Memory) Close() error {
	m.committer.close()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.closed, m.mu.mailboxes, m.mu.tiers = true, nil, nil
	return nil
}

// Commit is like Store.Commit.
func (m *Memory) Commit(c mq9.Change, done func(error)) { m.committer.commit(c, done) }

// Outstanding is as [Store.Outstanding].
func (m *Memory) Outstanding() int { return int(m.committer.outstanding.Load()) }

// ReserveIDs is like Store.ReserveIDs, but an id is out of use only as long as the store is.
func (m *Memory) ReserveIDs(n uint64) (first uint64, err error) { return m.ids.reserve(n) }

// Err is like Store.Err.
func (m *Memory) Err() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.mu.closed {
		return ErrClosed
	}
	if err := m.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Mailboxes is like Store.Mailboxes.
func (m *Memory) Mailboxes(fn func(mq9.Mailbox) error) error {
	m.mu.RLock()
	closed, mailboxes := m.mu.closed, maps.Clone(m.mu.mailboxes)
	m.mu.RUnlock()
	if closed {
		return ErrClosed
	}
	for _, key := range slices.Sorted(maps.Keys(mailboxes)) {
		if err := fn(mailboxes[key]); err != nil {
			return err
		}
	}
	return nil
}

// Index is like Store.Index.
func (m *Memory) Index(number uint64, fn func(mq9.Entry)) error {
	var entries []mq9.Entry
	err := m.view(number, func(t *tiers) {
		for _, messages := range t {
			for _, message := range messages {
				entries = append(entries, message.Entry())
			}
		}
	})
	for _, e := range entries {
		fn(e)
	}
	return err
}

// Read is like Store.Read.
func (m *Memory) Read(number uint64, p mq9.Priority, from mq9.MsgID, maxBytes int) (messages []*mq9.Message, err error) {
	if !p.Durable() {
		return nil, nil
	}
	err = m.view(number, func(t *tiers) {
		first, _ := find(t[p], from)
		bytes := 0
		for _, message := range t[p][first:] {
			if bytes += message.Size(); bytes > maxBytes && len(messages) > 0 {
				return
			}
			messages = append(messages, message)
		}
	})
	return messages, err
}

// view calls fn, under the lock, with the messages of a mailbox that is alive.
func (m *Memory) view(number uint64, fn func(*tiers)) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.mu.closed {
		return ErrClosed
	}
	if t := m.mu.tiers[number]; t != nil {
		fn(t)
	}
	return nil
}

// apply is the committer's write.
func (m *Memory) apply(batch []request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	failure := m.failure.Load()
	for i := range batch {
		if failure == nil {
			batch[i].err = m.applyOne(batch[i].change)
		} else {
			batch[i].err = *failure
		}
	}
}

func (m *Memory) applyOne(change any) error {
	switch c := change.(type) {
	case mq9.CreateMailbox:
		return m.create(c.Mailbox)
	case mq9.ExpireMailbox:
		return m.expire(c.Mailbox)
	case mq9.AppendMessages:
		return m.append(c)
	case mq9.DeleteMessage:
		if t := m.mu.tiers[c.Number]; t != nil && c.Priority.Durable() {
			if i, found := find(t[c.Priority], c.ID); found {
				t[c.Priority] = slices.Delete(t[c.Priority], i, i+1)
			}
		}
		return nil
	case reserve:
		return nil // the mark is in ids
	case late:
		return ErrClosed
	default:
		return invalid("a %T", change)
	}
}

func (m *Memory) create(b *mq9.Mailbox) error {
	if b == nil {
		return invalid("no mailbox")
	}
	if what := mailboxFault(b); what != "" {
		return invalid("a mailbox with %s", what)
	}
	key, err := appendMailboxKey(nil, b.Account, b.ID)
	if err != nil {
		return err
	}
	m.mu.mailboxes[string(key)] = *b
	if m.mu.tiers[b.Number] == nil {
		m.mu.tiers[b.Number] = &tiers{}
	}
	return nil
}

func (m *Memory) expire(b *mq9.Mailbox) error {
	if b == nil {
		return invalid("no mailbox")
	}
	if m.mu.tiers[b.Number] == nil {
		return nil
	}
	key, err := appendMailboxKey(nil, b.Account, b.ID)
	if err != nil {
		return err
	}
	delete(m.mu.mailboxes, string(key))
	delete(m.mu.tiers, b.Number)
	return nil
}

func (m *Memory) append(c mq9.AppendMessages) error {
	if err := checkMessages(c.Messages); err != nil {
		return err
	}
	t := m.mu.tiers[c.Number]
	if t == nil {
		return mq9.ErrNoMailbox
	}
	for _, message := range c.Messages {
		tier := &t[message.Priority]
		if i, found := find(*tier, message.ID); found {
			(*tier)[i] = message
		} else {
			*tier = slices.Insert(*tier, i, message)
		}
	}
	return nil
}

// find is where the first message with that id or a higher one is.
func find(messages []*mq9.Message, id mq9.MsgID) (int, bool) {
	return slices.BinarySearchFunc(messages, id, func(m *mq9.Message, id mq9.MsgID) int { return cmp.Compare(m.ID, id) })
}
