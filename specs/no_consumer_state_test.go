package specs_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 6, subscriptions.
var _ = Describe("No consumer state", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
		agent.Publish(id, numbered("m", 10)...)
		agent.Sync()
	})

	It("replays from the oldest to everyone who subscribes, as often as they do", func() {
		for range 3 {
			Eventually(broker.Connect().Mailbox(id).Payloads).Should(Equal(numbered("m", 10)))
		}
	})

	It("replays again after UNSUB and SUB on the same connection", func() {
		first := agent.Mailbox(id)
		Eventually(first.Count).Should(Equal(10))
		Expect(first.Unsubscribe()).To(Succeed())
		Eventually(agent.Mailbox(id).Payloads).Should(Equal(numbered("m", 10)))
		Expect(first.Count()).To(Equal(10))
	})

	It("gives two independent subscriptions everything each", func() {
		a, b := agent.Mailbox(id), broker.Connect().Mailbox(id)
		agent.Send(id, "live")
		want := append(numbered("m", 10), "live")
		Eventually(a.Payloads).Should(Equal(want))
		Eventually(b.Payloads).Should(Equal(want))
	})

	It("ends a subscription at UNSUB: nothing comes after the PONG of the next PING", func() {
		raw := broker.DialConnected()
		raw.Say("SUB " + harness.Send + id + ".* 1\r\n")
		for range 10 {
			Expect(raw.Next().Op).To(Equal("HMSG"))
		}
		raw.Say("UNSUB 1\r\n")
		Expect(raw.Sync()).To(BeEmpty())
		agent.Send(id, "late")
		Expect(raw.Sync()).To(BeEmpty())
		Expect(raw.Silent(100 * time.Millisecond)).To(BeTrue())
	})

	It("keeps a subscription through a reconnect of its client, which replays", func() {
		feed := agent.Mailbox(id)
		Eventually(feed.Count).Should(Equal(10))
		Expect(agent.ForceReconnect()).To(Succeed())
		Eventually(feed.Payloads).Should(Equal(append(numbered("m", 10), numbered("m", 10)...)))
	})

	DescribeTable("counts UNSUB max from the SUB, over stored and live messages together", // fault kind 29
		func(limit, live int) {
			raw := broker.DialConnected()
			raw.Say(fmt.Sprintf("SUB %s%s.* 1\r\nUNSUB 1 %d\r\n", harness.Send, id, limit))
			want := append(numbered("m", 10), numbered("live", live)...)[:limit]
			for _, payload := range want[:min(10, limit)] {
				Expect(raw.Next().Payload).To(Equal(payload))
			}
			agent.Publish(id, numbered("live", live)...)
			agent.Sync()
			for _, payload := range want[min(10, limit):] {
				Expect(raw.Next().Payload).To(Equal(payload))
			}
			Expect(raw.Silent(150 * time.Millisecond)).To(BeTrue())
		},
		Entry("within the stored: exactly that many", 3, 5),
		Entry("one", 1, 5),
		Entry("exactly the stored", 10, 5),
		Entry("beyond the stored: the rest is live", 12, 5),
	)

	It("ends a subscription at once when its max is already passed", func() {
		raw := broker.DialConnected()
		raw.Say("SUB " + harness.Send + id + ".* 1\r\n")
		for range 10 {
			Expect(raw.Next().Op).To(Equal("HMSG"))
		}
		raw.Say("UNSUB 1 4\r\n")
		Expect(raw.Sync()).To(BeEmpty())
		agent.Send(id, "late")
		Expect(raw.Sync()).To(BeEmpty())
		Expect(raw.Silent(100 * time.Millisecond)).To(BeTrue())
	})

	It("lets a later UNSUB override an UNSUB max", func() {
		raw := broker.DialConnected()
		raw.Say("SUB " + harness.Send + id + ".* 1\r\nUNSUB 1 100\r\n")
		for range 10 {
			Expect(raw.Next().Op).To(Equal("HMSG"))
		}
		raw.Say("UNSUB 1\r\n")
		Expect(raw.Sync()).To(BeEmpty())
		agent.Send(id, "late")
		Expect(raw.Silent(100 * time.Millisecond)).To(BeTrue())
	})

	It("works with the automatic unsubscribe of a client library", func() {
		feed := agent.Mailbox(id)
		Expect(feed.AutoUnsubscribe(12)).To(Succeed())
		agent.Publish(id, numbered("live", 5)...)
		agent.Sync()
		Eventually(feed.Payloads).Should(Equal(append(numbered("m", 10), "live0", "live1")))
		Consistently(feed.Count).Should(Equal(12))
	})

	It("lets a reader that stands still cost nobody anything", func() {
		payload := strings.Repeat("p", 10_000)
		stalled := broker.DialConnected()
		Expect(stalled.SetReadBuffer(64 << 10)).To(Succeed())
		stalled.Say("SUB " + harness.Send + id + ".* 1\r\n")
		brisk := broker.Connect().Mailbox(id)
		for range 1500 {
			agent.Publish(id, payload)
		}
		agent.Sync()
		Eventually(brisk.Count).Should(Equal(1510))
		for range 1510 {
			Expect(stalled.Next().Op).To(Equal("HMSG"), "it was not dropped, and lost nothing")
		}
	})

	It("does not send to a reader that stands still what was deleted before its turn", func() { // fault kind 12
		payload := strings.Repeat("p", 10_000)
		stalled := broker.DialConnected()
		Expect(stalled.SetReadBuffer(64 << 10)).To(Succeed())
		stalled.Say("SUB " + harness.Send + id + ".* 1\r\n")
		for range 1500 {
			agent.Publish(id, payload)
		}
		last := agent.Send(id, "secret")
		Expect(agent.Delete(id, last)).To(BeTrue())
		agent.Send(id, "end")
		for f := stalled.Next(); f.Payload != "end"; f = stalled.Next() {
			Expect(f.Payload).NotTo(Equal("secret"))
		}
	})
})
