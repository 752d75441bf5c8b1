package specs_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 2 and the wire kinds: what the bytes of mq9 operations may look like.
var _ = Describe("The wire", func() {
	var (
		agent *harness.Client
		id    string
		raw   *harness.Raw
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
		raw = broker.DialConnected()
		Expect(raw.SetNoDelay(true)).To(Succeed())
	})

	It("takes a conversation that is split at every byte", func() { // fault kind 23
		to := harness.Send + id
		talk := "SUB " + to + ".* 1\r\nPUB " + to + " 3\r\nabc\r\nHPUB " + to + ".urgent 12 15\r\nNATS/1.0\r\n\r\nxyz\r\nPING\r\n"
		for i := range len(talk) {
			raw.Say(talk[i : i+1])
		}
		Eventually(func() []string { return broker.Connect().Stored(id) }).Should(HaveLen(2))
		payloads := []string{raw.Next().Payload}
		for len(payloads) < 2 {
			if f := raw.Next(); f.Op == "HMSG" {
				payloads = append(payloads, f.Payload)
			}
		}
		Expect(payloads).To(ConsistOf("abc", "xyz"))
	})

	It("takes a conversation cut in two at any byte", func() {
		to := harness.Send + id
		talk := "PUB " + to + " 3\r\nabc\r\nHPUB " + to + " 12 15\r\nNATS/1.0\r\n\r\nxyz\r\nPUB other 1\r\n.\r\n"
		for cut := 1; cut < len(talk); cut++ {
			raw.Say(talk[:cut])
			raw.Say(talk[cut:])
		}
		Expect(raw.Sync()).To(BeEmpty())
		Expect(agent.Stored(id)).To(HaveLen(2 * (len(talk) - 1)))
	})

	It("takes many commands in one packet, plain ones and mq9 ones mixed", func() {
		var talk strings.Builder
		talk.WriteString("SUB plain 1\r\n")
		for i := range 500 {
			fmt.Fprintf(&talk, "PUB %s%s 4\r\n%04d\r\nPUB plain 4\r\n%04d\r\n", harness.Send, id, i, i)
		}
		raw.Say(talk.String())
		frames := raw.Sync()
		Expect(frames).To(HaveLen(500))
		for i, f := range frames {
			Expect(f.Payload).To(Equal(fmt.Sprintf("%04d", i)))
		}
		Expect(agent.Stored(id)).To(HaveLen(500))
	})

	It("takes verbs in any letter case, tabs and repeated blanks", func() {
		to := harness.Send + id
		raw.Say("sub " + to + " 1\r\n")
		raw.Say("pub " + to + " 1\r\na\r\n")
		raw.Say("Pub\t" + to + "\t1\r\nb\r\n")
		raw.Say("PUB   " + to + "   1  \r\nc\r\n")
		raw.Say("hPub " + to + " 12 13\r\nNATS/1.0\r\n\r\nd\r\n")
		for _, want := range []string{"a", "b", "c", "d"} {
			Expect(raw.Next().Payload).To(Equal(want))
		}
		raw.Say("unsub\t1\r\nping\r\n")
		Expect(raw.Next().Op).To(Equal("PONG"))
		agent.Send(id, "after")
		Expect(raw.Silent(100 * time.Millisecond)).To(BeTrue())
	})

	It("acts on no mq9 frame before CONNECT was accepted", func() {
		for _, connect := range []string{"", "CONNECT {broken\r\n"} {
			early := broker.Dial()
			early.Say(connect + "PUB " + harness.Send + id + " 1\r\nx\r\nSUB " + harness.Send + id + " 1\r\nPING\r\n")
			for _, f := range early.Until("PONG") {
				Expect(f.Op).To(BeElementOf("-ERR", "PONG", harness.EOF), "%q", connect)
			}
			Expect(agent.Stored(id)).To(BeEmpty())
		}
	})

	DescribeTable("with verbose on, answers each CONNECT, PUB, SUB and UNSUB with exactly one +OK, mq9 or not", // fault kind 28
		func(connect string) {
			talker := broker.Dial()
			talker.Say(connect)
			Expect(talker.Next().Op).To(Equal("+OK"))
			for _, op := range []string{
				"SUB " + harness.Send + id + ".urgent 1\r\n",
				"SUB plain 2\r\n",
				"PUB " + harness.Send + id + " 1\r\nx\r\n",
				"HPUB " + harness.Send + id + " 12 13\r\nNATS/1.0\r\n\r\nx\r\n",
				"PUB other 1\r\nx\r\n",
				"UNSUB 1\r\n",
				"UNSUB 2\r\n",
				"UNSUB 77\r\n",
			} {
				talker.Say(op)
				Expect(talker.Sync()).To(Equal([]harness.Frame{{Op: "+OK"}}), op)
			}
		},
		Entry("verbose", `CONNECT {"verbose":true,"pedantic":false,"headers":true}`+"\r\n"),
		Entry("verbose and pedantic", `CONNECT {"verbose":true,"pedantic":true,"headers":true}`+"\r\n"),
	)

	It("keeps the +OKs in the order of the operations", func() {
		talker := broker.Dial()
		talker.Say(`CONNECT {"verbose":true,"headers":true}` + "\r\nSUB echo 1\r\n")
		talker.Say("PUB " + harness.Send + id + " 1\r\nx\r\nPUB echo 1\r\ny\r\nPUB " + harness.Send + id + " 1\r\nz\r\nPING\r\n")
		ops := map[string]int{}
		for _, f := range talker.Until("PONG") {
			ops[f.Op]++
		}
		Expect(ops).To(Equal(map[string]int{"+OK": 5, "MSG": 1, "PONG": 1}))
	})

	It("lets pedantic connections use every mq9 subject", func() {
		strict := broker.Dial()
		strict.Say(`CONNECT {"verbose":false,"pedantic":true,"headers":true}` + "\r\n")
		strict.Say("SUB " + harness.Send + id + ".* 1\r\n")
		strict.Pub(harness.Send+id+critical, "x")
		Expect(strict.Next().Payload).To(Equal("x"))
	})

	It("lets two connections use the same sids and the same inbox without disturbing each other", func() { // fault kind 32
		a, b := broker.DialConnected(), broker.DialConnected()
		other := agent.Private()
		a.Say("SUB " + harness.Send + id + " 1\r\nSUB _INBOX.same 2\r\n")
		b.Say("SUB " + harness.Send + other + " 1\r\nSUB _INBOX.same 2\r\n")
		Expect(a.Sync()).To(BeEmpty())
		Expect(b.Sync()).To(BeEmpty())

		a.Pub(harness.ListOf+id+" _INBOX.same", "")
		b.Pub(harness.ListOf+other+" _INBOX.same", "")
		Expect(a.Next().Payload).To(ContainSubstring(id))
		Expect(b.Next().Payload).To(ContainSubstring(other))

		agent.Send(id, "for a")
		agent.Send(other, "for b")
		Expect(a.Next().Payload).To(Equal("for a"))
		Expect(b.Next().Payload).To(Equal("for b"))
		a.Say("UNSUB 1\r\n")
		Expect(a.Sync()).To(BeEmpty())
		agent.Send(other, "still for b")
		Expect(b.Next().Payload).To(Equal("still for b"))
		Expect(a.Silent(100 * time.Millisecond)).To(BeTrue())
	})

	It("sends a reply to an inbox of the same connection exactly once, on the sid that holds it", func() {
		raw.Say("SUB _INBOX.me.* 5\r\n")
		raw.Pub(harness.ListOf+id+" _INBOX.me.1", "")
		f := raw.Next()
		Expect(f.Op).To(Equal("MSG"))
		Expect(strings.Fields(f.Args)[:2]).To(Equal([]string{"_INBOX.me.1", "5"}))
		Expect(raw.Sync()).To(BeEmpty())
		Expect(raw.Silent(100 * time.Millisecond)).To(BeTrue())
	})

	It("sends a reply to every sid of the connection that holds the inbox", func() {
		raw.Say("SUB _INBOX.d 1\r\nSUB _INBOX.* 2\r\n")
		raw.Pub(harness.ListOf+id+" _INBOX.d", "")
		sids := map[string]int{}
		for range 2 {
			f := raw.Next()
			Expect(f.Op).To(Equal("MSG"))
			sids[strings.Fields(f.Args)[1]]++
		}
		Expect(sids).To(Equal(map[string]int{"1": 1, "2": 1}))
		Expect(raw.Sync()).To(BeEmpty())
	})

	It("sends a reply to one member of a queue group that holds the inbox", func() {
		raw.Say("SUB _INBOX.q group 1\r\nSUB _INBOX.q group 2\r\n")
		raw.Pub(harness.ListOf+id+" _INBOX.q", "")
		Expect(raw.Next().Payload).To(ContainSubstring(`"messages"`))
		Expect(raw.Silent(100 * time.Millisecond)).To(BeTrue())
	})

	It("is not upset by a reply subject that makes no sense", func() {
		for _, reply := range []string{">", "a.*.b", "..", harness.Create, "$SYS.REQ.SERVER.PING"} {
			raw.Pub(harness.ListOf+id+" "+reply, "")
		}
		agent.Send(id, "fine")
		Expect(agent.Stored(id)).To(HaveLen(1))
	})

	It("carries messages as big as max_payload allows, to single readers and to queue groups", func() {
		big := strings.Repeat("b", 1<<20)
		for range 3 {
			agent.Publish(id+urgent, big)
		}
		agent.Sync()
		one, worker := broker.Connect().Mailbox(id), broker.Connect().Work(harness.Send+id+".*", "w")
		for _, feed := range []*harness.Feed{one, worker} {
			Eventually(feed.Payloads).Should(HaveExactElements(HaveLen(1<<20), HaveLen(1<<20), HaveLen(1<<20)))
		}
	})

	It("lets a SUB see what was published before it on the same connection", func() {
		raw.Say("PUB " + harness.Send + id + critical + " 1\r\na\r\nSUB " + harness.Send + id + ".* 1\r\nPUB " + harness.Send + id + critical + " 1\r\nb\r\n")
		Expect(raw.Next().Payload).To(Equal("a"))
		Expect(raw.Next().Payload).To(Equal("b"))
		Expect(raw.Sync()).To(BeEmpty())
	})

	It("honours UNSUB max 1 on an inbox, as clients of the old request style ask for", func() {
		raw.Say("SUB _INBOX.old 6\r\nUNSUB 6 1\r\n")
		raw.Pub(harness.ListOf+id+" _INBOX.old", "")
		Expect(raw.Next().Payload).To(ContainSubstring(`"messages"`))
		raw.Pub(harness.ListOf+id+" _INBOX.old", "")
		Expect(raw.Sync()).To(BeEmpty(), "the inbox is used up")
	})

	It("publishes a reply to an inbox that another connection holds", func() {
		raw.Say("SUB somebody.elses 1\r\n")
		Expect(raw.Sync()).To(BeEmpty())
		Expect(agent.PublishRequest(harness.ListOf+id, "somebody.elses", nil)).To(Succeed())
		Expect(raw.Next().Payload).To(ContainSubstring(id))
	})

	It("ignores an UNSUB of a sid that was refused or never was", func() {
		raw.Say("SUB " + harness.Send + "> 3\r\n")
		frames := raw.Sync()
		Expect(frames).To(HaveLen(1))
		Expect(frames[0].Op).To(Equal("-ERR"))
		raw.Say("UNSUB 3\r\nUNSUB 4444\r\nUNSUB 3 10\r\n")
		Expect(raw.Sync()).To(BeEmpty())
	})
})
