package specs_test

import (
	"strings"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 1: a mail_id never reaches a client that did not present it.
var _ = Describe("Secrets", func() {
	DescribeTable("hide all mailbox traffic and all replies from a watcher of", // fault kind 33
		func(pattern, queue string) {
			spy := broker.Connect()
			feed := spy.Work(pattern, queue)
			refused := strings.HasPrefix(pattern, "$mq9")
			if refused {
				Eventually(spy.Errors).Should(ConsistOf(ContainSubstring("403")))
			}

			agent := broker.Connect()
			id := agent.Private()
			reader := agent.Mailbox(id)
			worker := agent.Work(harness.Send+id+".*", "w")
			msgID := agent.Send(id+critical, "secret")
			agent.Publish(id, "secret")
			agent.Sync()
			Eventually(reader.Count).Should(Equal(2))
			Eventually(worker.Count).Should(Equal(2))
			agent.Stored(id)
			agent.Delete(id, msgID)
			Expect(reader.Messages()[1].Respond(nil)).To(Succeed())
			agent.Refused(harness.Send+"no.such.mailbox", "")
			agent.Sync()

			// What the spy saw of other specs' plain traffic does not matter; what it saw of this one's mailbox would.
			Consistently(func() string {
				var all strings.Builder
				for _, m := range feed.Messages() {
					all.WriteString(m.Subject + " " + m.Reply + " " + string(m.Data) + "\n")
				}
				return all.String()
			}).ShouldNot(Or(ContainSubstring(id), ContainSubstring("secret"), ContainSubstring("mq9"), ContainSubstring("msg_id")))
		},
		Entry("everything", ">", ""),
		Entry("everything, in a queue group", ">", "spies"),
		Entry("all inboxes", "_INBOX.>", ""),
		Entry("all inboxes, in a queue group", "_INBOX.>", "spies"),
		Entry("subjects of the same shape", "*.AI.>", ""),
		Entry("subjects of the same shape, token by token", "*.*.*.*.*", ""),
		Entry("all of mq9", "$mq9.>", ""),
		Entry("all mailboxes", "$mq9.AI.MAILBOX.MSG.>", ""),
		Entry("all mailboxes, in the group of its workers", "$mq9.AI.MAILBOX.MSG.>", "w"),
		Entry("all requests", "$mq9.AI.MAILBOX.*", ""),
	)

	It("are not told to one who guesses: a refusal names no mailbox that the asker did not name", func() {
		agent := broker.Connect()
		id := agent.Private()
		for _, subject := range []string{"$mq9.AI.MAILBOX.MSG." + id[:35], "$mq9.AI.MAILBOX.LIST.x", "$mq9.AI.MAILBOX.MSG." + strings.ToUpper(id)} {
			Expect(agent.Refused(subject, "").Error).NotTo(ContainSubstring(id))
		}
	})

	It("have one spelling: a private address in capitals is no address", func() {
		agent := broker.Connect()
		id := agent.Private()
		Expect(agent.Refused(harness.Send+strings.ToUpper(id), "x").Code).To(BeElementOf(400, 404))
		Expect(agent.Stored(id)).To(BeEmpty())
	})

	DescribeTable("of the broker cannot be forged by a sender, in any letter case, once or repeatedly", // fault kind 34
		func(lines string) {
			agent := broker.Connect()
			id := agent.Private()
			feed := agent.Mailbox(id)
			raw := broker.DialConnected()
			raw.Say(hpub(harness.Send+id+urgent, "NATS/1.0\r\nKeep: me\r\n"+lines+"\r\n", "x"))
			Expect(raw.Sync()).To(BeEmpty())
			late := broker.Connect()
			for _, f := range []*harness.Feed{feed, late.Mailbox(id)} {
				Eventually(f.Count).Should(Equal(1))
				m := f.Messages()[0]
				Expect(m.Header.Values("Mq9-Msg-Id")).To(Equal([]string{harness.MsgID(m)}))
				Expect(m.Header.Values("Mq9-Timestamp")).To(HaveLen(1))
				Expect(m.Header.Values("Keep")).To(Equal([]string{"me"}))
				for key, values := range m.Header {
					if strings.HasPrefix(strings.ToLower(key), "mq9-") {
						Expect(key).To(BeElementOf("Mq9-Msg-Id", "Mq9-Timestamp"))
						Expect(values).NotTo(ContainElement(ContainSubstring("forged")))
					}
				}
			}
		},
		Entry("as the broker writes them", "Mq9-Msg-Id: forged\r\n"),
		Entry("in capitals", "MQ9-MSG-ID: forged\r\nMQ9-TIMESTAMP: forged\r\n"),
		Entry("in small letters", "mq9-msg-id: forged\r\nmq9-timestamp: forged\r\n"),
		Entry("mixed", "mQ9-mSG-iD: forged\r\n"),
		Entry("repeated", "Mq9-Msg-Id: forged\r\nMq9-Msg-Id: forged\r\nMq9-Timestamp: forged\r\n"),
		Entry("of the broker's future", "Mq9-Anything: forged\r\n"),
	)

	DescribeTable("are not let in by header lines that clients read differently: the message is refused",
		func(lines string) {
			agent := broker.Connect()
			id := agent.Private()
			raw := broker.DialConnected()
			raw.Say(hpub(harness.Send+id, lines+"\r\n", "x"))
			frames := raw.Sync()
			Expect(frames).To(HaveLen(1))
			Expect(frames[0].Args).To(And(ContainSubstring("Permissions Violation for Publish"), ContainSubstring(": 400 ")))
			Expect(agent.Stored(id)).To(BeEmpty())
		},
		Entry("a blank before the colon", "NATS/1.0\r\nMq9-Msg-Id : forged\r\n"),
		Entry("a continuation line", "NATS/1.0\r\nA: 1\r\n Mq9-Msg-Id: forged\r\n"),
		Entry("a bare carriage return", "NATS/1.0\r\nA: 1\rMq9-Msg-Id: forged\r\n"),
		Entry("a bare line feed", "NATS/1.0\r\nA: 1\nMq9-Msg-Id: forged\r\n"),
		Entry("an early end", "NATS/1.0\r\nA: 1\r\n\r\nMq9-Msg-Id: forged\r\n"),
		Entry("no version", "A: 1\r\nMq9-Msg-Id: forged\r\n"),
		Entry("another version", "HTTP/1.1\r\nMq9-Msg-Id: forged\r\n"),
	)

	It("are not in the subject of a plain publish to the address without the prefix", func() {
		agent, spy := broker.Connect(), broker.Connect()
		id := agent.Private()
		feed := spy.Watch("MSG." + id)
		agent.Send(id, "x")
		Consistently(feed.Count).Should(BeZero())
		Expect(agent.LastError()).NotTo(HaveOccurred())
		Expect(spy.Status()).To(Equal(nats.CONNECTED))
	})
})
