package pressure_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Within the window, priority holds to the last moment. What the kernels held at that time is counted apart: it was written.
var _ = Describe("A critical message that comes late", func() { // fault kind 10
	const kib = 1 << 10

	var (
		agent *harness.Client
		slow  *stream
	)

	BeforeEach(func() {
		agent = broker.Connect()
		slow = open(broker.Addr, true)
	})

	subscribe := func(id string, sid int) {
		GinkgoHelper()
		Expect(slow.say("SUB %s%s.* %d\r\n", harness.Send, id, sid)).To(Succeed())
	}

	// until reads up to a delivery and returns where it began.
	until := func(name string) int64 {
		GinkgoHelper()
		for {
			f, err := slow.next()
			Expect(err).NotTo(HaveOccurred())
			if f.name() == name {
				return f.at
			}
		}
	}

	It("is within the next window, whatever stands between", func() {
		id := agent.Private()
		n := size(20_000, 100_000)
		publish(agent, n, func(i int) (string, string) { return id, padded(fmt.Sprint(i), kib) })
		subscribe(id, 1)
		for round := range 5 { // at different places of the backlog
			slow.full()
			written := slow.at + slow.held()
			name := fmt.Sprintf("late%d", round)
			agent.Send(id+".critical", name)
			Expect(until(name)).To(BeNumerically("<=", written+window))
		}
	})

	It("is within the next window on a subscription that was idle, while another of its connection replays", func() {
		idle := agent.Private()
		subscribe(idle, 1)
		for sid := range 8 {
			id := agent.Private()
			publish(agent, 2000, func(i int) (string, string) { return id, padded(fmt.Sprint(i), kib) })
			subscribe(id, 2+sid)
		}
		slow.full()
		for _, name := range []string{"c1", "c2", "c3"} {
			written := slow.at + slow.held()
			agent.Send(idle+".critical", name)
			Expect(until(name)).To(BeNumerically("<=", written+window))
			slow.full()
		}
	})

	It("does not wait for the normals of many mailboxes, which share the connection evenly", func() {
		const boxes, each = 8, 1000
		for sid := range boxes {
			id := agent.Private()
			publish(agent, each, func(i int) (string, string) { return id, padded(fmt.Sprint(i), kib) })
			subscribe(id, 1+sid)
		}
		got := map[string]int{}
		for total := 0; total < boxes*each; total++ {
			f, err := slow.next()
			Expect(err).NotTo(HaveOccurred())
			Expect(f.name()).To(Equal(fmt.Sprint(got[string(f.sid)])))
			got[string(f.sid)]++
			if total == boxes*each/2 {
				for sid, n := range got {
					Expect(n).To(BeNumerically(">", each/5), "subscription %s", sid) // the first one had the connection to itself for a while
				}
				Expect(got).To(HaveLen(boxes))
			}
		}
	})
})
