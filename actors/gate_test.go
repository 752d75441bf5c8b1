package actors

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// answer is what a Receipt was told.
type answer struct {
	ID     mq9.MsgID
	Err    *mq9.Error
	AtOnce bool
}

// note is a Receipt that writes down what it is told, and then calls what there is to call.
type note struct {
	answers chan answer
	then    func(mq9.MsgID)
}

func newNote(then func(mq9.MsgID)) *note { return &note{make(chan answer, 2), then} }

func (n *note) Sent(id mq9.MsgID, err *mq9.Error, atOnce bool) {
	n.answers <- answer{id, err, atOnce}
	if n.then != nil {
		n.then(id)
	}
}

// gate is a store that keeps what became of messages to itself while it is shut. What is on disk is there all the same.
type gate struct {
	Store
	t    *testing.T
	held chan struct{} // a token for each report that waits
	told chan struct{} // a token for each report that was given

	blind atomic.Bool // it fails to read indexes

	mu   sync.Mutex
	open chan struct{} // closed while it is open; guarded by mu
}

func (g *gate) Index(number uint64, fn func(mq9.Entry)) error {
	if g.blind.Load() {
		return errMissing
	}
	return g.Store.Index(number, fn)
}

func (g *gate) Commit(c mq9.Change, done func(error)) {
	if _, messages := c.(mq9.AppendMessages); !messages {
		g.Store.Commit(c, done)
		return
	}
	g.Store.Commit(c, func(err error) {
		g.mu.Lock()
		open := g.open
		g.mu.Unlock()
		g.held <- struct{}{}
		<-open
		done(err)
		g.told <- struct{}{}
	})
}

// shut holds back what comes until the returned function is called, once.
func (g *gate) shut() (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gone := make(chan struct{})
	g.open = gone
	open = sync.OnceFunc(func() { close(gone) })
	g.t.Cleanup(open) // before the store is closed, which waits
	return open
}

// newGatedWorld is newWorld with a gate, which is open.
func newGatedWorld(t *testing.T) (*world, *gate) {
	t.Helper()
	g := &gate{t: t, held: make(chan struct{}, 100), told: make(chan struct{}, 100)}
	g.shut()()
	return newWorldWith(t, Config{}, func(s Store) Store { g.Store = s; return g }), g
}

// hand sends a message without waiting.
func (w *world) hand(id mq9.MailID, text string, r Receipt) {
	w.client.Send(id, Draft{Priority: mq9.Critical, Payload: []byte(text)}, r)
	w.client.Flush()
}

// stored is what the broker says it published and holds of the critical messages.
func (w *world) stored() (published, stored Depth) {
	c := w.broker.Stats().ByPriority[mq9.Critical]
	return c.Published, c.Stored
}

// blow crashes a mailbox's actor before it looks at anything, and waits until it begins again.
func (w *world) blow(id mq9.MailID) {
	w.t.Helper()
	before := w.broker.Restarts()
	w.client.known[id].send(&lookGroup{}) // which closes a channel that is none
	w.Eventually(w.broker.Restarts).Should(gomega.Equal(before + 1))
}

// asleep reports whether something landed that the mailbox has taken no note of, with none of its bytes kept.
func (w *world) asleep(id mq9.MailID) bool {
	l := &w.client.known[id].landing
	l.Lock()
	defer l.Unlock()
	for _, p := range l.settled {
		if p.bare == nil || p.messages != nil || p.receipts != nil {
			return false
		}
	}
	return len(l.settled) > 0 && !l.told
}
