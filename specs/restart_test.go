package specs_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 8, and what sections 1 to 7 say of restarts.
var _ = Describe("Restart", func() {
	var (
		own   *harness.Broker
		agent *harness.Client // reconnects by itself
		id    string
	)

	BeforeEach(func() {
		own = harness.StartBroker(program)
		agent = own.Connect()
		id = agent.Private()
	})

	restart := func() {
		GinkgoHelper()
		own.Restart()
		Eventually(agent.IsConnected).Should(BeTrue())
		agent.Sync()
	}

	It("keeps critical and urgent messages in order through SIGKILL, and loses normal ones", func() {
		agent.Publish(id, numbered("n", 20)...)
		agent.Publish(id+urgent, numbered("u", 20)...)
		agent.Publish(id+critical, numbered("c", 20)...)
		agent.Sync()
		durable := slices.Concat(numbered("c", 20), numbered("u", 20))
		before := own.Connect().Mailbox(id)
		Eventually(before.Payloads).Should(Equal(slices.Concat(durable, numbered("n", 20))))
		ids := before.IDs()[:40]

		restart()
		after := own.Connect().Mailbox(id)
		Eventually(after.Payloads).Should(Equal(durable))
		Expect(after.IDs()).To(Equal(ids))
		Consistently(after.Count).Should(Equal(40))
	})

	It("keeps private and public mailboxes, with what was fixed at their creation", func() {
		name := harness.UniqueName()
		first := agent.Create(fmt.Sprintf(`{"ttl":500,"public":true,"name":%q,"desc":"described","max_inflight":1}`, name))
		first.IsNew = false
		restart()
		Expect(agent.Create(public(name, 9))).To(Equal(first))
		Expect(agent.Create(fmt.Sprintf(`{"mail_id":%q}`, id)).IsNew).To(BeFalse())
		watcher := agent.Watch(harness.Discover)
		Eventually(watcher.Count).Should(Equal(1))
		Expect(eventsOf(watcher, name)).To(Equal([]event{{"created", name, "described", 500}}))

		agent.Publish(name, "1", "2")
		worker := agent.Work(harness.Send+name+".*", "w")
		Eventually(worker.Count).Should(Equal(1))
		Consistently(worker.Count).Should(Equal(1), "max_inflight is kept too")
	})

	It("remembers a mailbox through kill after kill shortly after its creation was answered", func() { // fault kind 2
		made := []string{id}
		for range 3 {
			made = append(made, agent.Private())
			restart()
			for _, id := range made {
				Expect(agent.Create(fmt.Sprintf(`{"mail_id":%q}`, id)).IsNew).To(BeFalse())
			}
		}
	})

	It("never uses an id twice, not even after everything was deleted before the crash", func() { // fault kind 3
		last := ""
		for range 3 {
			for _, suffix := range []string{critical, urgent, ""} {
				msgID := agent.Send(id+suffix, "x")
				Expect(msgID > last).To(BeTrue(), "%s after %s", msgID, last)
				last = msgID
				Expect(agent.Delete(id, msgID)).To(BeTrue())
			}
			restart()
			Expect(agent.Stored(id)).To(BeEmpty())
		}
	})

	It("leaves deleted what was deleted", func() {
		kept, gone := agent.Send(id+critical, "kept"), agent.Send(id+critical, "gone")
		Expect(agent.Delete(id, gone)).To(BeTrue())
		restart()
		Expect(agent.Stored(id)).To(Equal([]string{kept}))
		Expect(agent.Delete(id, gone)).To(BeFalse())
	})

	It("leaves deleted what a flush covered, however it was deleted", func() {
		agent.Publish(id+urgent, numbered("m", 50)...)
		feed := agent.Mailbox(id)
		Eventually(feed.Count).Should(Equal(50))
		for _, m := range feed.Messages() {
			Expect(m.Respond(nil)).To(Succeed())
		}
		agent.Sync()
		restart()
		Expect(agent.Stored(id)).To(BeEmpty())
	})

	It("does not bring back a mailbox that expired meanwhile, and counts the TTL from the creation", func() { // fault kind 4
		short, name := agent.Create(`{"ttl":1}`), harness.UniqueName()
		agent.Create(public(name, 1))
		agent.Send(name+urgent, "old")
		long := agent.Create(`{"ttl":4}`)
		own.Kill()
		Eventually(func() bool { return time.Now().After(short.ExpiresAt.Add(time.Second)) }).Should(BeTrue())
		own.Start()
		Eventually(agent.IsConnected).Should(BeTrue())

		Expect(agent.Refused(harness.ListOf+short.MailID, "").Code).To(Equal(404))
		Expect(listed(agent)).NotTo(ContainElement(name))
		Expect(agent.Create(public(name, 60)).IsNew).To(BeTrue())
		Expect(agent.Stored(name)).To(BeEmpty())

		if time.Now().Before(long.ExpiresAt.Add(-500 * time.Millisecond)) {
			Expect(agent.Stored(long.MailID)).To(BeEmpty())
		}
		Eventually(func() int { return agent.Refused(harness.ListOf+long.MailID, "").Code }).Should(Equal(404))
		Expect(time.Now()).To(BeTemporally("~", long.ExpiresAt, 1500*time.Millisecond))
	})

	It("gives payloads and headers back byte for byte", func() { // fault kind 31
		payloads := []string{"", allBytes(), "\r\nMSG x 1 1\r\n", "\xff\xfe\x80"}
		agent.Publish(id+critical, payloads...)
		Expect(agent.PublishMsg(&nats.Msg{
			Subject: harness.Send + id + urgent, Data: []byte("body"), Header: nats.Header{"Trace": {"1", "2"}},
		})).To(Succeed())
		agent.Sync()
		restart()
		feed := agent.Mailbox(id)
		Eventually(feed.Payloads).Should(Equal(append(payloads, "body")))
		Expect(feed.Messages()[4].Header.Values("Trace")).To(Equal([]string{"1", "2"}))
	})

	It("finds after SIGKILL everything that a flush covered", func() {
		want := numbered("m", 500)
		agent.Publish(id+urgent, want...)
		agent.Sync()
		restart()
		Eventually(agent.Mailbox(id).Payloads).Should(Equal(want))
	})

	It("lets subscriptions go on where clients reconnect: they replay", func() {
		feed := agent.Mailbox(id)
		agent.Send(id+critical, "durable")
		Eventually(feed.Payloads).Should(Equal([]string{"durable"}))
		restart()
		Eventually(feed.Payloads).Should(Equal([]string{"durable", "durable"}))
		agent.Send(id, "live")
		Eventually(feed.Payloads).Should(Equal([]string{"durable", "durable", "live"}))
	})

	It("killed at random while requests are answered, has every answered message, in order, exactly once", func() { // fault kind 1
		const senders = 4
		for range 3 {
			var (
				sending sync.WaitGroup
				mu      sync.Mutex
				acked   []string // guarded by mu
				enough  = make(chan struct{})
				target  = 50 + rand.IntN(400)
			)
			for s := range senders {
				c, to := own.Connect(nats.NoReconnect()), id+[]string{critical, urgent}[s%2]
				sending.Go(func() {
					for {
						msg, err := c.Request(harness.Send+to, []byte("x"), requestTimeout)
						if err != nil {
							return // the broker was killed
						}
						var reply struct {
							MsgID string `json:"msg_id"`
						}
						if json.Unmarshal(msg.Data, &reply) != nil || reply.MsgID == "" {
							return
						}
						mu.Lock()
						if acked = append(acked, reply.MsgID); len(acked) == target {
							close(enough)
						}
						mu.Unlock()
					}
				})
			}
			Eventually(enough).WithTimeout(30 * time.Second).Should(BeClosed())
			own.Kill()
			sending.Wait()
			restart()

			stored := agent.Stored(id)
			Expect(stored).To(ContainElements(acked), "every acknowledged message is there")
			seen := map[string]bool{}
			for _, msgID := range stored {
				Expect(seen[msgID]).To(BeFalse(), "%s is there twice", msgID)
				seen[msgID] = true
			}
			feed := agent.Mailbox(id)
			Eventually(feed.IDs).Should(Equal(stored), "LIST and replay agree")
			Expect(feed.Unsubscribe()).To(Succeed())
		}
	})

	It("hands what a queue group had in hand to the group that forms again", func() {
		agent.Publish(id+urgent, numbered("t", 5)...)
		worker := agent.Work(harness.Send+id+".*", "w")
		Eventually(worker.Count).Should(Equal(5))
		Expect(agent.Delete(id, worker.IDs()[0])).To(BeTrue())
		restart()
		Eventually(worker.Payloads).Should(Equal(append(numbered("t", 5), numbered("t", 5)[1:]...)))
	})
})

