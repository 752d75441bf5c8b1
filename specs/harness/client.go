package harness

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The subjects of the protocol; those that end in a dot are followed by a mail_id.
const (
	Create   = "$mq9.AI.MAILBOX.CREATE"
	Send     = "$mq9.AI.MAILBOX.MSG."
	ListOf   = "$mq9.AI.MAILBOX.LIST."
	Delete   = "$mq9.AI.MAILBOX.DELETE."
	Discover = "$mq9.AI.PUBLIC.LIST"
)

// requestTimeout bounds one request; it is generous because the broker runs under the race detector.
const requestTimeout = 10 * time.Second

// Client is a nats.go connection that remembers the asynchronous errors it was told.
type Client struct {
	*nats.Conn

	mu   sync.Mutex
	errs []string // guarded by mu
}

// Connect opens a nats.go connection that is closed when the spec ends.
func (b *Broker) Connect(opts ...nats.Option) *Client {
	GinkgoHelper()
	return Connect(b.Addr, opts...)
}

// Connect opens a nats.go connection to a server that is closed when the spec ends.
func Connect(addr string, opts ...nats.Option) *Client {
	GinkgoHelper()
	c := &Client{}
	opts = append([]nats.Option{
		nats.Timeout(requestTimeout),
		nats.ReconnectWait(50 * time.Millisecond),
		nats.ReconnectJitter(0, 0),
		nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.remember(err) }),
	}, opts...)
	nc, err := nats.Connect("nats://"+addr, opts...)
	Expect(err).NotTo(HaveOccurred())
	c.Conn = nc
	DeferCleanup(nc.Close)
	return c
}

func (c *Client) remember(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err.Error())
}

// Errors returns the asynchronous errors so far. It may be called from any goroutine.
func (c *Client) Errors() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.errs...)
}

// Sync waits until the broker has taken in everything that this connection sent.
func (c *Client) Sync() {
	GinkgoHelper()
	Expect(c.FlushTimeout(requestTimeout)).To(Succeed())
}

// Ask sends a request and decodes its JSON reply into out.
func (c *Client) Ask(subject, body string, out any) {
	GinkgoHelper()
	msg, err := c.Request(subject, []byte(body), requestTimeout)
	Expect(err).NotTo(HaveOccurred(), "request on %s", subject)
	Expect(json.Unmarshal(msg.Data, out)).To(Succeed(), "reply %q", msg.Data)
}

// Created is the reply to a CREATE.
type Created struct {
	MailID    string    `json:"mail_id"`
	IsNew     bool      `json:"is_new"`
	Public    bool      `json:"public"`
	TTL       int64     `json:"ttl"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Create sends a CREATE that must succeed.
func (c *Client) Create(body string) Created {
	GinkgoHelper()
	var reply struct {
		Created
		Refusal
	}
	c.Ask(Create, body, &reply)
	Expect(reply.Refusal).To(BeZero(), "CREATE %s was refused", body)
	return reply.Created
}

// Private makes a private mailbox and returns its address.
func (c *Client) Private() string {
	GinkgoHelper()
	return c.Create(`{"ttl":600}`).MailID
}

var names atomic.Int64

// UniqueName returns a public name that no other spec uses.
func UniqueName() string {
	return fmt.Sprintf("spec.%d.%d", GinkgoParallelProcess(), names.Add(1))
}

// Public makes a public mailbox with a name of its own and returns the name.
func (c *Client) Public() string {
	GinkgoHelper()
	name := UniqueName()
	Expect(c.Create(fmt.Sprintf(`{"ttl":600,"public":true,"name":%q}`, name)).IsNew).To(BeTrue())
	return name
}

// Send sends a message as a request and returns its msg_id. to is what follows MSG. in the subject: a mail_id and perhaps a priority.
func (c *Client) Send(to, payload string) string {
	GinkgoHelper()
	var reply struct {
		MsgID string `json:"msg_id"`
		Refusal
	}
	c.Ask(Send+to, payload, &reply)
	Expect(reply.Refusal).To(BeZero(), "a message to the mailbox was refused")
	Expect(reply.MsgID).NotTo(BeEmpty())
	return reply.MsgID
}

// Publish sends messages without waiting for replies.
func (c *Client) Publish(to string, payloads ...string) {
	GinkgoHelper()
	for _, p := range payloads {
		Expect(c.Conn.Publish(Send+to, []byte(p))).To(Succeed())
	}
}

// Refusal is the reply to a refused request. It is zero for a reply that refuses nothing.
type Refusal struct {
	Error string `json:"error"`
	Code  int    `json:"code"`
}

// Refused sends a request and returns how it was refused.
func (c *Client) Refused(subject, body string) Refusal {
	GinkgoHelper()
	var r Refusal
	c.Ask(subject, body, &r)
	return r
}

// Listed is one entry of a LIST reply.
type Listed struct {
	MsgID    string `json:"msg_id"`
	Priority string `json:"priority"`
	TS       int64  `json:"ts"`
	Size     int    `json:"size"`
}

// Page is a LIST reply.
type Page struct {
	MailID   string   `json:"mail_id"`
	Messages []Listed `json:"messages"`
	More     bool     `json:"more"`
	Refusal
}

// List asks for one page of what a mailbox stores; body may be empty.
func (c *Client) List(id, body string) Page {
	GinkgoHelper()
	var page Page
	c.Ask(ListOf+id, body, &page)
	Expect(page.Refusal).To(BeZero(), "LIST was refused")
	return page
}

// Stored returns the ids of everything that a mailbox stores, page by page, in delivery order.
func (c *Client) Stored(id string) []string {
	GinkgoHelper()
	ids, body := []string{}, ""
	for {
		page := c.List(id, body)
		for _, m := range page.Messages {
			ids = append(ids, m.MsgID)
		}
		if !page.More {
			return ids
		}
		Expect(page.Messages).NotTo(BeEmpty(), "an empty page cannot have more behind it")
		body = fmt.Sprintf(`{"after":%q}`, ids[len(ids)-1])
	}
}

// Delete removes a message and reports what the broker said of it.
func (c *Client) Delete(id, msgID string) bool {
	GinkgoHelper()
	var reply struct {
		Deleted bool `json:"deleted"`
		Refusal
	}
	c.Ask(Delete+id+"."+msgID, "", &reply)
	Expect(reply.Refusal).To(BeZero(), "DELETE was refused")
	return reply.Deleted
}
