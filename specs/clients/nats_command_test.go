package clients_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("The nats command", func() {
	// create makes a mailbox and returns its address.
	create := func(body string) string {
		GinkgoHelper()
		var reply harness.Created
		out := typed(fmt.Sprintf(`nats req --raw '%s' '%s'`, harness.Create, body))
		Expect(json.Unmarshal([]byte(out), &reply)).To(Succeed(), out)
		Expect(reply.IsNew).To(BeTrue())
		return reply.MailID
	}

	It("sends to an agent that is away, which finds everything in order when it comes", func() {
		id := create(`{"ttl":600}`)
		typed(fmt.Sprintf(`nats pub '%s%s' 'a task'`, harness.Send, id))
		typed(fmt.Sprintf(`nats pub '%s%s.urgent' 'a change'`, harness.Send, id))
		typed(fmt.Sprintf(`nats req '%s%s.critical' 'stop'`, harness.Send, id))
		out := typed(fmt.Sprintf(`nats sub --raw --count 3 '%s%s.*'`, harness.Send, id))
		Expect(strings.Fields(out)).To(Equal([]string{"stop", "a", "change", "a", "task"}))
	})

	It("shows id and time of a message, and the subject that deletes it", func() {
		id := create(`{"ttl":600}`)
		typed(fmt.Sprintf(`nats pub '%s%s' 'x'`, harness.Send, id))
		out := typed(fmt.Sprintf(`nats sub --count 1 '%s%s'`, harness.Send, id))
		Expect(out).To(And(ContainSubstring("Mq9-Msg-Id: "), ContainSubstring("Mq9-Timestamp: "), ContainSubstring(harness.Delete+id+".")))
	})

	It("lists, deletes and lists again", func() {
		id := create(`{"ttl":600}`)
		typed(fmt.Sprintf(`nats pub --count 3 '%s%s' 'x'`, harness.Send, id))
		msgID := regexp.MustCompile(`"msg_id":"([^"]+)"`).FindStringSubmatch(typed(fmt.Sprintf(`nats req --raw '%s%s' ''`, harness.ListOf, id)))[1]
		Expect(typed(fmt.Sprintf(`nats req --raw '%s%s.%s' ''`, harness.Delete, id, msgID))).To(MatchJSON(`{"deleted":true}`))
		Expect(typed(fmt.Sprintf(`nats req --raw '%s%s' ''`, harness.ListOf, id))).NotTo(ContainSubstring(msgID))
	})

	It("finds public mailboxes", func() {
		create(`{"ttl":600,"public":true,"name":"任务.队列","desc":"work"}`)
		Expect(typed(fmt.Sprintf(`nats req --raw '%s' ''`, harness.Discover))).To(ContainSubstring(`"mail_id":"任务.队列"`))
		Expect(typed(fmt.Sprintf(`nats sub --raw --count 1 '%s'`, harness.Discover))).To(ContainSubstring(`"event":"created"`))
	})

	It("is a worker: nats reply answers a message and thereby deletes it", func() {
		id := create(`{"ttl":600}`)
		typed(fmt.Sprintf(`nats pub --count 3 '%s%s' 'job'`, harness.Send, id))
		// Its exit code after --count messages is 1, on every server.
		out, _ := shell(fmt.Sprintf(`nats reply --count 3 '%s%s.*' 'done'`, harness.Send, id))
		Expect(strings.Count(out, "job")).To(Equal(3), out)
		Expect(broker.Connect().Stored(id)).To(BeEmpty())
	})

	It("ends with an error when a subscription or a publish is refused", func() {
		for _, line := range []string{
			fmt.Sprintf(`nats sub --count 1 '%s*'`, harness.Send),
			fmt.Sprintf(`nats sub --count 1 '%sno.such.mailbox'`, harness.Send),
			fmt.Sprintf(`nats pub '%sno.such.mailbox' x`, harness.Send),
		} {
			out, code := shell(line)
			Expect(code).NotTo(BeZero(), line)
			Expect(strings.ToLower(out)).To(ContainSubstring("permissions violation"), line)
		}
		Expect(typed(fmt.Sprintf(`nats req --raw '%sno.such.mailbox' x`, harness.Send))).To(ContainSubstring(`"code":404`))
	})

	It("sees nothing of a mailbox in a subscription to everything", func() {
		id := create(`{"ttl":600}`)
		spy := broker.Connect()
		feed := spy.Watch(">")
		typed(fmt.Sprintf(`nats pub '%s%s' 'secret'`, harness.Send, id))
		typed(fmt.Sprintf(`nats sub --raw --count 1 '%s%s'`, harness.Send, id))
		typed(`nats pub the.end now`)
		Eventually(feed.Payloads).Should(Equal([]string{"now"}))
	})
})
