package specs_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// violation is the one form of an asynchronous refusal; its last group is the reason.
var violation = regexp.MustCompile(
	`^'Permissions Violation for (?:Subscription to|Publish to) "([^"]*)"(?: using queue "([^"]*)")?: (\d{3} [\x20-\x7e]+)'$`)

// Protocol section 2, "How refusals reach the client".
var _ = Describe("Refusals", func() {
	const absent = "0190f3e2-7c1a-4d5b-8e9f-0123456789ab"
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	// reason checks the form of a -ERR and returns its subject, queue and reason.
	reason := func(f harness.Frame) (subject, queue, why string) {
		GinkgoHelper()
		Expect(f.Op).To(Equal("-ERR"))
		parts := violation.FindStringSubmatch(f.Args)
		Expect(parts).NotTo(BeNil(), "%q has the one form that keeps clients connected", f.Args)
		why = parts[3]
		Expect(len(why)).To(BeNumerically("<=", 120))
		Expect(strings.ToLower(why)).NotTo(Or(ContainSubstring("stale connection"), ContainSubstring("authorization violation")))
		Expect(why).NotTo(ContainSubstring("'"))
		return parts[1], parts[2], why
	}

	Describe("of requests and publishes", func() {
		refuse := func(suffix string, code int) {
			subject := "$mq9." + strings.ReplaceAll(suffix, "{id}", id)
			refusal := agent.Refused(subject, "")
			Expect(refusal.Code).To(Equal(code), subject)
			Expect(refusal.Error).NotTo(BeEmpty())

			raw := broker.DialConnected()
			raw.Pub(subject, "")
			frames := raw.Sync() // the -ERR is written before the PONG
			Expect(frames).To(HaveLen(1))
			named, _, why := reason(frames[0])
			Expect(named).To(Equal(subject))
			Expect(why).To(HavePrefix(fmt.Sprint(code)))
		}
		DescribeTable("come as JSON to a request, and as -ERR before the next PONG to a publish", refuse,
			Entry("a mailbox that does not exist", "AI.MAILBOX.MSG."+absent, 404),
			Entry("a name that does not exist", "AI.MAILBOX.MSG.no.such.name", 404),
			Entry("the same, at a priority", "AI.MAILBOX.MSG.no.such.name.urgent", 404),
			Entry("DELETE in what does not exist", "AI.MAILBOX.DELETE."+absent+".x", 404),
			Entry("no mail_id", "AI.MAILBOX.MSG", 400),
			Entry("a priority for a mail_id", "AI.MAILBOX.MSG.urgent", 400),
			Entry("DELETE without a msg_id", "AI.MAILBOX.DELETE.x", 400),
			Entry("an unknown verb", "AI.MAILBOX.FETCH.{id}", 400),
			Entry("a delete-mailbox command", "AI.MAILBOX.DESTROY.{id}", 400),
			Entry("something else under $mq9", "AI.AGENT.REGISTER", 400),
			Entry("a second CREATE token", "AI.MAILBOX.CREATE.x", 400),
			Entry("lower case", "ai.mailbox.create", 400),
		)

		It("tell a LIST from its absence: 404 as JSON; without a reply subject there is nobody to tell", func() {
			Expect(agent.Refused(harness.ListOf+absent, "").Code).To(Equal(404))
			raw := broker.DialConnected()
			raw.Pub(harness.ListOf+id, "")
			frames := raw.Sync()
			Expect(frames).To(HaveLen(1))
			_, _, why := reason(frames[0])
			Expect(why).To(HavePrefix("400"))
		})

		It("takes wildcards in the subject of a publish for what they are", func() {
			for _, subject := range []string{"AI.MAILBOX.MSG.*", "AI.MAILBOX.MSG.>", "AI.MAILBOX.MSG.task.*.urgent", "AI.MAILBOX.LIST.*"} {
				raw := broker.DialConnected()
				raw.Pub("$mq9."+subject, "")
				frames := raw.Sync()
				Expect(frames).To(HaveLen(1), subject)
				_, _, why := reason(frames[0])
				Expect(why).To(HavePrefix("403"), subject)
			}
		})

		It("refuses a payload over max_payload with 413, stores nothing, and leaves the connection in use", func() {
			raw := broker.DialConnected()
			big := strings.Repeat("x", 1<<20+1)
			raw.Pub(harness.Send+id, big)
			frames := raw.Sync()
			Expect(frames).To(HaveLen(1))
			_, _, why := reason(frames[0])
			Expect(why).To(HavePrefix("413"))
			Expect(raw.Ask(harness.Send+id+critical, big)).To(ContainSubstring(`"code":413`))
			Expect(agent.Stored(id)).To(BeEmpty())
			Expect(raw.Ask(harness.Send+id, big[1:])).To(ContainSubstring(`"msg_id"`), "one byte less is taken")
		})
	})

	Describe("of subscriptions", func() {
		DescribeTable("come as -ERR before the next PONG, name the subject, and leave the connection in use", // fault kind 27
			func(suffix string, code int) {
				subject := "$mq9." + suffix
				raw := broker.DialConnected()
				raw.Say("SUB " + subject + " 1\r\nSUB " + subject + " some.queue 2\r\n")
				frames := raw.Sync()
				Expect(frames).To(HaveLen(2))
				named, queue, why := reason(frames[0])
				Expect(named).To(Equal(subject))
				Expect(queue).To(BeEmpty())
				Expect(why).To(HavePrefix(fmt.Sprint(code)))
				named, queue, why = reason(frames[1])
				Expect(named).To(Equal(subject))
				Expect(queue).To(Equal("some.queue"))
				Expect(why).To(HavePrefix(fmt.Sprint(code)))

				raw.Say("SUB alive 3\r\n")
				raw.Pub("alive", "yes")
				Expect(raw.Next().Payload).To(Equal("yes"))
			},
			Entry("all mailboxes", "AI.MAILBOX.MSG.*", 403),
			Entry("everything below", "AI.MAILBOX.MSG.>", 403),
			Entry("two stars", "AI.MAILBOX.MSG.*.*", 403),
			Entry("a prefix of names", "AI.MAILBOX.MSG.task.>", 403),
			Entry("a star inside a name", "AI.MAILBOX.MSG.task.*.urgent", 403),
			Entry("all of mq9", ">", 403),
			Entry("all verbs", "AI.MAILBOX.*.x", 403),
			Entry("a mailbox that does not exist", "AI.MAILBOX.MSG."+absent, 404),
			Entry("the same, all priorities", "AI.MAILBOX.MSG."+absent+".*", 404),
			Entry("CREATE", "AI.MAILBOX.CREATE", 400),
			Entry("LIST", "AI.MAILBOX.LIST.x", 400),
			Entry("no mail_id", "AI.MAILBOX.MSG", 400),
			Entry("something else", "AI.AGENT.X", 400),
		)

		It("reach the error handler of a client library, which stays connected", func() {
			sub, err := agent.SubscribeSync(harness.Send + "*")
			Expect(err).NotTo(HaveOccurred())
			agent.Sync()
			Eventually(agent.Errors).Should(ConsistOf(ContainSubstring("403")))
			Expect(agent.LastError()).To(MatchError(nats.ErrPermissionViolation))
			Expect(sub.Unsubscribe()).To(Succeed())
			agent.Send(id, "still here")
			Expect(agent.Status()).To(Equal(nats.CONNECTED))
		})

		It("are told through NextMsg to a client that asks for it, queue groups included", func() {
			c := broker.Connect(nats.PermissionErrOnSubscribe(true))
			sub, err := c.QueueSubscribeSync(harness.Send+absent, "q")
			Expect(err).NotTo(HaveOccurred())
			_, err = sub.NextMsg(requestTimeout)
			Expect(err).To(MatchError(nats.ErrPermissionViolation))
		})
	})

	It("never send bytes that are not UTF-8 back", func() {
		raw := broker.DialConnected()
		raw.Say("SUB $mq9.AI.MAILBOX.MSG.a\xffb 1\r\n")
		raw.Pub("$mq9.AI.MAILBOX.MSG.a\xffb", "x")
		frames := raw.Sync()
		Expect(frames).To(HaveLen(2))
		for _, f := range frames {
			subject, _, why := reason(f)
			Expect(subject).To(Equal("$mq9.AI.MAILBOX.MSG.a?b"))
			Expect(why).To(HavePrefix("400"))
		}
		raw.Say("SUB _INBOX.u 2\r\n")
		raw.Pub("$mq9.AI.MAILBOX.MSG.a\xffb _INBOX.u", "x")
		Expect(raw.Next().Payload).To(ContainSubstring(`"code":400`))
	})

	It("answer at once, as JSON, where a plain subject without responders gives 503", func() { // fault kind 30
		_, err := agent.Request("nobody.there", nil, requestTimeout)
		Expect(err).To(MatchError(nats.ErrNoResponders))
		Expect(agent.Refused(harness.Send+absent, "").Code).To(Equal(404))
		Expect(agent.Refused(harness.ListOf+absent, "").Code).To(Equal(404))
	})

	It("do not touch what the same connection does well", func() {
		feed := agent.Mailbox(id)
		for range 20 {
			agent.Publish("no.such.mailbox", "lost")
			agent.Publish(id, "kept")
		}
		agent.Sync()
		Eventually(feed.Count).Should(Equal(20))
		Eventually(agent.Errors).Should(HaveLen(20))
		Expect(agent.Status()).To(Equal(nats.CONNECTED))
	})
})
