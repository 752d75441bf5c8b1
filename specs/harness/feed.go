package harness

import (
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Feed is everything that one subscription received, in order. Its methods may be called from any goroutine.
type Feed struct {
	*nats.Subscription

	mu   sync.Mutex
	msgs []*nats.Msg // guarded by mu
}

// Watch subscribes. Once it returns, the broker has seen the SUB.
func (c *Client) Watch(subject string) *Feed {
	GinkgoHelper()
	return c.Work(subject, "")
}

// Work subscribes in a queue group. Once it returns, the broker has seen the SUB.
func (c *Client) Work(subject, queue string) *Feed {
	GinkgoHelper()
	f := &Feed{}
	take := func(m *nats.Msg) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.msgs = append(f.msgs, m)
	}
	var err error
	if queue == "" {
		f.Subscription, err = c.Subscribe(subject, take)
	} else {
		f.Subscription, err = c.QueueSubscribe(subject, queue, take)
	}
	Expect(err).NotTo(HaveOccurred())
	Expect(f.SetPendingLimits(-1, -1)).To(Succeed())
	c.Sync()
	return f
}

// Mailbox subscribes to all priorities of a mailbox.
func (c *Client) Mailbox(id string) *Feed {
	GinkgoHelper()
	return c.Watch(Send + id + ".*")
}

// Messages returns what has come so far.
func (f *Feed) Messages() []*nats.Msg {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*nats.Msg(nil), f.msgs...)
}

// Payloads returns the payloads of what has come so far.
func (f *Feed) Payloads() []string {
	out := []string{}
	for _, m := range f.Messages() {
		out = append(out, string(m.Data))
	}
	return out
}

// IDs returns the msg_ids of what has come so far, as the reply subjects carry them.
func (f *Feed) IDs() []string {
	out := []string{}
	for _, m := range f.Messages() {
		out = append(out, MsgID(m))
	}
	return out
}

// Count is how many messages have come so far.
func (f *Feed) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.msgs)
}

// MsgID is the msg_id of a delivery: the last token of its reply subject.
func MsgID(m *nats.Msg) string {
	return m.Reply[strings.LastIndexByte(m.Reply, '.')+1:]
}