var _ = Describe("SIGTERM", func() {
	It("announces lame duck, closes every connection and exits with 0 within 5 s", func() {
		own := harness.StartBroker(program)
		warned := make(chan struct{})
		agent := own.Connect(nats.NoReconnect(), nats.LameDuckModeHandler(func(*nats.Conn) { close(warned) }))
		raw := own.DialConnected()
		id := agent.Private()
		agent.Mailbox(id)
		for i := range 200 {
			agent.Publish(id+critical, fmt.Sprint(i))
		}
		agent.Sync()
		own.Stop()
		Expect(raw.Until(harness.EOF)).To(Equal([]harness.Frame{{Op: harness.EOF}}))
		Expect(raw.Infos[len(raw.Infos)-1]).To(ContainSubstring(`"ldm":true`))
		Eventually(agent.IsClosed).Should(BeTrue())
		Expect(warned).To(BeClosed())

		own.Start()
		Expect(own.Connect().Stored(id)).To(HaveLen(200))
	})

	It("finishes within its time even when a reader stands still", func() {
		own := harness.StartBroker(program)
		agent := own.Connect(nats.NoReconnect())
		id := agent.Private()
		stalled := own.DialConnected()
		Expect(stalled.SetReadBuffer(64 << 10)).To(Succeed())
		stalled.Say("SUB " + harness.Send + id + " 1\r\n")
		payload := string(make([]byte, 100_000))
		for range 300 {
			agent.Publish(id, payload)
		}
		agent.Sync()
		own.Stop()
	})

	It("keeps every message that was acknowledged while it arrived", func() {
		own := harness.StartBroker(program)
		agent := own.Connect(nats.NoReconnect())
		id := agent.Private()
		var acked []string
		done, running := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				msg, err := agent.Request(harness.Send+id+critical, []byte("x"), 2*time.Second)
				if err != nil {
					return
				}
				var reply struct {
					MsgID string `json:"msg_id"`
				}
				if json.Unmarshal(msg.Data, &reply) != nil || reply.MsgID == "" {
					return // refused: shutting down
				}
				if acked = append(acked, reply.MsgID); len(acked) == 100 {
					close(running)
				}
			}
		}()
		Eventually(running).Should(BeClosed())
		own.Stop()
		Eventually(done).Should(BeClosed())
		own.Start()
		Expect(own.Connect().Stored(id)).To(ContainElements(acked))
	})
})
