package specs_test

import (
	"encoding/json"
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 3.
var _ = Describe("Idempotent creation", func() {
	var (
		agent *harness.Client
		name  string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		name = harness.UniqueName()
	})

	It("succeeds for what exists, says that it is not new, and changes nothing", func() {
		first := agent.Create(fmt.Sprintf(`{"ttl":60,"public":true,"name":%q,"desc":"first"}`, name))
		agent.Send(name+critical, "kept")
		agent.Send(name, "kept too")

		second := broker.Connect().Create(fmt.Sprintf(`{"ttl":999,"public":true,"name":%q,"desc":"second"}`, name))
		Expect(second.IsNew).To(BeFalse())
		first.IsNew = false
		Expect(second).To(Equal(first), "the original ttl, creation and expiry")

		Eventually(agent.Mailbox(name).Payloads).Should(Equal([]string{"kept", "kept too"}))
		watcher := agent.Watch(harness.Discover)
		Eventually(func() []event { return eventsOf(watcher, name) }).
			Should(Equal([]event{{Event: "created", MailID: name, Desc: "first", TTL: 60}}))
	})

	It("confirms a private mailbox by its address", func() {
		first := agent.Create(`{"ttl":60}`)
		first.IsNew = false
		Expect(agent.Create(fmt.Sprintf(`{"mail_id":%q,"ttl":5}`, first.MailID))).To(Equal(first))
	})

	It("never lets a client choose a private address", func() {
		const chosen = `{"mail_id":"0190f3e2-7c1a-4d5b-8e9f-0123456789ab"}`
		Expect(agent.Refused(harness.Create, chosen).Code).To(Equal(404))
		Expect(agent.Refused(harness.Create, chosen).Code).To(Equal(404), "asking did not make it")
	})

	It("makes exactly one mailbox of hundreds of simultaneous CREATEs", func() {
		const clients, perClient = 10, 30
		var (
			racing sync.WaitGroup
			start  = make(chan struct{})
			mu     sync.Mutex
			fresh  int
			seen   = map[string]int{}
		)
		for i := range clients {
			c, inbox := broker.Connect(), fmt.Sprintf("race.%s.%d", name, i)
			replies, err := c.SubscribeSync(inbox)
			Expect(err).NotTo(HaveOccurred())
			c.Sync()
			racing.Go(func() {
				defer GinkgoRecover()
				<-start
				for ttl := range perClient {
					Expect(c.PublishRequest(harness.Create, inbox, []byte(public(name, 60+ttl)))).To(Succeed())
				}
				for range perClient {
					msg, err := replies.NextMsg(requestTimeout)
					Expect(err).NotTo(HaveOccurred())
					var reply harness.Created
					Expect(json.Unmarshal(msg.Data, &reply)).To(Succeed())
					mu.Lock()
					if reply.IsNew {
						fresh++
					}
					seen[fmt.Sprint(reply.MailID, reply.TTL, reply.CreatedAt, reply.ExpiresAt)]++
					mu.Unlock()
				}
			})
		}
		close(start)
		racing.Wait()
		Expect(fresh).To(Equal(1))
		Expect(seen).To(HaveLen(1), "all heard of the same mailbox")
	})

	It("serves the race of many names at once", func() {
		const racers = 4
		var (
			racing sync.WaitGroup
			mu     sync.Mutex
			fresh  = map[string]int{}
		)
		for range racers {
			c := broker.Connect()
			racing.Go(func() {
				defer GinkgoRecover()
				for i := range 50 {
					reply := c.Create(public(fmt.Sprintf("%s.%d", name, i), 60))
					c.Send(reply.MailID, "x")
					if reply.IsNew {
						mu.Lock()
						fresh[reply.MailID]++
						mu.Unlock()
					}
				}
			})
		}
		racing.Wait()
		Expect(fresh).To(HaveLen(50))
		for id, n := range fresh {
			Expect(n).To(Equal(1), id)
			Expect(agent.Stored(id)).To(HaveLen(racers), "no message went to a twin")
		}
	})

	Describe("its request", func() {
		DescribeTable("is refused with 400 and a text that says what is wrong",
			func(body, mentions string) {
				refusal := agent.Refused(harness.Create, body)
				Expect(refusal.Code).To(Equal(400))
				Expect(refusal.Error).To(ContainSubstring(mentions))
			},
			// fault kind 20
			Entry("ttl 0", `{"ttl":0}`, "ttl"),
			Entry("ttl -1", `{"ttl":-1}`, "ttl"),
			Entry("ttl with a fraction", `{"ttl":1.5}`, "ttl"),
			Entry("ttl with a zero fraction", `{"ttl":60.0}`, "ttl"),
			Entry("ttl as a string", `{"ttl":"60"}`, "ttl"),
			Entry("ttl null", `{"ttl":null}`, "ttl"),
			Entry("ttl in exponents", `{"ttl":1e30}`, "ttl"),
			Entry("ttl 2^31", `{"ttl":2147483648}`, "ttl"),
			Entry("ttl 2^53", `{"ttl":9007199254740992}`, "ttl"),
			Entry("ttl 2^63", `{"ttl":9223372036854775808}`, "ttl"),
			Entry("ttl 2^64-1", `{"ttl":18446744073709551615}`, "ttl"),
			Entry("ttl one second over ten years", `{"ttl":315360001}`, "ttl"),
			Entry("ttl a list", `{"ttl":[1]}`, "ttl"),
			Entry("public as a string", `{"public":"yes"}`, "public"),
			Entry("public without a name", `{"public":true}`, "name"),
			Entry("a name without public", `{"name":"x"}`, "public"),
			Entry("a name that is no string", `{"public":true,"name":7}`, "name"),
			Entry("a description over 1 KiB", fmt.Sprintf(`{"desc":"%01025d"}`, 0), "desc"),
			Entry("max_inflight negative", `{"max_inflight":-1}`, "max_inflight"),
			Entry("max_inflight as a string", `{"max_inflight":"1"}`, "max_inflight"),
			Entry("mail_id with public", `{"public":true,"name":"x","mail_id":"0190f3e2-7c1a-4d5b-8e9f-0123456789ab"}`, "mail_id"),
			Entry("mail_id that is no string", `{"mail_id":1}`, "mail_id"),
			Entry("an unknown key", `{"ttl":60,"tll":60}`, "tll"),
			Entry("a key twice", `{"ttl":60,"ttl":70}`, "ttl"),
			Entry("broken JSON", `{"ttl":60`, "JSON"),
			Entry("no JSON at all", `hello`, "JSON"),
			Entry("a JSON list", `[]`, "JSON"),
			Entry("something behind the object", `{} {}`, "JSON"),
		)

		It("may be empty, or an empty object, or hold a description of 1 KiB", func() {
			for _, body := range []string{"", "{}", " { } \n", fmt.Sprintf(`{"desc":"%01024d"}`, 0)} {
				Expect(agent.Create(body).IsNew).To(BeTrue(), body)
			}
		})
	})
})
