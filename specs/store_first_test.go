package specs_test

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 5.
var _ = Describe("Store first, then push", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	It("keeps what is sent while nobody is there, and gives it to whoever subscribes", func() {
		agent.Send(id, "while you were out")
		agent.Close()
		Eventually(broker.Connect().Mailbox(id).Payloads).Should(Equal([]string{"while you were out"}))
	})

	It("pushes at once to those who are there, and stores all the same", func() {
		feed := broker.Connect().Mailbox(id)
		msgID := agent.Send(id, "now")
		Eventually(feed.IDs).Should(Equal([]string{msgID}))
		Expect(agent.Stored(id)).To(Equal([]string{msgID}))
	})

	DescribeTable("answers a message sent as a request with its msg_id, once the tier holds it",
		func(suffix string) {
			msgID := agent.Send(id+suffix, "x")
			Expect(broker.Connect().Stored(id)).To(Equal([]string{msgID}))
		},
		Entry("critical", critical), Entry("urgent", urgent), Entry("normal", ""))

	It("makes a flush a barrier: what was published before it is stored", func() {
		for round := 1; round <= 5; round++ {
			agent.Publish(id+critical, numbered("c", 40)...)
			agent.Publish(id, numbered("n", 40)...)
			agent.Sync()
			Expect(broker.Connect().Stored(id)).To(HaveLen(80 * round))
		}
	})

	It("lets one connection see its own operations in the order it sent them", func() {
		for i := range 20 {
			agent.Publish(id+[]string{"", urgent, critical}[i%3], "x")
			ids := agent.Stored(id)
			Expect(ids).To(HaveLen(1))
			Expect(agent.Conn.Publish(harness.Delete+id+"."+ids[0], nil)).To(Succeed())
			Expect(agent.Stored(id)).To(BeEmpty())
		}
	})

	DescribeTable("loses nothing and repeats nothing at the boundary between stored and live", // fault kind 9
		func(stored int) {
			agent.Publish(id+urgent, numbered("stored", stored)...)
			agent.Sync()

			const senders, perSender = 3, 200
			half := make(chan struct{}, senders)
			var sending sync.WaitGroup
			for s := range senders {
				sender, to := broker.Connect(), id+[]string{critical, urgent, ""}[s]
				sending.Go(func() {
					defer GinkgoRecover()
					for i := range perSender {
						if i == perSender/4 {
							half <- struct{}{}
						}
						sender.Publish(to, fmt.Sprintf("s%d-%d", s, i))
						if i%10 == 9 {
							sender.Sync() // so that the sending takes time and subscribers come in the midst of it
						}
					}
					sender.Sync()
				})
			}
			<-half
			feeds := []*harness.Feed{}
			for range 8 {
				feeds = append(feeds, broker.Connect().Mailbox(id))
			}
			sending.Wait()

			total := stored + senders*perSender
			for _, feed := range feeds {
				Eventually(feed.Count).Should(Equal(total))
			}
			Consistently(func() bool {
				for _, feed := range feeds {
					if feed.Count() != total {
						return false
					}
				}
				return true
			}).Should(BeTrue())
			for _, feed := range feeds {
				assertInOrder(feed, total)
			}
		},
		Entry("an empty mailbox", 0), Entry("one message", 1),
		Entry("a batch less one", 63), Entry("a batch", 64), Entry("a batch and one", 65),
		Entry("a big batch less one", 255), Entry("a big batch", 256), Entry("a big batch and one", 257),
		Entry("a page", 1000),
	)

	DescribeTable("delivers a payload byte for byte, stored and live", // fault kind 31
		func(payload string) {
			live := agent.Mailbox(id)
			agent.Publish(id, payload)
			agent.Publish(id+critical, payload)
			Eventually(live.Payloads).Should(Equal([]string{payload, payload}))
			Eventually(broker.Connect().Mailbox(id).Payloads).Should(Equal([]string{payload, payload}))
			for _, m := range agent.List(id, "").Messages {
				Expect(m.Size).To(Equal(len(payload)))
			}
		},
		Entry("empty", ""),
		Entry("every byte value", allBytes()),
		Entry("what looks like a frame", "\r\nMSG x 1 1\r\n"),
		Entry("what is not UTF-8", "\xff\xfe\x80"),
		Entry("a line end", "\r\n"),
		Entry("half a megabyte", strings.Repeat("m", 512<<10)),
	)
})

