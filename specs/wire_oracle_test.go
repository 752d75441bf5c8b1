package specs_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// headerOf is a header block of about n bytes.
func headerOf(n int) string { return "NATS/1.0\r\nK: " + strings.Repeat("v", n) + "\r\n\r\n" }

// hpub is a well-formed HPUB.
func hpub(subject, header, body string) string {
	return fmt.Sprintf("HPUB %s %d %d\r\n%s%s\r\n", subject, len(header), len(header)+len(body), header, body)
}

// The rules that the broker shares with nats-server: the same bytes go to both, and both must say the same.
var _ = Describe("The wire, beside a stock nats-server", func() {
	const verbose = `CONNECT {"verbose":true,"pedantic":false,"headers":true,"no_responders":true}` + "\r\n"

	DescribeTable("says the same",
		func(pongs int, parts ...string) {
			want := harness.Transcript(harness.Oracle(), pongs, parts...)
			Expect(harness.Transcript(broker.Addr, pongs, parts...)).To(Equal(want))
		},
		Entry("to plain publish and subscribe", 0, harness.Ordinary, "SUB a 1\r\nPUB a 3\r\nabc\r\n"),
		Entry("to reply subjects", 0, harness.Ordinary, "SUB a 1\r\nPUB a answer.here 0\r\n\r\n"),
		Entry("to headers", 0, harness.Ordinary, "SUB a 1\r\n", hpub("a", headerOf(10), "body")),
		Entry("to repeated header keys", 0, harness.Ordinary, "SUB a 1\r\n", hpub("a", "NATS/1.0\r\nK: 1\r\nK: 2\r\nk: 3\r\n\r\n", "body")),
		Entry("to a header block of 70 KB", 0, harness.Ordinary, "SUB a 1\r\n", hpub("a", headerOf(70<<10), "body")), // fault kind 25
		Entry("to headers without NATS/1.0", 0, harness.Ordinary, "SUB a 1\r\n", hpub("a", "HTTP/1.0\r\n\r\n", "body")),
		Entry("to lower-case verbs", 1, "connect {}\r\n", "sub a 1\r\npub a 1\r\nx\r\nunsub 1\r\nping\r\n"),
		Entry("to tabs", 0, harness.Ordinary, "SUB\ta\t1\r\nPUB\ta\t1\r\nx\r\n"),
		Entry("to operations before CONNECT", 1, "PING\r\nSUB a 1\r\nPUB a 1\r\nx\r\n"),
		Entry("to a second CONNECT that turns verbose on", 0, harness.Ordinary, "SUB a 1\r\n", verbose, "PUB a 1\r\nx\r\n"),
		Entry("to a connection without echo", 0, `CONNECT {"verbose":false,"echo":false}`+"\r\n", "SUB a 1\r\nPUB a 1\r\nx\r\n"),
		Entry("to a pedantic connection's bad subjects", 0, `CONNECT {"verbose":false,"pedantic":true}`+"\r\n", "PUB a.*.b 1\r\nx\r\nSUB a..b 1\r\n"),
		Entry("to what servers send: +OK", 0, harness.Ordinary, "+OK\r\n"),
		Entry("to what servers send: -ERR", 0, harness.Ordinary, "-ERR 'x'\r\n"),
		Entry("to what servers send: INFO", 0, harness.Ordinary, "INFO {}\r\n"),
		Entry("to what servers send: MSG", 0, harness.Ordinary, "MSG a 1 1\r\nx\r\n"),
		Entry("to an empty line", 0, harness.Ordinary, "\r\n"),
		Entry("to a blank before a verb", 0, harness.Ordinary, " SUB a 1\r\n"),
		Entry("to sizes with leading zeros", 0, harness.Ordinary, "SUB a 1\r\nPUB a 0003\r\nabc\r\n"),
		Entry("to sizes with a sign", 0, harness.Ordinary, "PUB a +3\r\nabc\r\n"),
		Entry("to an UNSUB without sid", 0, harness.Ordinary, "UNSUB\r\n"),
		Entry("to an UNSUB with a max that is no number", 0, harness.Ordinary, "SUB a 1\r\nUNSUB 1 x\r\nPUB a 1\r\nx\r\n"),
		Entry("to an UNSUB with a negative max", 0, harness.Ordinary, "SUB a 1\r\nUNSUB 1 -5\r\nPUB a 1\r\nx\r\n"),
		Entry("to an UNSUB with too many arguments", 0, harness.Ordinary, "SUB a 1\r\nUNSUB 1 2 3\r\n"),
		Entry("to a sid that is a word", 0, harness.Ordinary, "SUB a word\r\nPUB a 1\r\nx\r\n"),
		Entry("to a sid that is used twice", 0, harness.Ordinary, "SUB a 1\r\nSUB a 1\r\nPUB a 1\r\nx\r\n"),
		Entry("to a verb that is cut off by another", 0, harness.Ordinary, "PUPUB a 1\r\nx\r\n"),
		Entry("to a bare line feed", 1, harness.Ordinary, "SUB a 1\nPING\n"),
		Entry("to verbose operations", 0, verbose, "SUB a 1\r\nPUB a 1\r\nx\r\nUNSUB 1\r\n"), // fault kind 28
		Entry("to UNSUB max", 0, harness.Ordinary, "SUB a 1\r\nUNSUB 1 2\r\n", strings.Repeat("PUB a 1\r\nx\r\n", 3)),
		Entry("to a request that nobody answers", 0, harness.Ordinary, "SUB inbox 1\r\nPUB nobody inbox 0\r\n\r\n"), // fault kind 30
		Entry("to an unknown verb", 0, harness.Ordinary, "FROBNICATE 1\r\n"),                                        // fault kind 23
		Entry("to HTTP", 0, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		Entry("to SSH", 0, "SSH-2.0-OpenSSH_9.2\r\n"),
		Entry("to TLS", 0, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
		Entry("to broken CONNECT JSON", 0, "CONNECT {broken\r\n"),
		Entry("to a PUB without size", 0, harness.Ordinary, "PUB a\r\n"),
		Entry("to a PUB with too many arguments", 0, harness.Ordinary, "PUB a b c 1\r\nx\r\n"),
		Entry("to a PUB with a size that is no number", 0, harness.Ordinary, "PUB a x\r\n\r\n"),
		Entry("to a PUB with a negative size", 0, harness.Ordinary, "PUB a -1\r\n\r\n"),
		Entry("to a PUB with a huge size", 0, harness.Ordinary, "PUB a 99999999999999999999\r\n"),
		Entry("to a PUB over max_payload", 0, harness.Ordinary, "PUB a 1048577\r\n"),
		Entry("to a payload longer than said", 0, harness.Ordinary, "PUB a 1\r\nxxx\r\n"),
		Entry("to a HPUB with a header longer than all", 0, harness.Ordinary, "HPUB a 20 10\r\nNATS/1.0\r\n\r\n\r\n"), // fault kind 25
		Entry("to a HPUB with a negative header", 0, harness.Ordinary, "HPUB a -1 10\r\nNATS/1.0\r\n\r\n\r\n"),
		Entry("to a HPUB with huge numbers", 0, harness.Ordinary, "HPUB a 99999999999999999999 99999999999999999999\r\n"),
		Entry("to a HPUB over max_payload", 0, harness.Ordinary, "HPUB a 12 1048577\r\n"),
		Entry("to a SUB without sid", 0, harness.Ordinary, "SUB a\r\n"),
		Entry("to a SUB with too many arguments", 0, harness.Ordinary, "SUB a b c d\r\n"),
		Entry("to an invalid subject", 0, harness.Ordinary, "SUB a..b 1\r\n"),
		Entry("to a control line over the limit", 0, harness.Ordinary, "SUB "+strings.Repeat("a", 5000)+" 1\r\n"),
	)

	It("says the same to malformed mq9 frames as to malformed plain ones", func() { // fault kind 25
		id := broker.Connect().Private()
		oracle := harness.Oracle()
		for _, frame := range []string{
			"PUB %s\r\n",
			"PUB %s x\r\n\r\n",
			"PUB %s -1\r\n\r\n",
			"PUB %s 99999999999999999999\r\n",
			"PUB %s a b 1\r\nx\r\n",
			"PUB %s 1\r\nxxx\r\n",
			"HPUB %s 20 10\r\nNATS/1.0\r\n\r\n\r\n",
			"HPUB %s -1 10\r\nNATS/1.0\r\n\r\n\r\n",
			"HPUB %s 99999999999999999999 99999999999999999999\r\n",
			"SUB %s\r\n",
			"SUB %s a b c\r\n",
			"SUB %s 1\r\nUNSUB 1 x\r\nUNSUB 1\r\n",
			"SUB %s 1\r\nUNSUB 1 2 3\r\n",
			"SUB %s 1\r\nUNSUB\r\n",
			"PUB %s +3\r\nabc\r\n",
			"PUB %s 3\r\nabc",
			"HPUB %s 12\r\n",
			"HPUB %s x y z 12 13\r\nNATS/1.0\r\n\r\nx\r\n",
		} {
			// The transcripts may name what was parsed; the subject is told apart, the rest must be the same.
			hide := func(lines []string, subject string) string {
				return strings.ReplaceAll(strings.Join(lines, "\n"), subject, "<subject>")
			}
			plain, subject := "a.plain.subject", harness.Send+id
			want := hide(harness.Transcript(oracle, 0, harness.Ordinary, fmt.Sprintf(frame, plain)), plain)
			got := hide(harness.Transcript(broker.Addr, 0, harness.Ordinary, fmt.Sprintf(frame, subject)), subject)
			Expect(got).To(Equal(want), frame)
		}
		Expect(broker.Connect().Stored(id)).To(BeEmpty())
	})

	It("says the same to a HPUB of a connection that declared no headers", func() {
		const bare = `CONNECT {"verbose":false,"headers":false}` + "\r\n"
		id := broker.Connect().Private()
		want := harness.Transcript(harness.Oracle(), 0, bare, hpub("a", headerOf(1), "x"))
		Expect(harness.Transcript(broker.Addr, 0, bare, hpub("a", headerOf(1), "x"))).To(Equal(want))
		Expect(harness.Transcript(broker.Addr, 0, bare, hpub(harness.Send+id, headerOf(1), "x"))).To(Equal(want))
		Expect(broker.Connect().Stored(id)).To(BeEmpty())
	})

	It("stores a message with a header block of 70 KB", func() { // fault kind 25
		agent := broker.Connect()
		id := agent.Private()
		raw := broker.DialConnected()
		raw.Say(hpub(harness.Send+id+critical, headerOf(70<<10), "body"))
		Expect(raw.Sync()).To(BeEmpty())
		feed := agent.Mailbox(id)
		Eventually(feed.Payloads).Should(Equal([]string{"body"}))
		Expect(feed.Messages()[0].Header.Get("K")).To(HaveLen(70 << 10))
	})

	It("bounds a control line that never ends, for mq9 subjects too", func() { // fault kind 24
		before := broker.Memory()
		for _, start := range []string{"", "PUB ", "SUB " + harness.Send, "PUB " + harness.Send} {
			raw := broker.Dial()
			raw.Say(harness.Ordinary)
			Expect(raw.Sync()).To(BeEmpty())
			raw.Say(start)
			chunk := strings.Repeat("x", 64<<10)
			var sent int
			for sent < 64<<20 {
				Expect(raw.SetWriteDeadline(time.Now().Add(requestTimeout))).To(Succeed())
				n, err := raw.Write([]byte(chunk))
				sent += n
				if err != nil {
					break
				}
			}
			Expect(sent).To(BeNumerically("<", 64<<20), "the broker hangs up on %q", start)
		}
		Expect(broker.Memory()-before).To(BeNumerically("<", 100<<20), "and its memory stays flat")
	})

	It("is not disturbed by a port scan: connections that say nothing, or half a frame, and go", func() {
		agent := broker.Connect()
		id := agent.Private()
		for _, half := range []string{"", "C", "CONNECT {}\r\nPUB " + harness.Send + id + " 10\r\nhalf", "CONNECT {}\r\nPI"} {
			conn, err := net.Dial("tcp", broker.Addr)
			Expect(err).NotTo(HaveOccurred())
			_, err = io.WriteString(conn, half)
			Expect(err).NotTo(HaveOccurred())
			Expect(conn.Close()).To(Succeed())
		}
		agent.Send(id, "alive")
		Expect(agent.Stored(id)).To(HaveLen(1))
	})
})
