package specs_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol sections 2 and 5.
var _ = Describe("Priorities", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	// mixed stores two messages of each priority, the least pressing first.
	mixed := func() {
		for _, to := range []string{id, id + urgent, id + critical} {
			name := strings.TrimPrefix(strings.TrimPrefix(to, id), ".")
			agent.Send(to, name+"1")
			agent.Send(to, name+"2")
		}
	}

	It("delivers critical before urgent before normal, whatever order they were sent in", func() {
		mixed()
		Eventually(agent.Mailbox(id).Payloads).Should(Equal([]string{"critical1", "critical2", "urgent1", "urgent2", "1", "2"}))
	})

	DescribeTable("delivers one priority first in, first out",
		func(suffix string) {
			want := numbered("m", 300)
			agent.Publish(id+suffix, want...)
			Eventually(agent.Mailbox(id).Payloads).Should(Equal(want))
		},
		Entry("critical", critical), Entry("urgent", urgent), Entry("normal", ""))

	It("takes a subject without suffix for normal, and .normal for the same", func() {
		agent.Send(id, "bare")
		agent.Send(id+".normal", "named")
		feed := agent.Mailbox(id)
		Eventually(feed.Payloads).Should(Equal([]string{"bare", "named"}))
		for _, m := range feed.Messages() {
			Expect(m.Subject).To(Equal(harness.Send+id), "the canonical subject of a normal message is the bare one")
		}
		for _, m := range agent.List(id, "").Messages {
			Expect(m.Priority).To(Equal("normal"))
		}
	})

	DescribeTable("lets a subscriber ask for one priority alone, stored and live",
		func(suffix string, want ...string) {
			mixed()
			feed := agent.Watch(harness.Send + id + suffix)
			Eventually(feed.Payloads).Should(Equal(want))
			mixed()
			Eventually(feed.Payloads).Should(Equal(append(want, want...)))
			Consistently(feed.Count).Should(Equal(2 * len(want)))
		},
		Entry("critical", critical, "critical1", "critical2"),
		Entry("urgent", urgent, "urgent1", "urgent2"),
		Entry("normal", ".normal", "1", "2"),
		Entry("bare: normal", "", "1", "2"),
	)

	It("names the priority in the subject of each delivery, whatever pattern was subscribed", func() {
		mixed()
		feed := agent.Mailbox(id)
		Eventually(feed.Count).Should(Equal(6))
		subjects := []string{}
		for _, m := range feed.Messages() {
			subjects = append(subjects, strings.TrimPrefix(m.Subject, harness.Send+id))
		}
		Expect(subjects).To(Equal([]string{critical, critical, urgent, urgent, "", ""}))
	})

	It("gives each of several overlapping subscriptions of one connection its own set, once", func() { // fault kind 13
		mixed()
		all, one := agent.Mailbox(id), agent.Watch(harness.Send+id+critical)
		bare, worker := agent.Watch(harness.Send+id), agent.Work(harness.Send+id+".*", "w")
		twin := agent.Mailbox(id)
		mixed()
		for _, feed := range []*harness.Feed{all, worker, twin} {
			Eventually(feed.Payloads).Should(ConsistOf(
				"critical1", "critical2", "urgent1", "urgent2", "1", "2", "critical1", "critical2", "urgent1", "urgent2", "1", "2"))
		}
		Eventually(one.Payloads).Should(Equal([]string{"critical1", "critical2", "critical1", "critical2"}))
		Eventually(bare.Payloads).Should(Equal([]string{"1", "2", "1", "2"}))
		Consistently(func() int {
			return all.Count() + worker.Count() + twin.Count() + one.Count() + bare.Count()
		}).Should(Equal(3*12 + 2*4))
	})

	It("gives every message an id that is larger than all before it, across priorities", func() {
		last := ""
		for i := range 60 {
			msgID := agent.Send(id+[]string{"", urgent, critical}[i%3], "x")
			Expect(msgID > last).To(BeTrue(), "%s after %s", msgID, last)
			Expect(strings.ContainsAny(msgID, ". \t*>")).To(BeFalse(), "an id is one token")
			last = msgID
		}
	})

	It("never lets a message overtake one that was accepted earlier at a higher priority and is still being synced", func() {
		feed := agent.Mailbox(id)
		for range 100 {
			agent.Publish(id+critical, "first")
			agent.Publish(id, "second")
		}
		Eventually(feed.Count).Should(Equal(200))
		ahead := 0
		for _, p := range feed.Payloads() {
			if p == "first" {
				ahead++
				continue
			}
			ahead--
			Expect(ahead).To(BeNumerically(">=", 0), "a normal message came before the critical one that was sent before it")
		}
	})

	It("sends a late critical message ahead of the backlog of a reader that stands still", func() {
		const backlog = 30_000
		payload := strings.Repeat("n", 1000)
		for range backlog {
			agent.Publish(id, payload)
		}
		agent.Sync()
		slow := broker.DialConnected()
		Expect(slow.SetReadBuffer(64 << 10)).To(Succeed())
		slow.Say("SUB " + harness.Send + id + ".* 1\r\n")
		Expect(slow.Next().Payload).To(Equal(payload))
		agent.Send(id+critical, "abort")

		before := 0
		for slow.Next().Payload != "abort" {
			before++
		}
		// The kernel's socket buffers are full of what was sent before; a few megabytes of them is all that may come first.
		Expect(before).To(BeNumerically("<", backlog/2))
		for range backlog - 1 - before {
			Expect(slow.Next().Payload).To(Equal(payload))
		}
		Expect(slow.Silent(200 * time.Millisecond)).To(BeTrue())
	})
})