var _ = Describe("A delivered message", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	It("carries its id and the time of its acceptance in headers", func() {
		before := time.Now().Add(-time.Second)
		feed := agent.Mailbox(id)
		msgID := agent.Send(id, "x")
		Eventually(feed.Count).Should(Equal(1))
		m := feed.Messages()[0]
		Expect(m.Header.Values("Mq9-Msg-Id")).To(Equal([]string{msgID}))
		Expect(m.Header.Values("Mq9-Timestamp")).To(HaveLen(1))
		at, err := time.Parse(time.RFC3339Nano, m.Header.Get("Mq9-Timestamp"))
		Expect(err).NotTo(HaveOccurred())
		Expect(at).To(And(BeTemporally(">=", before), BeTemporally("<=", time.Now().Add(time.Second))))
		Expect(m.Header.Get("Mq9-Timestamp")).To(HaveSuffix("Z"), "the time is UTC")
	})

	It("keeps its sender's headers, in order and repeated as they were", func() {
		sender := broker.DialConnected()
		header := "NATS/1.0\r\nTrace: 1\r\nB: two\r\nA: one\r\nTrace: 2\r\nempty:\r\n\r\n"
		sender.Say(fmt.Sprintf("HPUB %s%s %d %d\r\n%sbody\r\n", harness.Send, id, len(header), len(header)+4, header))
		Expect(sender.Sync()).To(BeEmpty())
		reader := broker.DialConnected()
		reader.Say("SUB " + harness.Send + id + " 7\r\n")
		f := reader.Next()
		Expect(f.Op).To(Equal("HMSG"))
		Expect(f.Payload).To(Equal("body"))
		Expect(f.Header).To(ContainSubstring("Trace: 1\r\nB: two\r\nA: one\r\nTrace: 2\r\nempty:\r\n"))
		Expect(f.Header).To(HaveSuffix("\r\n\r\n"))
	})

	It("has the subject that deletes it for its reply subject, so that responding to it deletes it", func() {
		feed := agent.Mailbox(id)
		msgID := agent.Send(id+urgent, "task")
		Eventually(feed.Count).Should(Equal(1))
		m := feed.Messages()[0]
		Expect(m.Reply).To(Equal(harness.Delete + id + "." + msgID))
		Expect(m.Respond([]byte("a body is ignored"))).To(Succeed())
		Expect(agent.Stored(id)).To(BeEmpty())
	})

	It("is deleted by a response that echoes headers too", func() {
		feed := agent.Mailbox(id)
		agent.Send(id, "task")
		Eventually(feed.Count).Should(Equal(1))
		m := feed.Messages()[0]
		Expect(m.RespondMsg(&nats.Msg{Header: m.Header, Data: m.Data})).To(Succeed())
		Expect(agent.Stored(id)).To(BeEmpty())
	})

	It("reaches its own sender, even one that asked for no echo", func() {
		quiet := broker.Connect(nats.NoEcho())
		feed := quiet.Mailbox(id)
		quiet.Publish(id, "to myself")
		Eventually(feed.Payloads).Should(Equal([]string{"to myself"}))
	})

	It("reaches a client without headers as a plain message, with the id in the reply subject", func() {
		msgID := agent.Send(id+critical, "plain")
		r := broker.Dial()
		r.Say(`CONNECT {"verbose":false,"headers":false}` + "\r\n")
		r.Say("SUB " + harness.Send + id + ".* 1\r\n")
		Expect(r.Next()).To(Equal(harness.Frame{
			Op: "MSG", Payload: "plain",
			Args: fmt.Sprintf("%s%s.critical 1 %s%s.%s 5", harness.Send, id, harness.Delete, id, msgID),
		}))
	})
})

// allBytes is every byte value once.
func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

// assertInOrder checks that a feed holds total different messages, each sender's in the order it sent them.
func assertInOrder(feed *harness.Feed, total int) {
	GinkgoHelper()
	seen, last := map[string]bool{}, map[string]string{}
	for _, m := range feed.Messages() {
		payload, msgID := string(m.Data), harness.MsgID(m)
		Expect(seen[payload]).To(BeFalse(), "%s came twice", payload)
		seen[payload] = true
		Expect(msgID > last[m.Subject]).To(BeTrue(), "%s is out of order within its priority", payload)
		last[m.Subject] = msgID
	}
	Expect(seen).To(HaveLen(total))
}
