package pressure_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// window is what the broker may have in flight to a connection (protocol section 6).
const window = 256 << 10

var _ = Describe("A reader that stands still", func() {
	const (
		kib     = 1 << 10
		each    = 4 * kib
		backlog = 16 << 10 // messages: 64 MiB
	)

	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	normals := func(i int) (string, string) { return id, padded(fmt.Sprintf("n%d", i), each) }

	It("gets everything when it goes on, criticals first, and costs others nothing meanwhile", func() { // fault kinds 10 and 12
		reader := launch("read", broker.Addr, id)
		Eventually(reader.count).Should(BeNumerically(">", 0))
		address, err := net.ResolveTCPAddr("tcp", reader.said()[0])
		Expect(err).NotTo(HaveOccurred())
		reader.stop()

		brisk := broker.Connect().Mailbox(id)
		began := time.Now()
		publish(agent, backlog, normals)
		Eventually(brisk.Count).WithPolling(50 * time.Millisecond).Should(Equal(backlog))
		Expect(time.Since(began)).To(BeNumerically("<", 30*time.Second), "64 MiB to one who reads, beside one who does not")

		late := brisk.IDs()[backlog-100:]
		for _, msgID := range late[:50] {
			Expect(agent.Delete(id, msgID)).To(BeTrue())
		}
		server, err := net.ResolveTCPAddr("tcp", broker.Addr)
		Expect(err).NotTo(HaveOccurred())
		began = time.Now()
		agent.Send(id+".critical", "c")
		Expect(time.Since(began)).To(BeNumerically("<", time.Second))
		held, err := harness.InKernel(address, server)
		Expect(err).NotTo(HaveOccurred())
		if *full { // minutes, within what is given to answer a PING
			Eventually(time.Since).WithArguments(time.Now()).WithTimeout(5 * time.Minute).Should(BeNumerically(">", 3*time.Minute))
		}

		reader.goOn()
		want := make([]string, 0, backlog)
		for i := range backlog {
			if i < backlog-100 || i >= backlog-50 {
				want = append(want, fmt.Sprintf("n%d", i))
			}
		}
		Eventually(reader.count).WithPolling(50 * time.Millisecond).Should(Equal(1 + len(want) + 1))
		got := reader.said()[1:]
		at := slices.Index(got, "c")
		Expect(at*each).To(BeNumerically("<=", held+window), "the critical came as number %d", at)
		Expect(slices.Delete(got, at, at+1)).To(Equal(want))
	})

	It("costs the broker a window, not a copy of the backlog", func() {
		publish(agent, backlog, normals)
		readAll := func() {
			GinkgoHelper()
			c := broker.Connect()
			defer c.Close()
			Eventually(c.Mailbox(id).Count).WithPolling(50 * time.Millisecond).Should(Equal(backlog))
		}
		readAll()
		before := broker.Memory()
		const readers = 20
		var still []*stream
		for range readers {
			s := open(broker.Addr, true)
			Expect(s.say("SUB %s%s.* 1\r\n", harness.Send, id)).To(Succeed())
			still = append(still, s)
		}
		for _, s := range still {
			s.full()
		}
		readAll()
		grown := broker.Memory() - before
		AddReportEntry(fmt.Sprintf("resident memory grew by %d KiB with %d readers that stand still", grown/kib, readers))
		Expect(grown).To(BeNumerically("<", 64<<20), "each copy of the backlog would be 64 MiB")
	})

	It("is not sent what expired meanwhile", func() { // fault kind 12
		short := agent.Create(`{"ttl":2}`).MailID
		publish(agent, 4000, func(i int) (string, string) { return short, padded(fmt.Sprint(i), kib) })
		s := open(broker.Addr, true)
		Expect(s.say("SUB %s%s.* 1\r\n", harness.Send, short)).To(Succeed())
		s.full()
		Eventually(func() int { return agent.Refused(harness.ListOf+short, "").Code }).Should(Equal(404))
		held := s.held()
		end := agent.Private()
		agent.Send(end, "end")
		Expect(s.say("SUB %s%s.* 2\r\n", harness.Send, end)).To(Succeed())
		for {
			f, err := s.next()
			Expect(err).NotTo(HaveOccurred())
			if f.name() == "end" {
				break
			}
			Expect(f.at).To(BeNumerically("<=", held+window))
		}
	})

	It("is not cut off by the rules for slow consumers of plain NATS, which hold for those", func() {
		strict := withConfig("write_deadline: \"500ms\"\nmax_pending: 1MB\n")
		agent := strict.Connect()
		box, subject := agent.Private(), harness.UniqueName()
		for _, s := range []string{box, subject} {
			Expect(agent.Conn.Publish(s, nil)).To(Succeed())
		}

		slow := open(strict.Addr, true)
		Expect(slow.sync(fmt.Sprintf("SUB %s.few 2\r\n", subject))).To(Succeed())
		Expect(slow.say("SUB %s%s.* 1\r\n", harness.Send, box)).To(Succeed())
		const n = 8000
		publish(agent, n, func(i int) (string, string) { return box, padded(fmt.Sprint(i), kib) })
		slow.full()
		Expect(agent.Conn.Publish(subject+".few", []byte("plain"))).To(Succeed())

		plain := open(strict.Addr, true)
		Expect(plain.sync(fmt.Sprintf("SUB %s.many 1\r\n", subject))).To(Succeed())
		flood := []byte(strings.Repeat("p", 100*kib))
		for range 200 {
			Expect(agent.Conn.Publish(subject+".many", flood)).To(Succeed())
		}
		agent.Sync()
		Eventually(func() error {
			_, err := plain.next()
			return err
		}).WithPolling(time.Millisecond).ShouldNot(Succeed(), "whoever is slow on plain subjects is cut off as ever")

		boxed, plains := 0, 0
		for boxed < n || plains < 1 {
			f, err := slow.next()
			Expect(err).NotTo(HaveOccurred())
			if string(f.sid) == "2" {
				plains++
				continue
			}
			Expect(f.name()).To(Equal(fmt.Sprint(boxed)))
			boxed++
		}
	})
})
