package specs_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/mq9-broker/broker/specs/harness"
)

// What a person, or a program behind a pipe, sees of a mailbox.
var _ = Describe("mq9 watch", func() {
	var (
		c  *harness.Client
		sh shell
	)
	BeforeEach(func() { c, sh = broker.Connect(), at(broker) })

	It("shows what is stored, the most pressing first, then what comes, and ends at its count", func() {
		box := c.Private()
		c.Send(box, "plants")
		c.Send(box+urgent, "cat")
		watching := sh.start("watch", box, "--count", "3", "--raw")
		Eventually(watching.Out).Should(gbytes.Say("cat\nplants\n"))
		c.Send(box+critical, "fire")
		Eventually(watching).Should(gexec.Exit(exitOK))
		Expect(watching.Out.Contents()).To(Equal([]byte("cat\nplants\nfire\n")))
		Expect(watching.Err.Contents()).To(BeEmpty())
		Expect(c.Stored(box)).To(HaveLen(3), "watching takes nothing")
	})

	It("tells when, how pressing, which id and headers, and shows foreign bytes as codes", func() {
		box := c.Private()
		Expect(c.PublishMsg(&nats.Msg{Subject: harness.Send + box + urgent, Header: nats.Header{"Kind": {"letter"}}, Data: []byte("ring \a\x1b[31m\xff任")})).To(Succeed())
		c.Sync()
		id := c.Stored(box)[0]
		Expect(sh.prints("watch", box, "-n", "1")).To(MatchRegexp(`^\d\d:\d\d:\d\d urgent   ` + id + ` \[Kind: letter\] ring \\x07\\x1b\[31m\\xff任$`))
	})

	It("prints JSON that holds any payload", func() {
		box := c.Private()
		c.Send(box+critical, "text")
		c.Send(box, "\xff\x00")
		shown := objects(sh.prints("watch", box, "--count", "2", "--json"))
		Expect(shown[0]).To(And(HaveKeyWithValue("payload", "text"), HaveKeyWithValue("priority", "critical"), HaveKeyWithValue("mail_id", box), HaveKey("ts")))
		Expect(shown[1]).To(And(HaveKeyWithValue("payload_base64", base64.StdEncoding.EncodeToString([]byte("\xff\x00"))), Not(HaveKey("payload"))))
	})

	It("keeps to one priority if told so", func() {
		box := c.Private()
		c.Send(box, "no")
		c.Send(box+urgent, "yes")
		Expect(sh.prints("watch", box, "--priority", "urgent", "--raw", "-n", "1")).To(Equal("yes"))
	})

	It("deletes what it has shown with --delete", func() {
		box := c.Private()
		c.Publish(box, numbered("m", 1000)...)
		c.Sync()
		Expect(strings.Split(sh.prints("watch", box, "--delete", "--raw", "--count", "900"), "\n")).To(Equal(numbered("m", 900)))
		Expect(c.Stored(box)).To(HaveLen(100))
	})

	It("loses nothing of a backlog that is larger than what client libraries hold", func() {
		const n = 80_000 // nats.go keeps 65,536 messages of a synchronous subscription
		box := c.Private()
		for i := range n {
			Expect(c.Conn.Publish(harness.Send+box, fmt.Appendf(nil, "m%d", i))).To(Succeed())
		}
		Expect(c.FlushTimeout(4 * requestTimeout)).To(Succeed())
		watching := sh.start("watch", box, "--raw", "--count", fmt.Sprint(n))
		Eventually(watching).WithTimeout(6 * requestTimeout).Should(gexec.Exit(exitOK))
		Expect(strings.Split(strings.TrimSpace(string(watching.Out.Contents())), "\n")).To(Equal(numbered("m", n)))
	})

	It("ends in an orderly way at a signal", func() {
		box := c.Private()
		c.Send(box, "one")
		watching := sh.start("watch", box)
		Eventually(watching.Out).Should(gbytes.Say("one"))
		Eventually(watching.Terminate()).Should(gexec.Exit(exitOK))
		Expect(watching.Err.Contents()).To(BeEmpty())
	})

	It("shares a mailbox with others of its group, and hands over what it did not delete", func() {
		box := c.Private()
		one := sh.start("watch", box, "--queue", "g", "--raw")
		two := sh.start("watch", box, "--queue", "g", "--raw")
		work := func() int {
			return strings.Count(string(one.Out.Contents()), "m") + strings.Count(string(two.Out.Contents()), "m")
		}
		for i := 0; len(one.Out.Contents()) == 0 || len(two.Out.Contents()) == 0; i++ { // until both are members
			Expect(i).To(BeNumerically("<", 1000))
			c.Send(box, "m")
			Eventually(work).Should(Equal(i + 1))
		}
		total := work()
		one.Kill().Wait()
		Eventually(func() int { return strings.Count(string(two.Out.Contents()), "m") }).Should(Equal(total))
	})

	It("goes on over restarts of the broker, and shows nothing twice", func() {
		own := harness.StartBroker(program)
		oc := own.Connect()
		box := oc.Public()
		watching := at(own).start("watch", box, "--json")
		oc.Send(box+critical, "c1")
		oc.Send(box, "n1")
		Eventually(watching.Out).Should(gbytes.Say(`"n1"`))
		for i := range 2 {
			own.Restart()
			Eventually(func() error {
				_, err := oc.Request(harness.ListOf+box, nil, requestTimeout)
				return err
			}).Should(Succeed())
			oc.Send(box+urgent, fmt.Sprintf("u%d", i))
			oc.Send(box+critical, fmt.Sprintf("c%d", i+2))
			oc.Send(box, fmt.Sprintf("n%d", i+2))
			Eventually(watching.Out).Should(gbytes.Say(fmt.Sprintf(`"n%d"`, i+2)))
		}
		Eventually(watching.Interrupt()).Should(gexec.Exit(exitOK))
		shown := map[any]int{}
		for _, o := range objects(string(watching.Out.Contents())) {
			shown[o["payload"]]++
		}
		Expect(shown).To(Equal(map[any]int{"c1": 1, "n1": 1, "u0": 1, "c2": 1, "n2": 1, "u1": 1, "c3": 1, "n3": 1}))
		Expect(string(watching.Err.Contents())).To(And(ContainSubstring("is lost, trying again"), ContainSubstring("connected again")))
	})

	It("says so when the mailbox has ended while the broker was away", func() {
		own := harness.StartBroker(program)
		created := own.Connect().Create(`{"ttl":3}`)
		watching := at(own).start("watch", created.MailID, "--json")
		own.Connect().Send(created.MailID, "here")
		Eventually(watching.Out).Should(gbytes.Say("here"))
		own.Kill()
		Eventually(watching.Err).Should(gbytes.Say("is lost"))
		Eventually(time.Now).Should(BeTemporally(">", created.ExpiresAt))
		own.Start()
		Eventually(watching).Should(gexec.Exit(exitRefused))
		Expect(watching.Err).To(gbytes.Say("the mailbox has come to its end: 404"))
	})

	DescribeTable("understands every form of delivery",
		func(format string, hasTime bool) {
			own := harness.StartBroker(program, "--delivery", format)
			oc := own.Connect()
			box := oc.Private()
			id := oc.Send(box+urgent, `{"msg_id":"x","payload":"eA=="}`)
			shown := object(at(own).prints("watch", box, "--count", "1", "--json"))
			Expect(shown).To(And(HaveKeyWithValue("msg_id", id), HaveKeyWithValue("priority", "urgent"), HaveKeyWithValue("payload", `{"msg_id":"x","payload":"eA=="}`)))
			Expect(shown["ts"] != nil).To(Equal(hasTime))
		},
		Entry("headers", "headers", true),
		Entry("bare", "bare", false),
		Entry("envelope", "envelope", true),
	)

	DescribeTable("refuses what does not go together",
		func(says string, args ...string) {
			Expect(sh.fails(exitUsage, append([]string{"watch", "some.box"}, args...)...)).To(ContainSubstring(says))
		},
		Entry("two forms of output", "choose one", "--raw", "--json"),
		Entry("parallel without a command", "--exec", "--parallel", "2"),
		Entry("nothing in parallel", "at least one", "--parallel", "0", "--exec", "true"),
		Entry("a negative count", "negative", "--count", "-1"),
		Entry("a group with a blank", "blanks", "--queue", "a b"),
	)

	It("is refused in words for a mailbox that is not there", func() {
		Expect(sh.fails(exitRefused, "watch", harness.UniqueName())).To(ContainSubstring("404 no such mailbox"))
	})

	It("colours on a terminal only, and not with NO_COLOR", func() {
		box := c.Private()
		c.Send(box+critical, "fire")
		Expect(sh.prints("watch", box, "-n", "1")).NotTo(ContainSubstring("\x1b"))
		onTerminal := func(env ...string) string {
			GinkgoHelper()
			log := filepath.Join(GinkgoT().TempDir(), "screen")
			terminal := sh.with(append(env, "TERM=xterm")...).startOther("script", "-qec", program+" watch "+box+" -n 1", log)
			Eventually(terminal).Should(gexec.Exit(0))
			text, err := os.ReadFile(log)
			Expect(err).NotTo(HaveOccurred())
			return string(text)
		}
		Expect(onTerminal()).To(And(ContainSubstring("fire"), ContainSubstring("\x1b[1;31mcritical")))
		Expect(onTerminal("NO_COLOR=1")).To(And(ContainSubstring("fire"), Not(ContainSubstring("\x1b[1;31m"))))
	})
})
