package specs_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("Metrics", func() {
	var (
		own   *harness.Broker
		agent *harness.Client
	)
	BeforeEach(func() {
		own = harness.StartBroker(program)
		agent = own.Connect()
	})

	It("count what happens to messages, by priority, and what is stored, by tier", func() {
		id := agent.Private()
		first := agent.Send(id+critical, "12345678")
		agent.Send(id+urgent, "1234")
		last := agent.Send(id, "12")
		reader := agent.Mailbox(id)
		Eventually(reader.Count).Should(Equal(3))
		Eventually(metric(own, "mq9_messages_delivered_total", "priority", "normal")).Should(Equal(1.0))

		m := scrape(own)
		for _, p := range []string{"critical", "urgent", "normal"} {
			Expect(value(m, "mq9_messages_published_total", "priority", p)).To(Equal(1.0))
			Expect(value(m, "mq9_messages_delivered_total", "priority", p)).To(Equal(1.0))
		}
		Expect(value(m, "mq9_stored_bytes", "tier", "durable", "priority", "critical")).To(Equal(8.0))
		Expect(value(m, "mq9_stored_messages", "tier", "memory", "priority", "normal")).To(Equal(1.0))
		Expect(value(m, "mq9_messages_published_bytes_total", "priority", "urgent")).To(Equal(4.0))
		Expect(value(m, "mq9_mailboxes", "kind", "private")).To(Equal(1.0))
		Expect(value(m, "mq9_mailboxes", "kind", "public")).To(Equal(0.0))
		Expect(value(m, "mq9_connections")).To(Equal(1.0))
		Expect(value(m, "mq9_subscriptions", "kind", "mailbox")).To(Equal(1.0))
		Expect(value(m, "mq9_store_latency_seconds")).To(BeNumerically(">=", 1))
		Expect(value(m, "mq9_store_sync_seconds")).To(BeNumerically(">=", 3))
		Expect(value(m, "mq9_store_batch_changes")).To(BeNumerically(">=", 3))
		Expect(value(m, "mq9_delivery_lag_seconds")).To(BeNumerically(">=", 1))
		Expect(value(m, "mq9_rocksdb_memtable_bytes")).To(BeNumerically(">", 0))
		Expect(m).To(And(HaveKey("go_goroutines"), HaveKey("process_resident_memory_bytes")))

		Expect(agent.Delete(id, first)).To(BeTrue())
		Expect(agent.Delete(id, last)).To(BeTrue())
		m = scrape(own)
		Expect(value(m, "mq9_messages_deleted_total", "priority", "critical")).To(Equal(1.0))
		Expect(value(m, "mq9_stored_bytes", "tier", "durable", "priority", "critical")).To(Equal(0.0))
		Expect(value(m, "mq9_stored_messages", "tier", "memory", "priority", "normal")).To(Equal(0.0))
	})

	It("count what a dead worker's group hands out again", func() {
		id := agent.Private()
		dying := own.Connect()
		a := dying.Work(harness.Send+id, "w")
		agent.Send(id, "x")
		agent.Send(id, "y")
		Eventually(a.Count).Should(Equal(2))
		Expect(value(scrape(own), "mq9_messages_redelivered_total", "priority", "normal")).To(Equal(0.0))
		b := own.Connect().Work(harness.Send+id, "w")
		dying.Close()
		Eventually(b.Count).Should(Equal(2))
		Expect(value(scrape(own), "mq9_messages_redelivered_total", "priority", "normal")).To(Equal(2.0))
	})

	It("count what expires with its mailbox", func() {
		id := agent.Create(`{"ttl":1}`).MailID
		agent.Publish(id+urgent, "x", "y")
		agent.Publish(id, "z")
		agent.Sync()
		Eventually(metric(own, "mq9_mailboxes", "kind", "private")).Should(BeZero())
		m := scrape(own)
		Expect(value(m, "mq9_messages_expired_total", "priority", "urgent")).To(Equal(2.0))
		Expect(value(m, "mq9_messages_expired_total", "priority", "normal")).To(Equal(1.0))
		Expect(value(m, "mq9_stored_messages", "tier", "durable", "priority", "urgent")).To(Equal(0.0))
		Expect(value(m, "mq9_mailboxes_expired_total")).To(Equal(1.0))
	})

	It("count refusals by code, of requests, publishes and subscriptions", func() {
		agent.Refused(harness.Send+"no.such.box", "")
		agent.Publish("no.such.box", "x")
		agent.Watch("$mq9.>")
		agent.Sync()
		m := scrape(own)
		Expect(value(m, "mq9_refusals_total", "code", "404")).To(Equal(2.0))
		Expect(value(m, "mq9_refusals_total", "code", "403")).To(Equal(1.0))
		Expect(value(m, "mq9_refusals_total", "code", "429")).To(Equal(0.0))
	})

	It("tell every limit and what counts against it", func() {
		limited := harness.StartBroker(program, "--max-mailboxes", "10", "--max-mailbox-messages", "20", "--max-memory", "1MB",
			"--max-mailbox-memory", "500KB", "--max-connections", "30", "--max-subscriptions", "40")
		agent := limited.Connect()
		id := agent.Private()
		agent.Send(id, strings.Repeat("x", 1000))
		agent.Send(id+urgent, "x")
		m := scrape(limited)
		for name, want := range map[string][2]float64{
			"max-mailboxes":        {10, 1},
			"max-mailbox-messages": {20, 2},
			"max-memory":           {1e6, 1192},
			"max-mailbox-memory":   {5e5, 1192},
			"max-connections":      {30, 1},
			"max-subscriptions":    {40, 1}, // the inbox
		} {
			Expect(value(m, "mq9_limit", "name", name)).To(Equal(want[0]), name)
			Expect(value(m, "mq9_limit_used", "name", name)).To(Equal(want[1]), name)
		}
	})

	It("give no private address away, nor anything that grows with the number of mailboxes", func() {
		var ids []string
		for range 20 {
			id := agent.Private()
			agent.Send(id, "x")
			ids = append(ids, id)
		}
		agent.Work(harness.Send+ids[0], ids[0])
		_, before := ask(own, http.MethodGet, "/metrics", "")
		for _, id := range ids {
			Expect(before).NotTo(ContainSubstring(id))
		}
		for range 20 {
			agent.Private()
		}
		_, after := ask(own, http.MethodGet, "/metrics", "")
		series := func(text string) (n int) {
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "mq9_") {
					n++
				}
			}
			return n
		}
		Expect(series(after)).To(Equal(series(before)))
	})
})
