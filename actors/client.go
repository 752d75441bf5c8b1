package actors

import "github.com/mq9-broker/broker/mq9"

// Draft is a message as its sender gives it. The broker keeps the slices: the caller must not touch them again.
type Draft struct {
	Priority mq9.Priority
	Header   []byte // as mq9.Message.Header
	Payload  []byte
}

// Receipt is told what became of a draft, once: after its tier holds it, and for a durable one not
// before it is on disk (under the sync mode `always`). It is called on a goroutine of the actors or of the store and must not block. With atOnce nobody waits for
// that goroutine: it may take its time for a system call.
type Receipt interface {
	Sent(id mq9.MsgID, err *mq9.Error, atOnce bool)
}

// Client is one connection's door to the broker. It belongs to one goroutine. Callbacks are called exactly once, on
// actors' goroutines, and must not block. What a Client asks of one mailbox takes effect in the order asked.
//
// Sends are gathered, because a hop to an actor costs more than storing a message: they are handed over by Flush, by
// every other operation, or when enough of them are gathered.
type Client struct {
	broker  *Broker
	account string
	known   map[mq9.MailID]*ref // a bounded memory of where mailboxes are, so that the router is asked once
	run     *run                // what is gathered; nil = nothing
}

// maxKnown bounds Client.known; beyond it the memory starts afresh.
const maxKnown = 4096

// NewClient makes the door for a connection of the given NATS account.
func (b *Broker) NewClient(account string) *Client {
	return &Client{broker: b, account: account}
}

// Create makes or confirms a mailbox (protocol section 3).
func (c *Client) Create(r mq9.CreateRequest, done func(mq9.CreateReply, *mq9.Error)) {
	c.Flush()
	c.broker.root.Send(c.broker.router, &create{c.account, r, done})
}

// Send stores a message (protocol section 5), once Flush is called.
func (c *Client) Send(id mq9.MailID, d Draft, r Receipt) {
	if c.run != nil && c.run.id != id {
		c.Flush()
	}
	if c.run == nil {
		c.run = takeRun(id)
	}
	if c.run.add(d, r) {
		c.Flush()
	}
}

// Flush hands over the messages that were gathered. It must follow a Send before its caller waits for anything.
func (c *Client) Flush() {
	if run := take(&c.run); run != nil {
		c.forward(run.id, run)
	}
}

// Delete removes one message; existed says whether it was there (protocol section 6).
func (c *Client) Delete(id mq9.MailID, msg mq9.MsgID, done func(existed bool, err *mq9.Error)) {
	c.Flush()
	c.forward(id, &remove{id, msg, done})
}

// List reads one page of what a mailbox stores, encoded in at most maxBytes (protocol section 6).
func (c *Client) List(id mq9.MailID, page mq9.PageRequest, maxBytes int, done func(mq9.ListReply, *mq9.Error)) {
	c.Flush()
	c.forward(id, &list{id, page, maxBytes, done})
}

// Discover reads one page of the account's public mailboxes, encoded in at most maxBytes (protocol section 7).
func (c *Client) Discover(page mq9.PageRequest, maxBytes int, done func(mq9.DiscoverReply, *mq9.Error)) {
	c.Flush()
	c.broker.root.Send(c.broker.directory, &discover{c.account, page, maxBytes, done})
}

// Subscribe attaches a subscription to a mailbox, as a member of a queue group if queue is not empty (protocol section 6).
// done is told of a refusal, or of success once the subscription is attached. After a refusal the
// Subscription is of no further use; Leave on it is allowed and does nothing.
func (c *Client) Subscribe(id mq9.MailID, set mq9.PrioritySet, queue string, out Outlet, done func(*mq9.Error)) *Subscription {
	c.Flush()
	sub := &Subscription{broker: c.broker, key: key{c.account, id}, set: set, queue: queue, out: out}
	c.forward(id, &subscribe{sub, done})
	return sub
}

// Watch attaches a subscription to discovery (protocol section 7): its outlet gets Events.
func (c *Client) Watch(out Outlet, done func(*mq9.Error)) *Subscription {
	c.Flush()
	sub := &Subscription{broker: c.broker, key: key{account: c.account}, out: out}
	sub.watch.Store(c.broker.directory)
	c.broker.root.Send(c.broker.directory, &subscribe{sub, done})
	return sub
}

// forward hands an operation to its mailbox, or refuses it when there is none.
func (c *Client) forward(id mq9.MailID, op operation) {
	at := c.known[id]
	if at == nil {
		at = c.resolve(id)
	}
	for at != nil {
		if s, ok := op.(*subscribe); ok {
			s.sub.at.Store(at)
		}
		if at.send(op) {
			return
		}
		last := at
		if at = c.resolve(id); at == last { // ended, and the router has yet to hear of it
			break
		}
	}
	delete(c.known, id)
	op.refuse(mq9.ErrNoMailbox)
}

// resolve asks the router where a mailbox is; nil if there is none.
func (c *Client) resolve(id mq9.MailID) *ref {
	found := make(chan *ref, 1)
	c.broker.root.Send(c.broker.router, &resolve{key{c.account, id}, found})
	at := <-found
	if at != nil {
		if c.known == nil || len(c.known) >= maxKnown {
			c.known = make(map[mq9.MailID]*ref)
		}
		c.known[id] = at
	}
	return at
}
