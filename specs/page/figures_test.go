package page_test

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("The page", func() {
	var (
		own   *harness.Broker
		agent *harness.Client
		page  *tab
	)

	BeforeEach(func() {
		own = harness.StartBroker(program)
		agent = own.Connect(nats.Name("the agent"))
		page = open("http://" + own.HTTP + "/")
	})

	public := func(name string, ttl int) {
		GinkgoHelper()
		agent.Create(fmt.Sprintf(`{"public":true,"name":%q,"ttl":%d,"desc":"about it"}`, name, ttl))
	}

	// stream publishes to a mailbox until the spec ends.
	stream := func(to string) {
		stop, gone := make(chan struct{}), make(chan struct{})
		nc := own.Connect(nats.Name("the sender"))
		go func() {
			defer close(gone)
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					if nc.Conn.Publish(harness.Send+to, []byte("reading")) != nil {
						return // the broker has been stopped
					}
				case <-stop:
					return
				}
			}
		}()
		DeferCleanup(func() { close(stop); <-gone })
	}

	It("shows what the broker does, second by second, and draws it", func() {
		Eventually(page.text("#state")).Should(Equal("Ready"))
		public("task.queue", 600)
		_, err := agent.Subscribe(harness.Send+"task.queue.*", func(*nats.Msg) {})
		Expect(err).NotTo(HaveOccurred())
		agent.Sync()
		stream("task.queue.urgent")
		rate := func(id string) func() int {
			return func() int {
				return eval[int](page, fmt.Sprintf(`parseInt(document.getElementById(%q).innerText.replace(",", "")) || 0`, id))
			}
		}
		Eventually(rate("t-published")).Should(BeNumerically(">", 20))
		Eventually(rate("t-delivered")).Should(BeNumerically(">", 20))
		waiting := rate("t-stored")()
		Eventually(rate("t-stored")).Should(BeNumerically(">", waiting))
		Eventually(page.row("tiers", "urgent")).Should(MatchRegexp(`^urgent [\d,]+ [\d.]+ Ki?B `))
		Eventually(page.row("latencies", "store a message")).Should(MatchRegexp(`[\d.]+ [mµ]s [\d.]+ m?s`))
		Expect(page.text("#store")()).To(ContainSubstring("State ok"))
		Expect(page.text("#t-disk-note")()).To(ContainSubstring("free"))
		Expect(eval[int](page, `document.querySelectorAll(".plot canvas").length`)).To(Equal(3))
		Eventually(func() string { return eval[string](page, `document.querySelector("#c-rates .plot").ariaLabel`) }).
			Should(MatchRegexp(`published [1-9]\d*, delivered [1-9]`), "who does not see the chart is told")
		Expect(eval[bool](page, `(() => {
			const c = document.querySelector("#c-waiting canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
			return d.some((v) => v > 0);
		})()`)).To(BeTrue(), "the chart is empty")
	})

	It("says what to do while there is nothing, shows a mailbox when it comes, and takes it away at its end", func() {
		Eventually(page.text("#public-empty")).Should(ContainSubstring("nats req '$mq9.AI.MAILBOX.CREATE'"))
		Expect(page.text("#groups-empty")()).To(ContainSubstring("--queue"))
		public("tour.long", 3600)
		public("tour.short", 6)
		agent.Send("tour.long.critical", "one")
		agent.Send("tour.long", "two")
		agent.Send("tour.long", "three")
		Eventually(page.row("public", "tour.long")).Should(MatchRegexp(`^tour\.long about it 1 0 2 11 B 0 (59 min|1 h)`))
		Expect(page.row("public", "tour.short")()).To(HavePrefix("tour.short about it 0 0 0 0 B 0 "))
		Eventually(page.row("public", "tour.short")).Should(BeEmpty())
		Expect(page.text("#public-empty")()).To(BeEmpty())

		page.fill("filter", "nothing of that name")
		Eventually(page.text("#public-empty")).Should(Equal("No public mailbox has this in its name."))
		page.fill("filter", "LONG")
		Eventually(page.row("public", "tour.long")).ShouldNot(BeEmpty())
	})

	It("shows queue groups with their members, and who holds how much", func() {
		public("task.queue", 600)
		for i := range 2 {
			worker := own.Connect(nats.Name(fmt.Sprintf("worker-%d", i)))
			_, err := worker.QueueSubscribe(harness.Send+"task.queue.*", "workers", func(*nats.Msg) {})
			Expect(err).NotTo(HaveOccurred())
			worker.Sync()
		}
		for range 6 {
			agent.Send("task.queue", "work")
		}
		Eventually(page.row("groups", "workers")).Should(Equal("workers task.queue 2 6 worker-0 3 worker-1 3"))
	})

	It("shows who does not keep up", func() {
		public("stream", 600)
		raw, err := net.Dial("tcp", own.Addr)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(raw.Close)
		Expect(raw.(*net.TCPConn).SetReadBuffer(4 << 10)).To(Succeed())
		_, err = fmt.Fprintf(raw, "CONNECT {\"verbose\":false,\"name\":\"sleeper\"}\r\nSUB %sstream.* 1\r\n", harness.Send)
		Expect(err).NotTo(HaveOccurred())
		large := strings.Repeat("x", 64<<10)
		for range 200 {
			agent.Send("stream", large)
		}
		Eventually(page.row("clients", "sleeper")).Should(MatchRegexp(`slow [\d.]+ KiB`))
		Eventually(page.text("#t-clients-note")).Should(Equal("1 slow"))
		Eventually(page.row("public", "stream")).Should(ContainSubstring("1 behind"))
		Expect(page.row("clients", "the agent")()).To(ContainSubstring("keeps up"))
	})

	It("shows private mailboxes as hashes alone", func() {
		id := agent.Private()
		agent.Send(id+".urgent", "psst")
		Eventually(page.text("#private tbody")).Should(MatchRegexp(`^[0-9a-f]{12} 0 1 0 4 B 0 `))
		Expect(page.document()).NotTo(ContainSubstring(id))
		Expect(page.mentions(id)).To(BeFalse())
	})

	It("says that the broker is gone, goes on trying, and goes on when it is back", func() {
		public("stays", 600)
		Eventually(page.row("public", "stays")).ShouldNot(BeEmpty())
		own.Kill()
		Eventually(page.text("#state")).Should(Equal("No answer"))
		Expect(page.text("#notice")()).To(ContainSubstring("does not answer"))
		Expect(page.row("public", "stays")()).NotTo(BeEmpty(), "what was said last stays to be seen")
		own.Start()
		Eventually(page.text("#state")).Should(Equal("Ready"))
		Expect(page.text("#notice")()).To(BeEmpty())
		agent.Send("stays.critical", "after")
		Eventually(page.row("public", "stays")).Should(ContainSubstring("about it 1 0 0"))
	})
})
