package specs_test

import (
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 4.
var _ = Describe("Life and TTL", func() {
	var agent *harness.Client

	BeforeEach(func() { agent = broker.Connect() })

	// outlive waits until a mailbox is past its time, by the wall clock that created it.
	outlive := func(m harness.Created) {
		GinkgoHelper()
		Eventually(func() bool { return time.Now().After(m.ExpiresAt) }).Should(BeTrue())
	}

	It("counts the TTL from the creation", func() {
		before := time.Now()
		m := agent.Create(`{"ttl":3600}`)
		Expect(m.TTL).To(Equal(int64(3600)))
		Expect(m.CreatedAt).To(BeTemporally("~", before, 5*time.Second))
		Expect(m.ExpiresAt).To(BeTemporally("==", m.CreatedAt.Add(time.Hour)))
	})

	It("can promise ten years", func() {
		m := agent.Create(`{"ttl":315360000}`)
		Expect(m.ExpiresAt).To(BeTemporally("==", m.CreatedAt.Add(315360000*time.Second)))
		agent.Send(m.MailID, "for the grandchildren")
		Expect(agent.Stored(m.MailID)).To(HaveLen(1))
	})

	DescribeTable("answers 404 to every operation on a mailbox past its time",
		func(body string) {
			m := agent.Create(body)
			msgID := agent.Send(m.MailID+critical, "x")
			agent.Send(m.MailID, "x")
			outlive(m)
			for _, subject := range []string{
				harness.Send + m.MailID, harness.Send + m.MailID + critical, harness.ListOf + m.MailID,
				harness.Delete + m.MailID + "." + msgID,
			} {
				refusal := agent.Refused(subject, "")
				Expect(refusal.Code).To(Equal(404), subject)
				Expect(refusal.Error).NotTo(BeEmpty())
			}
			_, err := agent.SubscribeSync(harness.Send + m.MailID)
			Expect(err).NotTo(HaveOccurred())
			Eventually(agent.Errors).Should(ContainElement(ContainSubstring("404")))
		},
		Entry("private", `{"ttl":1}`),
		Entry("public", public("life.all.operations", 1)),
	)

	It("confirms a private mailbox while it lives and not after", func() {
		m := agent.Create(`{"ttl":1}`)
		confirm := fmt.Sprintf(`{"mail_id":%q}`, m.MailID)
		again := agent.Create(confirm)
		Expect(again.IsNew).To(BeFalse())
		Expect(again.ExpiresAt).To(Equal(m.ExpiresAt))
		outlive(m)
		Expect(agent.Refused(harness.Create, confirm).Code).To(Equal(404))
	})

	It("never ends a life early, and no operation succeeds after its end", func() { // fault kind 19
		m := agent.Create(`{"ttl":1}`)
		end := m.ExpiresAt.Add(300 * time.Millisecond)
		for time.Now().Before(end) {
			asked := time.Now()
			msg, err := agent.Request(harness.ListOf+m.MailID, nil, requestTimeout)
			Expect(err).NotTo(HaveOccurred())
			answered := time.Now()
			var r harness.Refusal
			Expect(json.Unmarshal(msg.Data, &r)).To(Succeed())
			if asked.After(m.ExpiresAt) {
				Expect(r.Code).To(Equal(404), "%v after the end", asked.Sub(m.ExpiresAt))
			}
			if answered.Before(m.ExpiresAt) {
				Expect(r.Code).To(BeZero(), "%v before the end", m.ExpiresAt.Sub(answered))
			}
		}
	})

	It("takes a public mailbox off the listing within a second of its end, and never before", func() {
		name := harness.UniqueName()
		watcher := broker.Connect().Watch(harness.Discover)
		m := agent.Create(public(name, 1))
		Eventually(func() int { return len(eventsOf(watcher, name)) }).Should(Equal(2))
		late := time.Since(m.ExpiresAt)
		Expect(late).To(BeNumerically(">=", 0))
		Expect(late).To(BeNumerically("<", 1500*time.Millisecond), "one second, and a little for a loaded machine")
		Expect(eventsOf(watcher, name)[1]).To(Equal(event{Event: "expired", MailID: name}))
		Expect(listed(agent)).NotTo(ContainElement(name))
	})

	It("lets the name be created afresh: empty, with a new TTL, its ids going on from the old ones", func() {
		name := harness.UniqueName()
		old := agent.Create(public(name, 1))
		oldID := agent.Send(name+urgent, "old")
		agent.Send(name, "old")
		outlive(old)
		fresh := agent.Create(public(name, 77))
		Expect(fresh.IsNew).To(BeTrue())
		Expect(fresh.TTL).To(Equal(int64(77)))
		Expect(agent.Stored(name)).To(BeEmpty())
		Expect(agent.Send(name+urgent, "new") > oldID).To(BeTrue())
		Eventually(agent.Mailbox(name).Payloads).Should(Equal([]string{"new"}))
	})

	It("silences a live subscription at the end, without an error, and serves it again when the name lives again", func() { // fault kind 22
		name := harness.UniqueName()
		old := agent.Create(public(name, 1))
		independent, worker := agent.Mailbox(name), agent.Work(harness.Send+name+".*", "w")
		agent.Send(name, "old")
		Eventually(independent.Count).Should(Equal(1))
		Eventually(worker.Count).Should(Equal(1))
		outlive(old)
		Expect(agent.Refused(harness.Send+name, "late").Code).To(Equal(404))
		Expect(agent.Errors()).To(BeEmpty())

		other := broker.Connect()
		Expect(other.Create(public(name, 60)).IsNew).To(BeTrue())
		other.Send(name, "new")
		Eventually(independent.Payloads).Should(Equal([]string{"old", "new"}))
		Eventually(worker.Payloads).Should(Equal([]string{"old", "new"}))
		Consistently(independent.Count).Should(Equal(2))
		Expect(agent.Errors()).To(BeEmpty())
	})

	It("never delivers what has expired to a reader that comes to it late", func() { // fault kind 12
		m := agent.Create(`{"ttl":4}`)
		payload := string(make([]byte, 100_000))
		for range 100 {
			agent.Publish(m.MailID, payload)
		}
		agent.Sync()
		slow := broker.DialConnected()
		Expect(slow.SetReadBuffer(64 << 10)).To(Succeed())
		slow.Say("SUB " + harness.Send + m.MailID + " 1\r\n")
		outlive(m)
		Expect(agent.Refused(harness.ListOf+m.MailID, "").Code).To(Equal(404))
		got := 0
		for _, f := range slow.Sync() {
			Expect(f.Op).To(Equal("HMSG"))
			got++
		}
		Expect(got).To(BeNumerically("<", 100), "what was not yet on its way at the end is not sent")
	})
})
