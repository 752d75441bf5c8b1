package specs_test

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Everything outside $mq9. behaves as on a plain nats-server.
var _ = Describe("Plain NATS", func() {
	var a, b *harness.Client

	BeforeEach(func() { a, b = broker.Connect(), broker.Connect() })

	It("publishes and subscribes, wildcards included", func() {
		subject := harness.UniqueName()
		exact, star, tail := a.Watch(subject+".x"), a.Watch(subject+".*"), a.Watch(subject+".>")
		Expect(b.Conn.Publish(subject+".x", []byte("1"))).To(Succeed())
		Expect(b.Conn.Publish(subject+".x.y", []byte("2"))).To(Succeed())
		Eventually(exact.Payloads).Should(Equal([]string{"1"}))
		Eventually(star.Payloads).Should(Equal([]string{"1"}))
		Eventually(tail.Payloads).Should(Equal([]string{"1", "2"}))
	})

	It("stores nothing: who comes late gets nothing", func() {
		subject := harness.UniqueName()
		Expect(a.Conn.Publish(subject, []byte("gone"))).To(Succeed())
		a.Sync()
		Consistently(b.Watch(subject).Count).Should(BeZero())
	})

	It("answers requests, with headers, and says so when nobody does", func() {
		subject := harness.UniqueName()
		_, err := a.Subscribe(subject, func(m *nats.Msg) {
			_ = m.RespondMsg(&nats.Msg{Data: append([]byte("re: "), m.Data...), Header: m.Header})
		})
		Expect(err).NotTo(HaveOccurred())
		a.Sync()
		reply, err := b.RequestMsg(&nats.Msg{Subject: subject, Data: []byte("hi"), Header: nats.Header{"Mq9-Fancy": {"untouched"}}}, requestTimeout)
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Data).To(BeEquivalentTo("re: hi"))
		Expect(reply.Header.Get("Mq9-Fancy")).To(Equal("untouched"))
		_, err = b.Request(subject+".nobody", nil, requestTimeout)
		Expect(err).To(MatchError(nats.ErrNoResponders))
	})

	It("shares messages in a queue group, each once", func() {
		subject := harness.UniqueName()
		one, two := a.Work(subject, "q"), b.Work(subject, "q")
		sender := broker.Connect()
		for i := range 200 {
			Expect(sender.Conn.Publish(subject, fmt.Append(nil, i))).To(Succeed())
		}
		Eventually(func() int { return one.Count() + two.Count() }).Should(Equal(200))
		Expect(one.Count()).To(BeNumerically(">", 0))
		Expect(two.Count()).To(BeNumerically(">", 0))
	})

	It("carries payloads up to max_payload", func() {
		subject := harness.UniqueName()
		feed := a.Watch(subject)
		big := make([]byte, a.MaxPayload())
		Expect(b.Conn.Publish(subject, big)).To(Succeed())
		Eventually(feed.Count).Should(Equal(1))
		Expect(feed.Messages()[0].Data).To(HaveLen(len(big)))
		Expect(b.Conn.Publish(subject, append(big, 0))).To(MatchError(nats.ErrMaxPayload))
	})

	It("carries many small messages in order, beside mailbox traffic of the same connection", func() {
		subject, id := harness.UniqueName(), b.Private()
		plain, box := a.Watch(subject), a.Mailbox(id)
		const n = 20_000
		for i := range n {
			Expect(b.Conn.Publish(subject, fmt.Appendf(nil, "%d", i))).To(Succeed())
			if i%20 == 0 {
				b.Publish(id, fmt.Sprint(i))
			}
		}
		b.Sync()
		Eventually(plain.Count).WithTimeout(30 * time.Second).Should(Equal(n))
		Eventually(box.Count).Should(Equal(n / 20))
		for i, payload := range plain.Payloads() {
			Expect(payload).To(Equal(fmt.Sprint(i)))
		}
	})

	It("drains: what was sent before is handled, then the connection closes", func() {
		id := a.Private()
		closed := make(chan struct{})
		c := broker.Connect(nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
		feed := c.Mailbox(id)
		a.Publish(id, numbered("m", 100)...)
		a.Sync()
		Eventually(feed.Count).Should(Equal(100))
		Expect(c.Drain()).To(Succeed())
		Eventually(closed).Should(BeClosed())
		Expect(c.LastError()).NotTo(HaveOccurred())
	})

	It("reconnects, with its subscriptions of both kinds", func() {
		subject, id := harness.UniqueName(), a.Private()
		plain, box := a.Watch(subject), a.Mailbox(id)
		Expect(a.ForceReconnect()).To(Succeed())
		Eventually(func() int {
			_ = b.Conn.Publish(subject, []byte("x"))
			return plain.Count()
		}).Should(BeNumerically(">", 0))
		a.Send(id, "back")
		Eventually(box.Payloads).Should(Equal([]string{"back"}))
	})

	It("answers PING at once", func() {
		rtt, err := a.RTT()
		Expect(err).NotTo(HaveOccurred())
		Expect(rtt).To(BeNumerically("<", time.Second))
	})

	It("introduces itself in INFO as a server that knows headers, with its own address", func() {
		raw := broker.Dial()
		Expect(raw.Infos[0]).To(And(ContainSubstring(`"headers":true`), ContainSubstring(`"max_payload":1048576`)))
		Expect(a.ConnectedAddr()).To(Equal(broker.Addr))
	})

	It("does not let a client into subjects that merely begin like $mq9", func() {
		// They are plain subjects: another prefix, or none.
		for _, subject := range []string{"$mq9x.AI.MAILBOX.CREATE", "$mq9", "mq9.AI.MAILBOX.CREATE", "$MQ9.AI.MAILBOX.CREATE"} {
			feed := a.Watch(subject)
			Expect(b.Conn.Publish(subject, []byte("plain"))).To(Succeed())
			Eventually(feed.Payloads).Should(Equal([]string{"plain"}), subject)
		}
	})
})
