package pressure_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// account is what workers said, all together.
type account struct {
	taken map[string]int  // how often a message was taken in hand
	done  map[string]int  // how often a worker deleted it
	open  map[string]bool // what a worker had in hand last when it ended, without saying what became of it
	odd   []string        // what a worker was handed although it was deleted
}

func (a *account) add(p *process) {
	last := ""
	for _, line := range p.said() {
		what, name, _ := strings.Cut(line, " ")
		switch what {
		case "take":
			a.taken[name]++
			last = name
		case "done":
			a.done[name]++
			last = ""
		case "odd":
			a.odd = append(a.odd, name)
		}
	}
	if last != "" {
		a.open[last] = true
	}
}

var _ = Describe("Workers of a queue group", func() {
	var agent *harness.Client

	BeforeEach(func() { agent = broker.Connect() })

	// toDo publishes numbered messages of three priorities at an even pace over the given time.
	toDo := func(id string, n int, over time.Duration) []string {
		GinkgoHelper()
		names := mixture(n)
		const slices = 100
		pace := time.NewTicker(max(over/slices, 1))
		defer pace.Stop()
		for i, name := range names {
			if over > 0 && i%(n/slices) == 0 {
				<-pace.C
			}
			Expect(agent.Conn.Publish(harness.Send+id+suffix(name), []byte(name))).To(Succeed())
		}
		Expect(agent.FlushTimeout(patience)).To(Succeed())
		return names
	}

	// settle checks that every message was deleted by one worker, which said so unless it was killed at that very time.
	settle := func(id string, names []string, workers []*process) {
		GinkgoHelper()
		Eventually(func() []string { return agent.Stored(id) }).WithTimeout(2 * patience).WithPolling(100 * time.Millisecond).Should(BeEmpty())
		a := account{map[string]int{}, map[string]int{}, map[string]bool{}, nil}
		for _, w := range workers {
			w.kill()
			a.add(w)
		}
		Expect(a.odd).To(BeEmpty(), "handed out after it was deleted")
		for _, name := range names {
			Expect(a.taken[name]).To(BeNumerically(">", 0), "%s was never handed to anybody", name)
			if a.done[name] != 1 {
				Expect(a.done[name]).To(BeZero(), "%s was deleted twice", name)
				Expect(a.open[name]).To(BeTrue(), "%s is gone, and no worker deleted it", name)
			}
		}
		Expect(a.taken).To(HaveLen(len(names)))
	}

	DescribeTable("lose nothing and do nothing twice while they come and crash", // fault kinds 14, 16 and 17
		func(inflight int) {
			id := agent.Create(fmt.Sprintf(`{"ttl":600,"max_inflight":%d}`, inflight)).MailID
			span := time.Duration(size(4, 60)) * time.Second
			var all, alive []*process
			hire := func() {
				w := launch("work", broker.Addr, id)
				all, alive = append(all, w), append(alive, w)
			}
			crowd := size(6, 20)
			for range crowd {
				hire()
			}
			published := make(chan []string)
			go func() {
				defer GinkgoRecover()
				defer close(published)
				published <- toDo(id, size(3000, 50_000), span)
			}()
			dice := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 6))
			turn := time.NewTicker(400 * time.Millisecond)
			defer turn.Stop()
			var names []string
			for names == nil {
				select {
				case names = <-published:
					Expect(names).NotTo(BeNil())
				case <-turn.C:
					i := dice.IntN(len(alive))
					alive[i].kill()
					alive = append(alive[:i], alive[i+1:]...)
					hire()
				}
			}
			settle(id, names, all)
			AddReportEntry(fmt.Sprintf("%d workers, %d of them killed at work, did %d messages", len(all), len(all)-crowd, len(names)))
		},
		Entry("with max_inflight", 8),
		Entry("without", 0),
	)

	It("drain without losing or doubling anything", func() { // fault kind 18
		id := agent.Create(`{"ttl":600,"max_inflight":50}`).MailID
		var workers []*process
		for range 5 {
			w := launch("work", broker.Addr, id)
			Eventually(w.said).Should(ContainElement("ready"))
			workers = append(workers, w)
		}
		published, enough := make(chan []string, 1), make(chan bool)
		go func() { // there is always work while they drain
			defer GinkgoRecover()
			defer close(published)
			names := mixture(1_000_000)
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for i, name := range names {
				if i%8 == 0 {
					select {
					case <-pace.C:
					case <-enough:
						published <- names[:i]
						return
					}
				}
				Expect(agent.Conn.Publish(harness.Send+id+suffix(name), []byte(name))).To(Succeed())
			}
		}()
		for _, w := range workers[1:] {
			before := w.count()
			Eventually(w.count).Should(BeNumerically(">", before+size(50, 1000)), "it is at work")
			Expect(w.cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
			Eventually(w.done).Should(BeClosed())
			Expect(w.said()).To(ContainElement("drained"))
		}
		close(enough)
		names := <-published
		settle(id, names, workers)
		a := account{map[string]int{}, map[string]int{}, map[string]bool{}, nil}
		for _, w := range workers {
			a.add(w)
		}
		for _, name := range names {
			Expect(a.taken[name]).To(Equal(1), name)
		}
	})

	Describe("one of which stands still", func() {
		const kib = 1 << 10

		It("take what it was not sent yet, and get the rest when it dies", func() { // fault kinds 14 and 15
			id := agent.Private()
			const backlog = 4000
			publish(agent, backlog, func(i int) (string, string) { return id, padded(fmt.Sprint(i), kib) })
			still := open(broker.Addr, true)
			Expect(still.say("SUB %s%s.* workers 1\r\n", harness.Send, id)).To(Succeed())
			still.full()
			held := still.held()
			one, two := broker.Connect().Work(harness.Send+id+".*", "workers"), broker.Connect().Work(harness.Send+id+".*", "workers")
			together := func() int { return one.Count() + two.Count() }
			atMost := int(held+window) / kib
			Eventually(together).Should(BeNumerically(">=", backlog-atMost))
			Expect(together()).To(BeNumerically("<", backlog), "it keeps what it was sent")
			Expect(still.conn.SetLinger(0)).To(Succeed())
			Expect(still.conn.Close()).To(Succeed())
			Eventually(together).Should(Equal(backlog))
			seen := map[string]bool{}
			for _, p := range append(one.Payloads(), two.Payloads()...) {
				seen[p] = true
			}
			Expect(seen).To(HaveLen(backlog))
		})
	})

	DescribeTable("a member of which is cut off from the network is found by PING in time",
		func(backlog int) {
			const interval, most = time.Second, 1
			watchful := withConfig(fmt.Sprintf("ping_interval: %d\nping_max: %d\n", int(interval/time.Second), most))
			agent := watchful.Connect()
			id := agent.Create(`{"ttl":600}`).MailID
			publish(agent, backlog, func(i int) (string, string) { return id, padded(fmt.Sprint(i), 1000) })
			gone := open(watchful.Addr, true)
			Expect(gone.say("SUB %s%s.* workers 1\r\n", harness.Send, id)).To(Succeed())
			_, err := gone.next() // and then it neither reads nor answers
			Expect(err).NotTo(HaveOccurred())
			began := time.Now()
			heir := watchful.Connect().Work(harness.Send+id+".*", "workers")
			Eventually(heir.Count).Should(Equal(backlog))
			took := time.Since(began)
			AddReportEntry(fmt.Sprintf("found after %v", took))
			Expect(took).To(BeNumerically("<", interval*(most+1)+time.Second/2))
		},
		Entry("with everything read by its host", 10),
		Entry("with a full window", 2000),
	)
})
