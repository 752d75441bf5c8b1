package specs_test

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 7.
var _ = Describe("Discovery", func() {
	var (
		agent *harness.Client
		name  string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		name = harness.UniqueName()
	})

	eventsFor := func(feed *harness.Feed, name string) func() []event {
		return func() []event { return eventsOf(feed, name) }
	}

	It("tells a subscriber of every public mailbox alive, then of each that is made or expires", func() {
		agent.Create(fmt.Sprintf(`{"ttl":60,"public":true,"name":"%s.old","desc":"was there"}`, name))
		watcher := broker.Connect().Watch(harness.Discover)
		Eventually(eventsFor(watcher, name+".old")).Should(Equal([]event{{"created", name + ".old", "was there", 60}}))
		agent.Create(fmt.Sprintf(`{"ttl":1,"public":true,"name":"%s.new","desc":"came"}`, name))
		Eventually(eventsFor(watcher, name+".new")).Should(Equal([]event{
			{"created", name + ".new", "came", 1}, {Event: "expired", MailID: name + ".new"},
		}))
	})

	It("sends events with exactly the documented keys", func() {
		watcher := agent.Watch(harness.Discover)
		m := agent.Create(public(name, 1))
		Eventually(eventsFor(watcher, name)).Should(HaveLen(2))
		var raw []map[string]any
		for _, payload := range watcher.Payloads() {
			var e map[string]any
			Expect(json.Unmarshal([]byte(payload), &e)).To(Succeed())
			if e["mail_id"] == name {
				raw = append(raw, e)
			}
		}
		Expect(raw[0]).To(HaveLen(6))
		Expect(raw[0]).To(And(HaveKeyWithValue("event", "created"), HaveKeyWithValue("desc", ""), HaveKeyWithValue("ttl", 1.0)))
		Expect(raw[0]).To(HaveKeyWithValue("created_at", m.CreatedAt.Format("2006-01-02T15:04:05.999999999Z07:00")))
		Expect(raw[0]).To(HaveKeyWithValue("expires_at", m.ExpiresAt.Format("2006-01-02T15:04:05.999999999Z07:00")))
		Expect(raw[1]).To(Equal(map[string]any{"event": "expired", "mail_id": name}))
	})

	It("has no gap and no repeat where the listing ends and the events begin", func() {
		const rounds = 60
		var making sync.WaitGroup
		making.Go(func() {
			defer GinkgoRecover()
			for i := range rounds {
				agent.Create(public(fmt.Sprintf("%s.%d", name, i), 60))
			}
		})
		feeds := []*harness.Feed{}
		for range 6 {
			feeds = append(feeds, broker.Connect().Watch(harness.Discover))
		}
		making.Wait()
		for _, feed := range feeds {
			for i := range rounds {
				Eventually(eventsFor(feed, fmt.Sprintf("%s.%d", name, i))).Should(HaveLen(1))
			}
		}
	})

	It("answers a request with pages of what is alive", func() {
		for i := range 5 {
			agent.Create(public(fmt.Sprintf("%s.%d", name, i), 60))
		}
		var page struct {
			Mailboxes []event `json:"mailboxes"`
			More      bool    `json:"more"`
		}
		after := name + "."
		for i := range 5 {
			agent.Ask(harness.Discover, fmt.Sprintf(`{"limit":1,"after":%q}`, after), &page)
			Expect(page.Mailboxes).To(HaveLen(1))
			after = page.Mailboxes[0].MailID
			Expect(after).To(Equal(fmt.Sprintf("%s.%d", name, i)))
		}
		Expect(listed(agent)).To(ContainElements(name+".0", name+".4"))
	})

	It("never shows a private mailbox, neither its life nor its end", func() {
		watcher := broker.Connect().Watch(harness.Discover)
		id := agent.Create(`{"ttl":1,"desc":"hidden"}`).MailID
		agent.Create(public(name, 2)) // expires after the private one
		Eventually(eventsFor(watcher, name)).Should(HaveLen(2))
		Expect(eventsOf(watcher, id)).To(BeEmpty())
		Expect(listed(agent)).NotTo(ContainElement(id))
	})

	It("cannot be fed by a client", func() {
		refusal := agent.Refused(harness.Discover, `{"event":"created","mail_id":"evil"}`)
		Expect(refusal.Code).To(Or(Equal(400), Equal(403)))
		Expect(agent.Conn.Publish(harness.Discover, []byte(`{"event":"created","mail_id":"evil"}`))).To(Succeed())
		agent.Sync()
		Eventually(agent.Errors).Should(ConsistOf(ContainSubstring("403")))
		Expect(agent.LastError()).To(MatchError(nats.ErrPermissionViolation))
	})

	It("has no queue groups: events are for everyone", func() {
		_, err := agent.QueueSubscribeSync(harness.Discover, "q")
		Expect(err).NotTo(HaveOccurred())
		agent.Sync()
		Eventually(agent.Errors).Should(ConsistOf(ContainSubstring("400")))
	})

	It("stops at UNSUB", func() {
		watcher := agent.Watch(harness.Discover)
		Expect(watcher.Unsubscribe()).To(Succeed())
		agent.Sync()
		agent.Create(public(name, 60))
		Consistently(eventsFor(watcher, name)).Should(BeEmpty())
	})
})
