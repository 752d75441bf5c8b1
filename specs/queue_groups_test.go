package specs_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 6, queue groups.
var _ = Describe("Queue groups", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	// join adds a worker on a connection of its own.
	join := func(pattern string) (*harness.Client, *harness.Feed) {
		GinkgoHelper()
		c := broker.Connect()
		return c, c.Work(harness.Send+id+pattern, "workers")
	}

	// together is what several workers have received, sorted.
	together := func(feeds ...*harness.Feed) func() []string {
		return func() []string {
			var all []string
			for _, f := range feeds {
				all = append(all, f.Payloads()...)
			}
			slices.Sort(all)
			return all
		}
	}

	sorted := func(s []string) []string {
		s = slices.Clone(s)
		slices.Sort(s)
		return s
	}

	It("gives each message to exactly one member, evenly", func() {
		_, a := join(".*")
		_, b := join(".*")
		tasks := numbered("t", 200)
		agent.Publish(id, tasks...)
		Eventually(together(a, b)).Should(Equal(sorted(tasks)))
		Consistently(together(a, b)).Should(HaveLen(200))
		Expect(a.Count()).To(BeNumerically("~", 100, 5))
	})

	It("gives the next message to the member with the fewest undeleted ones", func() {
		ca, a := join(".*")
		_, b := join(".*")
		for range 10 {
			agent.Send(id, "x")
		}
		Eventually(func() int { return a.Count() + b.Count() }).Should(Equal(10))
		held := b.Count()
		for _, m := range a.Messages() {
			Expect(ca.Delete(id, harness.MsgID(m))).To(BeTrue())
		}
		for range held {
			agent.Send(id, "y")
		}
		Eventually(a.Payloads).Should(HaveLen(10-held+held), "the one who has finished gets them all")
		Expect(b.Count()).To(Equal(held))
	})

	It("is one group whatever priorities its members ask for, and gives nobody what does not match", func() {
		_, all := join(".*")
		_, firefighter := join(critical)
		agent.Publish(id, numbered("n", 20)...)
		agent.Publish(id+critical, numbered("c", 20)...)
		Eventually(together(all, firefighter)).Should(HaveLen(40))
		Consistently(together(all, firefighter)).Should(HaveLen(40))
		for _, p := range firefighter.Payloads() {
			Expect(p).To(HavePrefix("c"))
		}
		Expect(firefighter.Count()).To(BeNumerically(">", 0))
	})

	It("needs no set-up and takes any name", func() {
		for i, queue := range []string{"w", "工作者", "a-very.dotted.name", "$q"} {
			other := agent.Private()
			agent.Send(other, "x")
			Eventually(broker.Connect().Work(harness.Send+other+".*", queue).Count).Should(Equal(1), "name %d", i)
		}
	})

	It("hands what a closed member held to the others at once, most pressing first", func() { // fault kinds 11 and 14
		dying, a := join(".*")
		agent.Publish(id, numbered("n", 5)...)
		agent.Publish(id+urgent, numbered("u", 5)...)
		agent.Publish(id+critical, numbered("c", 5)...)
		Eventually(a.Count).Should(Equal(15))
		_, b := join(".*")
		Consistently(b.Count).Should(BeZero(), "a joiner is not sent what living members hold")
		dying.Close()
		want := slices.Concat(numbered("c", 5), numbered("u", 5), numbered("n", 5))
		Eventually(b.Payloads).Should(Equal(want))
		Consistently(b.Count).Should(Equal(15))
	})

	It("hands over what a crashed member held", func() {
		raw := broker.DialConnected()
		raw.Say("SUB " + harness.Send + id + ".* workers 1\r\n")
		Expect(raw.Sync()).To(BeEmpty())
		agent.Publish(id, numbered("t", 20)...)
		for range 20 {
			Expect(raw.Next().Op).To(Equal("HMSG"))
		}
		_, b := join(".*")
		Expect(raw.SetLinger(0)).To(Succeed()) // the close is a reset, as from a host that died
		raw.Hangup()
		Eventually(b.Payloads).Should(Equal(numbered("t", 20)))
	})

	It("keeps for the next worker what nobody is left to do", func() {
		last, a := join(".*")
		agent.Publish(id, numbered("t", 10)...)
		Eventually(a.Count).Should(Equal(10))
		Expect(last.Delete(id, a.IDs()[0])).To(BeTrue())
		last.Close()
		_, b := join(".*")
		Eventually(b.Payloads).Should(Equal(numbered("t", 10)[1:]))
	})

	It("never hands out again what a member deleted", func() { // fault kind 16
		dying, a := join(".*")
		_, b := join(".*")
		agent.Publish(id, numbered("t", 40)...)
		Eventually(together(a, b)).Should(HaveLen(40))
		before := b.Count()
		for _, m := range a.Messages() {
			Expect(m.Respond(nil)).To(Succeed())
		}
		dying.Sync()
		dying.Close()
		Consistently(b.Count).Should(Equal(before))
		_, c := join(".*")
		Consistently(c.Count).Should(BeZero())
	})

	Describe("a member that unsubscribes on an open connection", func() { // fault kind 18
		It("gets nothing new, keeps what it holds, and may still delete it", func() {
			draining, a := join(".*")
			agent.Publish(id, numbered("old", 10)...)
			Eventually(a.Count).Should(Equal(10))
			held := a.IDs()
			Expect(a.Unsubscribe()).To(Succeed())
			draining.Sync()
			agent.Publish(id, "new")
			agent.Sync()
			for _, msgID := range held {
				Expect(draining.Delete(id, msgID)).To(BeTrue())
			}
			_, b := join(".*")
			Eventually(b.Payloads).Should(Equal([]string{"new"}))
			Consistently(b.Count).Should(Equal(1))
			Expect(a.Count()).To(Equal(10))
		})

		It("leaves what it has not deleted to the others when its connection ends", func() {
			draining, a := join(".*")
			agent.Publish(id, numbered("old", 10)...)
			Eventually(a.Count).Should(Equal(10))
			_, b := join(".*")
			ids := a.IDs()
			Expect(a.Unsubscribe()).To(Succeed())
			draining.Sync()
			Consistently(b.Count).Should(BeZero(), "it may be working on them")
			Expect(draining.Delete(id, ids[3])).To(BeTrue())
			draining.Close()
			Eventually(b.Payloads).Should(Equal(slices.Delete(numbered("old", 10), 3, 4)))
		})

		It("leaves them to whoever joins next, be it itself", func() {
			draining, a := join(".*")
			agent.Publish(id, numbered("old", 10)...)
			Eventually(a.Count).Should(Equal(10))
			Expect(a.Unsubscribe()).To(Succeed())
			again := draining.Work(harness.Send+id+".*", "workers")
			Eventually(again.Payloads).Should(Equal(numbered("old", 10)))
			agent.Publish(id, "new")
			Eventually(again.Payloads).Should(Equal(append(numbered("old", 10), "new")), "the group lives on")
		})

		It("is treated the same when it reached its UNSUB max", func() {
			raw := broker.DialConnected()
			agent.Publish(id, numbered("t", 10)...)
			agent.Sync()
			raw.Say("SUB " + harness.Send + id + ".* workers 1\r\nUNSUB 1 3\r\n")
			for i := range 3 {
				Expect(raw.Next().Payload).To(Equal(fmt.Sprintf("t%d", i)))
			}
			_, b := join(".*")
			Eventually(b.Count).Should(Equal(10), "a join hands over what the draining one held")
			Expect(raw.Sync()).To(BeEmpty())
		})
	})

	It("lets a joiner share what is still to come, not what others hold", func() {
		_, a := join(".*")
		agent.Publish(id, numbered("old", 50)...)
		Eventually(a.Count).Should(Equal(50))
		_, b := join(".*")
		agent.Publish(id, numbered("new", 50)...)
		Eventually(b.Payloads).Should(Equal(numbered("new", 50)), "it has fewer in hand until then")
		Expect(a.Count()).To(Equal(50))
	})

	It("hands a leaver's messages only to members whose pattern matches, and keeps the rest for one that comes", func() {
		dying, a := join(".*")
		agent.Publish(id, numbered("n", 5)...)
		agent.Publish(id+critical, numbered("c", 5)...)
		Eventually(a.Count).Should(Equal(10))
		_, firefighter := join(critical)
		dying.Close()
		Eventually(firefighter.Payloads).Should(Equal(numbered("c", 5)))
		_, b := join(".*")
		Eventually(b.Payloads).Should(Equal(numbered("n", 5)))
		Consistently(firefighter.Count).Should(Equal(5))
	})

	It("treats two subscriptions of one connection as two members", func() {
		c := broker.Connect()
		a, b := c.Work(harness.Send+id+".*", "workers"), c.Work(harness.Send+id+".*", "workers")
		tasks := numbered("t", 20)
		agent.Publish(id, tasks...)
		Eventually(together(a, b)).Should(Equal(sorted(tasks)))
		Expect(a.Count()).To(Equal(10))
		_, heir := join(".*")
		c.Close()
		Eventually(together(heir)).Should(Equal(sorted(tasks)))
	})

	It("gives a worker that reconnects what it had in hand", func() {
		c, f := join(".*")
		agent.Publish(id, numbered("t", 5)...)
		Eventually(f.Count).Should(Equal(5))
		Expect(c.ForceReconnect()).To(Succeed())
		Eventually(f.Payloads).Should(Equal(append(numbered("t", 5), numbered("t", 5)...)))
	})

	It("leaves no ghosts after a storm of workers that come and go", func() { // fault kind 17
		for range 100 {
			raw := broker.DialConnected()
			raw.Say("SUB " + harness.Send + id + ".* workers 1\r\n")
			Expect(raw.Sync()).To(BeEmpty())
			raw.Hangup()
		}
		_, f := join(".*")
		agent.Publish(id, numbered("t", 50)...)
		Eventually(f.Payloads).Should(Equal(numbered("t", 50)))
	})

	It("goes on with an independent subscription and other groups as if they were alone", func() {
		_, a := join(".*")
		other := broker.Connect().Work(harness.Send+id+".*", "others")
		independent := broker.Connect().Mailbox(id)
		tasks := numbered("t", 50)
		agent.Publish(id, tasks...)
		for _, f := range []*harness.Feed{a, other, independent} {
			Eventually(f.Payloads).Should(Equal(tasks))
		}
		Consistently(func() int { return a.Count() + other.Count() + independent.Count() }).Should(Equal(150))
	})

	It("forgets everything with its last member", func() {
		last, a := join(".*")
		agent.Publish(id, numbered("t", 5)...)
		Eventually(a.Count).Should(Equal(5))
		last.Close()
		for range 3 {
			c, next := join(".*")
			Eventually(next.Payloads).Should(Equal(numbered("t", 5)))
			c.Close()
		}
	})

	Describe("with max_inflight", func() {
		BeforeEach(func() { id = agent.Create(`{"ttl":600,"max_inflight":1}`).MailID })

		It("spreads a backlog over workers that come one after the other", func() { // fault kind 15
			agent.Publish(id, numbered("t", 9)...)
			agent.Sync()
			workers, feeds := []*harness.Client{}, []*harness.Feed{}
			for range 3 {
				c, f := join(".*")
				Eventually(f.Count).Should(Equal(1))
				workers, feeds = append(workers, c), append(feeds, f)
			}
			Consistently(together(feeds...)).Should(HaveLen(3))
			for round := 1; round <= 2; round++ {
				for i, f := range feeds {
					Expect(workers[i].Delete(id, f.IDs()[round-1])).To(BeTrue())
				}
				for _, f := range feeds {
					Eventually(f.Count).Should(Equal(round + 1))
				}
			}
			Expect(together(feeds...)()).To(Equal(numbered("t", 9)))
		})

		It("gives a full member nothing until it deletes, and the most pressing first then", func() {
			c, f := join(".*")
			agent.Send(id, "n1")
			Eventually(f.Count).Should(Equal(1))
			agent.Send(id, "n2")
			agent.Send(id+critical, "c1")
			Consistently(f.Count).Should(Equal(1))
			Expect(c.Delete(id, f.IDs()[0])).To(BeTrue())
			Eventually(f.Payloads).Should(Equal([]string{"n1", "c1"}))
			Expect(c.Delete(id, f.IDs()[1])).To(BeTrue())
			Eventually(f.Payloads).Should(Equal([]string{"n1", "c1", "n2"}))
		})

		It("frees a member when somebody else deletes what it holds", func() {
			_, f := join(".*")
			agent.Publish(id, "1", "2")
			Eventually(f.Payloads).Should(Equal([]string{"1"}))
			Expect(broker.Connect().Delete(id, f.IDs()[0])).To(BeTrue())
			Eventually(f.Payloads).Should(Equal([]string{"1", "2"}))
		})

		It("hands on what a dead member held ahead of what waits behind it", func() {
			dying, a := join(".*")
			agent.Publish(id, "1", "2", "3")
			Eventually(a.Payloads).Should(Equal([]string{"1"}))
			dying.Close()
			c, b := join(".*")
			for n := 1; n <= 3; n++ {
				Eventually(b.Count).Should(Equal(n))
				Expect(c.Delete(id, b.IDs()[n-1])).To(BeTrue())
			}
			Expect(b.Payloads()).To(Equal([]string{"1", "2", "3"}))
		})

		It("binds only queue groups", func() {
			agent.Publish(id, numbered("t", 5)...)
			Eventually(agent.Mailbox(id).Payloads).Should(Equal(numbered("t", 5)))
		})
	})
})
