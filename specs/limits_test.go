package specs_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Limits (protocol section 8): at one, new things are refused with code 429 and its name; what is stored stays.
var _ = Describe("At a limit", func() {
	It("refuses mailboxes until one expires", func() {
		own := harness.StartBroker(program, "--max-mailboxes", "2")
		agent := own.Connect()
		agent.Create(`{"ttl":1}`)
		kept := agent.Private()
		refusal := agent.Refused(harness.Create, "")
		Expect(refusal.Code).To(Equal(429))
		Expect(refusal.Error).To(ContainSubstring("max-mailboxes"))
		agent.Send(kept, "still here")
		Eventually(func() bool {
			var made harness.Created
			agent.Ask(harness.Create, `{}`, &made)
			return made.IsNew
		}).Should(BeTrue())
	})

	It("refuses normal messages when the memory tier is full, and keeps taking durable ones", func() {
		own := harness.StartBroker(program, "--max-memory", "100KB")
		agent := own.Connect()
		id := agent.Private()
		payload := strings.Repeat("x", 30_000)
		agent.Send(id, payload)
		agent.Send(id, payload)
		last := agent.Send(id, payload)
		refusal := agent.Refused(harness.Send+id, payload)
		Expect(refusal.Code).To(Equal(429))
		Expect(refusal.Error).To(ContainSubstring("max-memory"))
		agent.Send(id+critical, payload)
		agent.Send(id+urgent, payload)
		Expect(agent.Stored(id)).To(HaveLen(5), "nothing was evicted")

		Expect(agent.Delete(id, last)).To(BeTrue())
		agent.Send(id, payload)
	})

	It("tells a publisher without reply as an error that keeps it connected", func() {
		own := harness.StartBroker(program, "--max-mailbox-messages", "1")
		agent := own.Connect()
		id := agent.Private()
		agent.Publish(id, "one", "two")
		Eventually(agent.Errors).Should(ConsistOf(And(ContainSubstring("429"), ContainSubstring("max-mailbox-messages"))))
		Expect(agent.Stored(id)).To(HaveLen(1))
		Expect(agent.IsConnected()).To(BeTrue())
	})

	It("refuses subscriptions beyond those of one connection", func() {
		own := harness.StartBroker(program, "--max-subscriptions", "3")
		agent := own.Connect()
		id := agent.Private() // its inbox is one subscription
		for range 2 {
			_, err := agent.SubscribeSync(harness.Send + id)
			Expect(err).NotTo(HaveOccurred())
		}
		agent.Sync()
		Expect(agent.Errors()).To(BeEmpty())
		sub, err := agent.SubscribeSync(harness.Send + id)
		Expect(err).NotTo(HaveOccurred())
		Eventually(agent.Errors).Should(ConsistOf(And(ContainSubstring("429"), ContainSubstring("max-subscriptions"))))
		Expect(sub.Unsubscribe()).To(Succeed())
		Expect(own.Connect().Stored(id)).To(BeEmpty(), "another connection has its own")
	})

	It("refuses connections beyond the limit, with the words of nats-server", func() {
		own := harness.StartBroker(program, "--max-connections", "1")
		agent := own.Connect()
		Expect(own.Dial().Until(harness.EOF)).To(ContainElement(harness.Frame{Op: "-ERR", Args: "'maximum connections exceeded'"}))
		Expect(agent.IsConnected()).To(BeTrue())
	})
})
