package frontend

import (
	"sync"

	"github.com/mq9-broker/broker/mq9"
)

// item is something queued for the client: bytes as they are, or a delivery that is rendered when its turn comes.
type item struct {
	chunk   *chunk       // bytes: control frames, frames of the embedded server, or a discovery event
	message *mq9.Message // a delivery, shared with the tier and all other readers
	out     *outlet      // whose delivery or event it is; nil = nobody's
	cost    int          // bytes of the window that a delivery or event holds
}

// itemQueue is a first-in, first-out queue in blocks that all queues share: whoever has nothing queued keeps nothing. Its owner guards it.
type itemQueue struct {
	head, tail *itemBlock // nil when it is empty
}

// itemBlock is a part of a queue: items[from:to].
type itemBlock struct {
	items    [blockItems]item
	from, to int
	next     *itemBlock
}

const blockItems = 64

var itemBlocks = sync.Pool{New: func() any { return &itemBlock{} }}

// push puts an item at the end.
func (q *itemQueue) push(it item) {
	if q.tail == nil || q.tail.to == blockItems {
		b := itemBlocks.Get().(*itemBlock)
		if q.tail == nil {
			q.head = b
		} else {
			q.tail.next = b
		}
		q.tail = b
	}
	q.tail.items[q.tail.to] = it
	q.tail.to++
}

// pushFront puts an item before all others.
func (q *itemQueue) pushFront(it item) {
	if q.head == nil {
		q.push(it)
		return
	}
	b := itemBlocks.Get().(*itemBlock)
	b.from, b.to, b.next = blockItems-1, blockItems, q.head
	b.items[b.from] = it
	q.head = b
}

// last is the item at the end, or nil. It is good until the queue changes.
func (q *itemQueue) last() *item {
	if q.tail == nil {
		return nil
	}
	return &q.tail.items[q.tail.to-1]
}

// pop takes the first item; false when there is none.
func (q *itemQueue) pop() (item, bool) {
	b := q.head
	if b == nil {
		return item{}, false
	}
	it := b.items[b.from]
	b.items[b.from] = item{}
	if b.from++; b.from == b.to {
		if q.head = b.next; q.head == nil {
			q.tail = nil
		}
		b.from, b.to, b.next = 0, 0, nil
		itemBlocks.Put(b)
	}
	return it, true
}

// drop forgets everything.
func (q *itemQueue) drop() { *q = itemQueue{} }
