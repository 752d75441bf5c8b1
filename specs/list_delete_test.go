package specs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 6, LIST and DELETE.
var _ = Describe("LIST", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	It("tells what is stored, in delivery order, without payloads, and consumes nothing", func() {
		n := agent.Send(id, "four")
		u := agent.Send(id+urgent, "")
		c := agent.Send(id+critical, "12345")
		now := time.Now().Unix()
		for range 2 {
			page := agent.List(id, "")
			Expect(page.MailID).To(Equal(id))
			Expect(page.More).To(BeFalse())
			Expect(page.Messages).To(HaveLen(3))
			for i, want := range []harness.Listed{
				{MsgID: c, Priority: "critical", Size: 5}, {MsgID: u, Priority: "urgent"}, {MsgID: n, Priority: "normal", Size: 4},
			} {
				Expect(page.Messages[i].TS).To(BeNumerically("~", now, 5))
				want.TS = page.Messages[i].TS
				Expect(page.Messages[i]).To(Equal(want))
			}
		}
		Eventually(agent.Mailbox(id).Count).Should(Equal(3))
	})

	It("shows an empty mailbox as an empty list, not as null", func() {
		msg, err := agent.Request(harness.ListOf+id, nil, requestTimeout)
		Expect(err).NotTo(HaveOccurred())
		Expect(msg.Data).To(MatchJSON(fmt.Sprintf(`{"mail_id":%q,"messages":[],"more":false}`, id)))
	})

	It("is read page by page", func() {
		want := []string{}
		for _, suffix := range []string{critical, urgent, ""} {
			for range 4 {
				want = append(want, agent.Send(id+suffix, "x"))
			}
		}
		got, body := []string{}, `{"limit":5}`
		for pages := 1; ; pages++ {
			page := agent.List(id, body)
			for _, m := range page.Messages {
				got = append(got, m.MsgID)
			}
			if !page.More {
				Expect(pages).To(Equal(3))
				break
			}
			body = fmt.Sprintf(`{"limit":5,"after":%q}`, got[len(got)-1])
		}
		Expect(got).To(Equal(want))
	})

	It("goes on after a message that was deleted meanwhile", func() {
		ids := []string{agent.Send(id, "1"), agent.Send(id, "2"), agent.Send(id, "3")}
		Expect(agent.Delete(id, ids[1])).To(BeTrue())
		page := agent.List(id, fmt.Sprintf(`{"after":%q}`, ids[1]))
		Expect(page.Messages).To(HaveLen(1))
		Expect(page.Messages[0].MsgID).To(Equal(ids[2]))
	})

	It("says that there is no more when the page ends exactly at the end", func() {
		agent.Send(id, "x")
		agent.Send(id, "x")
		Expect(agent.List(id, `{"limit":2}`).More).To(BeFalse())
		Expect(agent.List(id, `{"limit":1}`).More).To(BeTrue())
	})

	It("gives 1000 entries at most", func() {
		agent.Publish(id, numbered("m", 1001)...)
		page := agent.List(id, "")
		Expect(page.Messages).To(HaveLen(1000))
		Expect(page.More).To(BeTrue())
		Expect(agent.Stored(id)).To(HaveLen(1001))
	})

	DescribeTable("refuses a body that it does not understand",
		func(body, mentions string) {
			refusal := agent.Refused(harness.ListOf+id, body)
			Expect(refusal.Code).To(Equal(400))
			Expect(refusal.Error).To(ContainSubstring(mentions))
		},
		Entry("limit 0", `{"limit":0}`, "limit"),
		Entry("limit 1001", `{"limit":1001}`, "limit"),
		Entry("limit as a string", `{"limit":"5"}`, "limit"),
		Entry("after as a number", `{"after":5}`, "after"),
		Entry("an unknown key", `{"offset":5}`, "offset"),
		Entry("broken JSON", `{`, "JSON"),
	)

	It("never replies with more than max_payload", func() { // fault kind 26
		small := harness.StartBroker(program, "--nats-config", writeConfig("max_payload: 1024\n"))
		c := small.Connect()
		box := c.Private()
		for range 60 {
			c.Publish(box, "x")
		}
		page := c.List(box, "")
		Expect(page.More).To(BeTrue())
		encoded, err := json.Marshal(page)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(encoded)).To(BeNumerically("<=", 1100))
		Expect(c.Stored(box)).To(HaveLen(60))

		for range 20 {
			name := harness.UniqueName()
			c.Create(fmt.Sprintf(`{"public":true,"name":%q,"desc":%q}`, name, strings.Repeat("d", 100)))
		}
		Expect(listed(c)).To(HaveLen(20))
	})
})

var _ = Describe("DELETE", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	DescribeTable("removes one message, and says whether there was one",
		func(suffix string) {
			kept, gone := agent.Send(id+suffix, "kept"), agent.Send(id+suffix, "gone")
			Expect(agent.Delete(id, gone)).To(BeTrue())
			Expect(agent.Delete(id, gone)).To(BeFalse(), "deleting twice is no error")
			Expect(agent.Stored(id)).To(Equal([]string{kept}))
			Eventually(agent.Mailbox(id).Payloads).Should(Equal([]string{"kept"}))
		},
		Entry("critical", critical), Entry("urgent", urgent), Entry("normal", ""))

	It("says false of a message that never was", func() {
		for _, msgID := range []string{"0", "nonsense", "0000000000001", "任务"} {
			Expect(agent.Delete(id, msgID)).To(BeFalse(), msgID)
		}
	})

	It("reaches no other mailbox", func() {
		other := agent.Private()
		msgID := agent.Send(id, "x")
		Expect(agent.Delete(other, msgID)).To(BeFalse())
		Expect(agent.Stored(id)).To(Equal([]string{msgID}))
	})

	It("may be published, and does nothing twice", func() {
		msgID := agent.Send(id+urgent, "x")
		for range 2 {
			Expect(agent.Conn.Publish(harness.Delete+id+"."+msgID, []byte("ignored"))).To(Succeed())
		}
		agent.Sync()
		Expect(agent.Stored(id)).To(BeEmpty())
		Expect(agent.Errors()).To(BeEmpty())
	})
})
