package actors

import (
	"sync/atomic"

	"github.com/mq9-broker/broker/mq9"
)

// Limits bound what the broker keeps. Zero means no limit. At a limit new things are refused with code 429 and the
// limit's name; nothing that is stored is evicted (protocol section 8).
type Limits struct {
	Mailboxes       int   // mailboxes alive, of all accounts
	MailboxMessages int   // messages stored in one mailbox, of all priorities
	Memory          int64 // bytes of the memory tier: normal messages of all mailboxes, messageCost included
	MailboxMemory   int64 // the same, of one mailbox
}

// messageCost is what a message in memory counts beyond its Size: about what its index entry and its bookkeeping take.
const messageCost = 192

// usage is what is kept now, shared by all actors.
type usage struct {
	mailboxes atomic.Int64
	memory    atomic.Int64
	public    atomic.Int64 // of the mailboxes
	groups    atomic.Int64

	mostMessages, mostMemory atomic.Int64 // that one mailbox had since the start

	created, expired atomic.Uint64 // mailboxes, since the start
}

// SetLimits replaces the limits. What is new is measured against them from now on; what is stored stays, even beyond
// them. It is safe for concurrent use.
func (b *Broker) SetLimits(limits Limits) { b.limits.Store(&limits) }

// Usage is what a broker keeps, at one moment.
type Usage struct {
	Mailboxes int64 // alive
	Memory    int64 // bytes of the memory tier, as Limits counts them

	MailboxMessages, MailboxMemory int64 // the most that one mailbox had since the start
}

// Usage reports what the broker keeps now.
func (b *Broker) Usage() Usage {
	u := &b.usage
	return Usage{u.mailboxes.Load(), u.memory.Load(), u.mostMessages.Load(), u.mostMemory.Load()}
}

// Limits returns the limits in force.
func (b *Broker) Limits() Limits { return *b.limits.Load() }

// admitMailbox counts a new mailbox, or refuses it.
func (b *Broker) admitMailbox() *mq9.Error {
	most := int64(b.limits.Load().Mailboxes)
	if n := b.usage.mailboxes.Add(1); most > 0 && n > most {
		b.usage.mailboxes.Add(-1)
		return mq9.Errorf(mq9.CodeLimit, "limit max-mailboxes (%d) is reached: wait until some expire, or raise it", most)
	}
	return nil
}

// admit counts a message that is about to be stored, or refuses it. Durable ones take nothing from the memory tier,
// so a full one does not hold them up.
func (m *mailbox) admit(d *Draft) *mq9.Error {
	limits := m.broker.limits.Load()
	messages := m.queues.live()
	if most := limits.MailboxMessages; most > 0 && messages >= most {
		return mq9.Errorf(mq9.CodeLimit, "limit max-mailbox-messages (%d) is reached: delete some of the mailbox, or raise it", most)
	}
	if d.Priority.Durable() {
		raise(&m.broker.usage.mostMessages, int64(messages+1))
		return nil
	}
	bytes := int64(len(d.Header)+len(d.Payload)) + messageCost
	if most := limits.MailboxMemory; most > 0 && m.memory+bytes > most {
		return mq9.Errorf(mq9.CodeLimit, "limit max-mailbox-memory (%d bytes) is reached: delete normal messages of the mailbox, or raise it", most)
	}
	if used := m.broker.usage.memory.Add(bytes); limits.Memory > 0 && used > limits.Memory {
		m.broker.usage.memory.Add(-bytes)
		return mq9.Errorf(mq9.CodeLimit, "limit max-memory (%d bytes) is reached: delete normal messages, or raise it", limits.Memory)
	}
	m.memory += bytes
	raise(&m.broker.usage.mostMessages, int64(messages+1))
	raise(&m.broker.usage.mostMemory, m.memory)
	return nil
}

// raise lifts a high-water mark. It reads, and seldom writes, so that the processors can share it.
func raise(mark *atomic.Int64, to int64) {
	for at := mark.Load(); to > at && !mark.CompareAndSwap(at, to); at = mark.Load() {
	}
}

// freed takes a normal message out of the count.
func (m *mailbox) freed(size int) {
	bytes := int64(size) + messageCost
	m.memory -= bytes
	m.broker.usage.memory.Add(-bytes)
}

// live is how many messages are stored.
func (qs *queues) live() (n int) {
	for p := range qs {
		n += qs[p].live
	}
	return n
}
