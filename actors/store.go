package actors

import "github.com/mq9-broker/broker/mq9"

// Store is the durable side as the actors see it: mailbox metadata and the critical and urgent tiers.
// Its methods are safe for concurrent use. Messages given to it and got from it are immutable.
type Store interface {
	// Mailboxes calls fn for every mailbox on disk, expired ones included, and stops at fn's first error.
	Mailboxes(fn func(mq9.Mailbox) error) error

	// Index calls fn for every committed message of the mailbox with that number, in delivery order (critical
	// before urgent, each by id). It reads no more than it must: Entry needs no body.
	Index(number uint64, fn func(mq9.Entry)) error

	// Read returns committed messages of one priority in id order, beginning with the first whose id is at least
	// from: as many as fit into maxBytes of Size, but at least one if there is any.
	Read(number uint64, p mq9.Priority, from mq9.MsgID, maxBytes int) ([]*mq9.Message, error)

	// Commit hands over a change and returns at once. Changes take effect in the order of the calls. done is called
	// exactly once, in that order too, from the store's goroutine, so it must not block: with nil when the
	// change is down (on disk under the sync mode `always`), or with the reason why it changed nothing. A done of nil is allowed.
	Commit(c mq9.Change, done func(error))

	// Outstanding is how many changes were handed over whose outcome is not told yet, without the one that is being told: none
	// means that nobody waits for the goroutine that tells it.
	Outstanding() int

	// ReserveIDs takes n ids out of use for good and returns the first; they are on disk as used before it returns.
	// Ids begin at 1.
	ReserveIDs(n uint64) (first uint64, err error)

	// Err reports why durable writes would fail now, or nil.
	Err() error
}
