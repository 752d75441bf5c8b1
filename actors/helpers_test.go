package actors

import (
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

const patience = 20 * time.Second // the limit of every wait; nothing takes a noticeable part of it

// world is a broker on a real RocksDB, with one client.
type world struct {
	*gomega.WithT
	t      *testing.T
	dir    string
	config Config
	wrap   func(Store) Store // makes what the broker gets of the store
	store  *persistence.Store
	broker *Broker
	client *Client
}

// newWorld starts a broker that is stopped, and checked for leaked goroutines, with the test.
func newWorld(t *testing.T, config Config) *world {
	t.Helper()
	return newWorldWith(t, config, func(s Store) Store { return s })
}

// newWorldWith is newWorld with something between the broker and the store.
func newWorldWith(t *testing.T, config Config, wrap func(Store) Store) *world {
	t.Helper()
	w := &world{WithT: gomega.NewWithT(t), t: t, dir: t.TempDir(), config: config, wrap: wrap}
	w.SetDefaultEventuallyTimeout(patience)
	before := gleak.Goroutines()
	w.open()
	t.Cleanup(func() {
		w.close()
		w.Eventually(gleak.Goroutines).WithTimeout(patience).ShouldNot(gleak.HaveLeaked(before))
	})
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	w.store, err = persistence.Open(w.dir, persistence.Options{})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.broker, err = Start(w.wrap(w.store), w.config)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.client = w.broker.NewClient("A")
}

func (w *world) close() {
	w.broker.Stop()
	w.Expect(w.store.Close()).To(gomega.Succeed())
}

func (w *world) restart() {
	w.close()
	w.open()
}

// result is what a callback got.
type result[T any] struct {
	value T
	err   *mq9.Error
}

// await calls ask with a callback and returns what that got.
func await[T any](w *world, ask func(done func(T, *mq9.Error))) (T, *mq9.Error) {
	w.t.Helper()
	got := make(chan result[T], 2)
	ask(func(value T, err *mq9.Error) { got <- result[T]{value, err} })
	select {
	case r := <-got:
		return r.value, r.err
	case <-time.After(patience):
		w.t.Fatal("an operation was never answered")
		panic("unreachable")
	}
}

// must returns the value of an answer that is no refusal.
func must[T any](w *world) func(T, *mq9.Error) T {
	return func(value T, err *mq9.Error) T {
		w.t.Helper()
		w.Expect(err).To(gomega.BeNil())
		return value
	}
}

func (w *world) create(r mq9.CreateRequest) (mq9.CreateReply, *mq9.Error) {
	w.t.Helper()
	return await(w, func(done func(mq9.CreateReply, *mq9.Error)) { w.client.Create(r, done) })
}

// private makes a private mailbox.
func (w *world) private() mq9.MailID {
	w.t.Helper()
	return must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{})).MailID
}

// receipt is a Receipt made of a function.
type receipt func(mq9.MsgID, *mq9.Error)

func (r receipt) Sent(id mq9.MsgID, err *mq9.Error, _ bool) { r(id, err) }

func (w *world) trySend(id mq9.MailID, p mq9.Priority, text string) (mq9.MsgID, *mq9.Error) {
	w.t.Helper()
	return await(w, func(done func(mq9.MsgID, *mq9.Error)) {
		w.client.Send(id, Draft{Priority: p, Payload: []byte(text)}, receipt(done))
		w.client.Flush()
	})
}

func (w *world) send(id mq9.MailID, p mq9.Priority, text string) mq9.MsgID {
	w.t.Helper()
	return must[mq9.MsgID](w)(w.trySend(id, p, text))
}

func (w *world) delete(id mq9.MailID, msg mq9.MsgID) (bool, *mq9.Error) {
	w.t.Helper()
	return await(w, func(done func(bool, *mq9.Error)) { w.client.Delete(id, msg, done) })
}

func (w *world) list(id mq9.MailID, page mq9.PageRequest) (mq9.ListReply, *mq9.Error) {
	w.t.Helper()
	if page.Limit == 0 {
		page.Limit = mq9.MaxPage
	}
	return await(w, func(done func(mq9.ListReply, *mq9.Error)) { w.client.List(id, page, 1<<20, done) })
}

// subscribe attaches a reader with the given room, in messages; -1 = no limit.
func (w *world) subscribe(id mq9.MailID, set mq9.PrioritySet, queue string, room int) *reading {
	w.t.Helper()
	r := &reading{room: room}
	_, err := await(w, func(done func(struct{}, *mq9.Error)) {
		r.sub = w.client.Subscribe(id, set, queue, r, func(err *mq9.Error) { done(struct{}{}, err) })
	})
	w.Expect(err).To(gomega.BeNil())
	return r
}

// reading is a real Outlet that writes into memory instead of a socket: it has room for so many messages, and parks
// whoever asks for more until more is allowed.
type reading struct {
	sub *Subscription

	mu     sync.Mutex
	room   int // guarded by mu; -1 = no limit
	ended  bool
	parked bool
	wish   mq9.Priority
	got    []*mq9.Message
	events []string
	idles  int
}

func (r *reading) Room(p mq9.Priority, _ int) Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.roomLocked(p)
}

func (r *reading) roomLocked(p mq9.Priority) Verdict {
	switch {
	case r.ended:
		return Ended
	case r.room == 0:
		r.parked, r.wish = true, p
		return Parked
	}
	return Granted
}

func (r *reading) Offer(messages []*mq9.Message) (sent int, verdict Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range messages {
		if verdict = r.roomLocked(m.Priority); verdict != Granted {
			break
		}
		if r.room > 0 {
			r.room--
		}
		r.got = append(r.got, m)
		sent++
	}
	return sent, verdict
}

func (r *reading) Event(body []byte) Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict := r.roomLocked(mq9.Normal)
	if verdict == Granted {
		if r.room > 0 {
			r.room--
		}
		r.events = append(r.events, string(body))
	}
	return verdict
}

func (r *reading) Idle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idles++
}

// allow makes room for n more messages.
func (r *reading) allow(n int) {
	r.mu.Lock()
	resume := r.parked
	r.room += n
	r.parked = false
	r.mu.Unlock()
	if resume {
		r.sub.Resume()
	}
}

// texts is what was delivered so far.
func (r *reading) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := make([]string, len(r.got))
	for i, m := range r.got {
		texts[i] = string(m.Payload)
	}
	return texts
}

func (r *reading) messages() []*mq9.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*mq9.Message(nil), r.got...)
}

func (r *reading) wished() (bool, mq9.Priority) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parked, r.wish
}

// leave ends the subscription and waits until that was processed.
func (w *world) leave(r *reading, closed bool) {
	w.t.Helper()
	left := make(chan struct{})
	r.sub.Leave(closed, func() { close(left) })
	w.Eventually(left).Should(gomega.BeClosed())
}
