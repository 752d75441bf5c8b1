package specs_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 1.
var _ = Describe("Mailbox kinds", func() {
	var agent *harness.Client

	BeforeEach(func() { agent = broker.Connect() })

	Describe("a private mailbox", func() {
		It("has a random UUID v4 for its address, made by the broker", func() {
			first, second := agent.Create(`{"ttl":60}`), agent.Create(`{"ttl":60}`)
			Expect(first.MailID).NotTo(Equal(second.MailID))
			Expect(first.IsNew).To(BeTrue())
			Expect(first.Public).To(BeFalse())
			for _, id := range []string{first.MailID, second.MailID} {
				u, err := uuid.Parse(id)
				Expect(err).NotTo(HaveOccurred())
				Expect(u.Version()).To(Equal(uuid.Version(4)))
			}
		})

		It("is what CREATE makes when nothing else is said", func() {
			reply := agent.Create("")
			Expect(reply.Public).To(BeFalse())
			Expect(reply.TTL).To(BeNumerically(">=", 1), "the server has a default life for it")
		})

		It("is reachable for everyone who knows the address and needs no other right", func() {
			id := agent.Private()
			stranger := broker.Connect()
			stranger.Send(id, "hello")
			Eventually(stranger.Mailbox(id).Payloads).Should(Equal([]string{"hello"}))
		})

		It("is never listed", func() {
			id := agent.Private()
			Expect(listed(agent)).NotTo(ContainElement(id))
		})
	})

	Describe("a public mailbox", func() {
		It("has its name for its address", func() {
			name := harness.UniqueName()
			reply := agent.Create(public(name, 60))
			Expect(reply.MailID).To(Equal(name))
			Expect(reply.IsNew).To(BeTrue())
			Expect(reply.Public).To(BeTrue())
		})

		It("is listed as long as it lives", func() {
			name := agent.Public()
			Expect(listed(agent)).To(ContainElement(name))
		})

		DescribeTable("may be named",
			func(name string) {
				Expect(agent.Create(public(name, 60)).MailID).To(Equal(name))
				agent.Send(name+urgent, "in")
				Eventually(agent.Mailbox(name).Payloads).Should(Equal([]string{"in"}))
			},
			Entry("one token", "kinds"),
			Entry("one letter", "k"),
			Entry("several tokens", "kinds.task.queue"),
			Entry("other alphabets", "任务.队列"),
			Entry("punctuation", "kinds-of_things/&=+,;:!?'\"#%@~^|(){}[]"),
			Entry("a priority that is not the last token", "kinds.urgent.tasks"),
			Entry("a dollar sign that is not the first character", "kinds.$money"),
			Entry("a whole number", "4711"),
			Entry("200 bytes", strings.Repeat("k", 200)),
		)

		DescribeTable("may not be named",
			func(name string) {
				refusal := agent.Refused(harness.Create, public(name, 60))
				Expect(refusal.Code).To(Equal(400))
				Expect(refusal.Error).To(ContainSubstring("name"))
				Expect(listed(agent)).NotTo(ContainElement(name))
			},
			Entry("nothing", ""),
			Entry("201 bytes", strings.Repeat("k", 201)),
			Entry("201 bytes of few characters", strings.Repeat("任", 67)),
			Entry("an empty token inside", "a..b"),
			Entry("an empty token in front", ".a"),
			Entry("an empty token behind", "a."),
			Entry("a space", "a b"),
			Entry("a tab", "a\tb"),
			Entry("a no-break space", "a\u00a0b"),
			Entry("a line end", "a\r\nb"),
			Entry("a control character", "a\x01b"),
			Entry("a star", "a.*"),
			Entry("a star in a token", "a*b"),
			Entry("a greater-than", "a.>"),
			Entry("a dollar sign first", "$SYS.a"),
			Entry("a priority last: critical", "a.critical"),
			Entry("a priority last: urgent", "a.urgent"),
			Entry("a priority last: normal", "a.normal"),
			Entry("a priority alone", "normal"),
			Entry("a UUID", "0190f3e2-7c1a-4d5b-8e9f-0123456789ab"),
			Entry("a UUID in capitals", "0190F3E2-7C1A-4D5B-8E9F-0123456789AB"),
			Entry("a UUID without dashes", "0190f3e27c1a4d5b8e9f0123456789ab"),
			Entry("a UUID in braces", "{0190f3e2-7c1a-4d5b-8e9f-0123456789ab}"),
		)

		It("may not be named by bytes that are not UTF-8", func() {
			Expect(agent.Refused(harness.Create, "{\"public\":true,\"name\":\"a\xffb\"}").Code).To(Equal(400))
		})
	})

	It("keeps its kind: a private address cannot be made public, a public name cannot be had as a private one", func() {
		id, name := agent.Private(), agent.Public()
		Expect(agent.Refused(harness.Create, public(id, 60)).Code).To(Equal(400))
		refusal := agent.Refused(harness.Create, fmt.Sprintf(`{"mail_id":%q}`, name))
		Expect(refusal.Code).To(BeElementOf(400, 404, 409))
		Expect(listed(agent)).To(ContainElement(name))
		Expect(listed(agent)).NotTo(ContainElement(id))
	})

	It("answers CREATE with exactly the documented keys", func() {
		msg, err := agent.Request(harness.Create, []byte(`{"ttl":60}`), requestTimeout)
		Expect(err).NotTo(HaveOccurred())
		var reply map[string]any
		Expect(json.Unmarshal(msg.Data, &reply)).To(Succeed())
		Expect(reply).To(HaveLen(6))
		for _, key := range []string{"mail_id", "is_new", "public", "ttl", "created_at", "expires_at"} {
			Expect(reply).To(HaveKey(key))
		}
	})
})
