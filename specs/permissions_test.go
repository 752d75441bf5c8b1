package specs_test

import (
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 2 on top of NATS: what a user's permissions deny is denied for mailboxes too.
var _ = Describe("The permissions of a NATS user", func() {
	// serve runs a broker with a user `all` who may do everything and a user `some` of the given permissions.
	serve := func(permissions string) (own *harness.Broker, all, some *harness.Client) {
		GinkgoHelper()
		own = harness.StartBroker(program, "--nats-config", writeConfig(users(permissions)))
		return own, own.Connect(nats.UserInfo("all", "a")), own.Connect(nats.UserInfo("some", "s"))
	}
	denied := func(what, subject string) string {
		return fmt.Sprintf("Permissions Violation for %s to %q: 403", what, subject)
	}

	It("that deny publishing deny sending, creating, listing and deleting, and leave subscribing", func() {
		_, all, some := serve(`publish: { deny: ["$mq9.>"] }`)
		id := all.Private()
		msgID := all.Send(id, "read me")
		Eventually(some.Mailbox(id).Payloads).Should(Equal([]string{"read me"}))
		var want []any
		for _, subject := range []string{
			harness.Send + id, harness.Send + id + critical, harness.Create, harness.ListOf + id,
			harness.Delete + id + "." + msgID, harness.Discover,
		} {
			Expect(some.PublishRequest(subject, "_INBOX.none", nil)).To(Succeed())
			Expect(some.Conn.Publish(subject, nil)).To(Succeed())
			want = append(want, ContainSubstring(denied("Publish", subject)), ContainSubstring(denied("Publish", subject)))
		}
		some.Sync()
		Eventually(some.Errors).Should(ConsistOf(want...))
		Expect(all.Stored(id)).To(Equal([]string{msgID}))
		Expect(listed(all)).To(BeEmpty())
	})

	It("that deny a request give it no reply, not even that there is no such mailbox", func() {
		own, all, _ := serve(`publish: "elsewhere", subscribe: ">"`)
		id := all.Private()
		raw := own.Dial()
		raw.Say(`CONNECT {"verbose":false,"headers":true,"user":"some","pass":"s"}` + "\r\nSUB _INBOX.mine 1\r\n")
		for _, address := range []string{id, "no.such.mailbox"} {
			raw.Pub(harness.Send+address+" _INBOX.mine", "x")
			Expect(raw.Sync()).To(Equal([]harness.Frame{{
				Op: "-ERR", Args: fmt.Sprintf("'Permissions Violation for Publish to %q: 403 the permissions of this user do not allow it'", harness.Send+address),
			}}))
		}
	})

	It("that deny subscribing leave sending", func() {
		_, all, some := serve(`subscribe: { deny: ["$mq9.>"] }`)
		id := all.Private()
		some.Send(id, "mine")
		for _, subject := range []string{harness.Send + id, harness.Send + id + ".*", harness.Send + id + critical, harness.Discover} {
			Expect(some.Watch(subject).Payloads()).To(BeEmpty())
			Eventually(some.Errors).Should(ContainElement(ContainSubstring(denied("Subscription", subject))))
		}
		Expect(all.Stored(id)).To(HaveLen(1))
	})

	It("that allow one mailbox allow no other", func() {
		_, all, some := serve(`publish: ["$mq9.AI.MAILBOX.*.tasks", "$mq9.AI.MAILBOX.*.tasks.>", "_INBOX.>"], subscribe: ["$mq9.AI.MAILBOX.MSG.tasks.*", "_INBOX.>"]`)
		all.Create(public("tasks", 60))
		all.Create(public("other", 60))
		some.Send("tasks"+urgent, "mine")
		feed := some.Mailbox("tasks")
		Eventually(feed.Payloads).Should(Equal([]string{"mine"}))
		Expect(feed.Messages()[0].Respond(nil)).To(Succeed())
		Expect(some.Stored("tasks")).To(BeEmpty())

		some.Publish("other", "not mine")
		some.Watch(harness.Send + "other")
		Expect(some.Conn.Publish(harness.Create, nil)).To(Succeed())
		some.Sync()
		Eventually(some.Errors).Should(ConsistOf(
			ContainSubstring(denied("Publish", harness.Send+"other")), ContainSubstring(denied("Subscription", harness.Send+"other")),
			ContainSubstring(denied("Publish", harness.Create)),
		))
		Expect(all.Stored("other")).To(BeEmpty())
	})

	It("that deny one priority deny the subscription to all of them", func() {
		_, all, some := serve(`subscribe: { deny: ["$mq9.AI.MAILBOX.MSG.*.critical"] }`)
		all.Create(public("alarms", 60))
		all.Send("alarms"+critical, "secret")
		all.Send("alarms"+urgent, "open")
		Eventually(some.Watch(harness.Send + "alarms" + urgent).Payloads).Should(Equal([]string{"open"}))
		Expect(some.Mailbox("alarms").Payloads()).To(BeEmpty())
		Expect(some.Watch(harness.Send + "alarms" + critical).Payloads()).To(BeEmpty())
		Eventually(some.Errors).Should(ConsistOf(
			ContainSubstring(denied("Subscription", harness.Send+"alarms.*")), ContainSubstring(denied("Subscription", harness.Send+"alarms.critical"))))
	})

	It("that name queue groups let those be joined and nothing else", func() {
		_, all, some := serve(`subscribe: ["$mq9.AI.MAILBOX.MSG.jobs.* workers.*", "_INBOX.>"]`)
		all.Create(public("jobs", 60))
		all.Send("jobs", "job")
		Eventually(some.Work(harness.Send+"jobs.*", "workers.a").Payloads).Should(Equal([]string{"job"}))
		Expect(some.Mailbox("jobs").Payloads()).To(BeEmpty())
		Expect(some.Work(harness.Send+"jobs.*", "thieves").Payloads()).To(BeEmpty())
		Eventually(some.Errors).Should(ConsistOf(
			ContainSubstring(denied("Subscription", harness.Send+"jobs.*")),
			ContainSubstring(`using queue "thieves": 403`)))
	})

	It("that allow responses let deliveries be deleted by replying, each as often as allowed, and nothing else", func() {
		_, all, some := serve(`allow_responses: true, subscribe: ">"`)
		id := all.Private()
		first, second := all.Send(id+urgent, "1"), all.Send(id, "2")
		feed := some.Watch(harness.Send + id + urgent)
		Eventually(feed.Payloads).Should(Equal([]string{"1"}))
		Expect(some.Conn.Publish(harness.Delete+id+"."+second, nil)).To(Succeed())
		some.Sync()
		Eventually(some.Errors).Should(ConsistOf(ContainSubstring(denied("Publish", harness.Delete+id+"."+second))))
		Expect(feed.Messages()[0].Respond(nil)).To(Succeed())
		some.Sync()
		Expect(some.Errors()).To(HaveLen(1))
		Expect(all.Stored(id)).To(Equal([]string{second}))
		Expect(feed.Messages()[0].Respond(nil)).To(Succeed())
		some.Sync()
		Eventually(some.Errors).Should(ContainElement(ContainSubstring(denied("Publish", harness.Delete+id+"."+first))))
	})

	It("are not got round by the reply subject of a request", func() {
		_, all, some := serve(`publish: { deny: ["$mq9.AI.MAILBOX.MSG.guarded"] }`)
		all.Create(public("guarded", 60))
		all.Create(public("open", 60))
		Expect(some.PublishRequest(harness.Send+"open", harness.Send+"guarded", []byte("x"))).To(Succeed())
		Expect(some.PublishRequest(harness.Send+"open", harness.Send+"guarded.normal", []byte("x"))).To(Succeed())
		some.Sync()
		Eventually(some.Errors).Should(HaveLen(2))
		Expect(all.Stored("guarded")).To(BeEmpty())
		Expect(all.Stored("open")).To(HaveLen(2))
	})

	It("follow the configuration when it is reloaded, for open connections too", func() {
		conf := writeConfig(users(`publish: ">"`))
		own := harness.StartBroker(program, "--nats-config", conf)
		all, some := own.Connect(nats.UserInfo("all", "a")), own.Connect(nats.UserInfo("some", "s"))
		all.Create(public("tasks", 600))
		feed, worker := some.Mailbox("tasks"), some.Work(harness.Send+"tasks.*", "g")
		other := all.Work(harness.Send+"tasks.*", "g")
		some.Send("tasks", "before")
		Eventually(feed.Payloads).Should(Equal([]string{"before"}))
		Expect(worker.Count() + other.Count()).To(BeNumerically("<=", 1))

		Expect(os.WriteFile(conf, []byte(users(`publish: { deny: "$mq9.>" }, subscribe: { deny: "$mq9.>" }`)), 0o600)).To(Succeed())
		own.Reload()
		Eventually(some.Errors).Should(ConsistOf(
			ContainSubstring(denied("Subscription", harness.Send+"tasks.*")),
			ContainSubstring(`using queue "g": 403`)))
		Eventually(other.Payloads).Should(ContainElement("before"), "what it held is handed on")
		some.Publish("tasks", "after")
		some.Sync()
		Eventually(some.Errors).Should(HaveLen(3))
		all.Send("tasks", "later")
		Eventually(other.Payloads).Should(Equal([]string{"before", "later"}))
		Expect(feed.Payloads()).To(Equal([]string{"before"}))

		Expect(os.WriteFile(conf, []byte(users(`publish: ">"`)), 0o600)).To(Succeed())
		own.Reload()
		some.Send("tasks", "again")
		Eventually(some.Mailbox("tasks").Payloads).Should(HaveLen(3))
	})

	It("stay as they are when the new configuration is wrong", func() {
		conf := writeConfig(users(`publish: { deny: "$mq9.AI.MAILBOX.CREATE" }`))
		own := harness.StartBroker(program, "--nats-config", conf)
		some := own.Connect(nats.UserInfo("some", "s"))
		Expect(os.WriteFile(conf, []byte("authorization { nonsense"), 0o600)).To(Succeed())
		own.Hangup()
		Eventually(own.Log).Should(ContainSubstring("nothing is changed"))
		Expect(some.Conn.Publish(harness.Create, nil)).To(Succeed())
		some.Sync()
		Eventually(some.Errors).Should(HaveLen(1))
	})
})

// users is a nats-server configuration with a user who may do everything and one of the given permissions.
func users(permissions string) string {
	return `authorization { users [
		{ user: all, password: a }
		{ user: some, password: s, permissions { ` + permissions + ` } }
	] }`
}
