package specs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/mq9-broker/broker/specs/harness"
)

// The commands that are done at once.
var _ = Describe("On the command line", func() {
	var (
		c  *harness.Client
		sh shell
	)
	BeforeEach(func() { c, sh = broker.Connect(), at(broker) })

	Describe("create", func() {
		It("prints the mail_id of a private mailbox, and nothing else", func() {
			id := sh.prints("create", "--ttl", "1h")
			Expect(c.List(id, "").Messages).To(BeEmpty())
		})

		It("makes a public mailbox with everything that was said of it", func() {
			name := harness.UniqueName()
			Expect(sh.prints("create", "--public", name, "--ttl", "1h30m", "--desc", "work", "--max-inflight", "1")).To(Equal(name))
			again := object(sh.prints("create", "--public", name, "--json"))
			Expect(again).To(And(HaveKeyWithValue("is_new", false), HaveKeyWithValue("ttl", 5400.0), HaveKeyWithValue("public", true)))
			Expect(object(grep(sh.prints("discover", "--json"), `"`+name+`"`))).To(HaveKeyWithValue("desc", "work"))
		})

		It("confirms a private mailbox, and says when it is gone", func() {
			id := c.Private()
			Expect(object(sh.prints("create", "--confirm", id, "--json"))).To(HaveKeyWithValue("is_new", false))
			Expect(sh.fails(exitRefused, "create", "--confirm", "11111111-2222-4333-8444-555555555555")).To(ContainSubstring("404"))
		})

		DescribeTable("refuses what cannot be meant, before it asks the broker",
			func(says string, args ...string) {
				Expect(sh.with("NATS_URL=127.0.0.1:1").fails(exitUsage, append([]string{"create"}, args...)...)).To(ContainSubstring(says))
			},
			Entry("a time without a unit", "write 90s", "--ttl", "90"),
			Entry("a time that is none", "like 90s, 1h30m or 7d", "--ttl", "soon"),
			Entry("less than a second", "whole number of seconds", "--ttl", "10ms"),
			Entry("no time at all", "whole number of seconds", "--ttl", "0s"),
			Entry("eleven years", "ten years", "--ttl", "11y"),
			Entry("a name with a blank", "white space", "--public", "a b"),
			Entry("a negative limit", "--max-inflight", "--max-inflight", "-1"),
			Entry("an argument", "unexpected argument", "box"),
		)

		It("passes the broker's refusal on", func() {
			own := harness.StartBroker(program, "--max-mailboxes", "1")
			at(own).prints("create")
			Expect(at(own).fails(exitRefused, "create")).To(ContainSubstring("429"))
		})
	})

	Describe("send", func() {
		var box string
		BeforeEach(func() { box = c.Private() })

		It("prints the msg_id, at the priority that was asked for", func() {
			id := sh.prints("send", box, "hello", "--priority", "critical")
			feed := c.Mailbox(box)
			Eventually(feed.IDs).Should(Equal([]string{id}))
			Expect(feed.Messages()[0].Subject).To(HaveSuffix(critical))
			Expect(feed.Payloads()).To(Equal([]string{"hello"}))
		})

		It("takes the message from standard input, with - or without anything", func() {
			sh.typing("one\n").prints("send", box)
			sh.typing("two\x00\xff").prints("send", box, "-")
			Eventually(c.Mailbox(box).Payloads).Should(Equal([]string{"one\n", "two\x00\xff"}))
		})

		It("takes the message from a file", func() {
			file := filepath.Join(GinkgoT().TempDir(), "letter")
			Expect(os.WriteFile(file, []byte("dear agent"), 0o600)).To(Succeed())
			sh.prints("send", box, "--file", file)
			Eventually(c.Mailbox(box).Payloads).Should(Equal([]string{"dear agent"}))
			Expect(sh.fails(exitUsage, "send", box, "text", "--file", file)).To(ContainSubstring("two messages"))
			Expect(sh.fails(1, "send", box, "--file", file+"x")).To(ContainSubstring("no such file"))
		})

		It("sends headers, each as often as it is given", func() {
			sh.prints("send", box, "x", "-H", "Kind: letter", "-H", "To:a", "-H", "To: b")
			feed := c.Mailbox(box)
			Eventually(feed.Count).Should(Equal(1))
			Expect(feed.Messages()[0].Header).To(And(HaveKeyWithValue("Kind", []string{"letter"}), HaveKeyWithValue("To", []string{"a", "b"})))
			Expect(sh.fails(exitUsage, "send", box, "x", "-H", "no colon")).To(ContainSubstring("Key: value"))
			Expect(sh.fails(exitUsage, "send", box, "x", "-H", "mq9-msg-id: 7")).To(ContainSubstring("broker's own"))
		})

		It("prints JSON", func() {
			sent := object(sh.prints("send", box, "hello", "--json", "-p", "urgent"))
			Expect(sent).To(And(HaveKeyWithValue("mail_id", box), HaveKeyWithValue("priority", "urgent"), HaveKeyWithValue("size", 5.0)))
			Expect(c.Stored(box)).To(Equal([]string{fmt.Sprint(sent["msg_id"])}))
		})

		It("with --no-wait is stored all the same when it ends", func() {
			Expect(sh.prints("send", box, "hello", "--no-wait")).To(BeEmpty())
			Expect(c.Stored(box)).To(HaveLen(1))
			Expect(object(sh.prints("send", box, "hello", "--no-wait", "--json"))).NotTo(HaveKey("msg_id"))
		})

		It("is refused in words, with the code and an exit code of its own, waiting or not", func() {
			gone := harness.UniqueName()
			Expect(sh.fails(exitRefused, "send", gone, "x")).To(ContainSubstring("404 no such mailbox"))
			Expect(sh.fails(exitRefused, "send", gone, "x", "--no-wait")).To(ContainSubstring("404 no such mailbox"))
			Expect(sh.typing(strings.Repeat("x", 2<<20)).fails(exitRefused, "send", box)).To(ContainSubstring("413"))
		})
	})

	Describe("ls", func() {
		It("shows what is stored in the order of delivery, however much it is", func() {
			box := c.Private()
			c.Publish(box, numbered("n", 2500)...)
			c.Sync()
			first := c.Send(box+critical, "first")
			lines := strings.Split(sh.prints("ls", box), "\n")
			Expect(lines).To(HaveLen(2501))
			Expect(lines[0]).To(And(HavePrefix(first), ContainSubstring("critical")))
			listed := objects(sh.prints("ls", box, "--json"))
			Expect(listed).To(HaveLen(2501))
			Expect(listed[0]).To(And(HaveKeyWithValue("msg_id", first), HaveKeyWithValue("priority", "critical"), HaveKeyWithValue("size", 5.0)))
		})

		It("says nothing of an empty mailbox, and refuses one that is not there", func() {
			Expect(sh.prints("ls", c.Private())).To(BeEmpty())
			Expect(sh.fails(exitRefused, "ls", harness.UniqueName())).To(ContainSubstring("404"))
		})
	})

	Describe("rm", func() {
		It("deletes what it is told and says what was not there", func() {
			box := c.Private()
			a, b := c.Send(box, "a"), c.Send(box, "b")
			Expect(sh.prints("rm", box, a)).To(Equal(a + "  deleted"))
			Expect(sh.prints("rm", box, a, b)).To(Equal(a + "  was not there\n" + b + "  deleted"))
			Expect(object(sh.prints("rm", box, b, "--json"))).To(Equal(map[string]any{"msg_id": b, "deleted": false}))
			Expect(c.Stored(box)).To(BeEmpty())
		})

		It("deletes nothing if one id is no msg_id", func() {
			box := c.Private()
			a := c.Send(box, "a")
			Expect(sh.fails(exitUsage, "rm", box, a, "first")).To(ContainSubstring(`"first" is no msg_id`))
			Expect(c.Stored(box)).To(Equal([]string{a}))
		})
	})

	Describe("discover", func() {
		It("lists public mailboxes and no private ones", func() {
			name, secret := c.Public(), c.Private()
			Expect(sh.prints("discover")).To(And(ContainSubstring(name), Not(ContainSubstring(secret))))
		})

		It("follows what is made and what ends, until it is told to stop", func() {
			name, later := harness.UniqueName(), harness.UniqueName()
			c.Create(public(name, 600))
			following := sh.start("discover", "--follow", "--json")
			Eventually(following.Out).Should(gbytes.Say(name))
			c.Create(public(later, 1))
			Eventually(following.Out).Should(gbytes.Say(`"created","mail_id":"` + later))
			Eventually(following.Out).Should(gbytes.Say(`"expired","mail_id":"` + later))
			Eventually(following.Interrupt()).Should(gexec.Exit(exitOK))
			Expect(following.Err.Contents()).To(BeEmpty())
		})

		It("shows each mailbox once, though the broker is restarted", func() {
			own := harness.StartBroker(program)
			first, second := harness.UniqueName(), harness.UniqueName()
			at(own).prints("create", "--public", first)
			following := at(own).start("discover", "--follow")
			Eventually(following.Out).Should(gbytes.Say(first))
			own.Restart()
			at(own).prints("create", "--public", second)
			Eventually(following.Out).Should(gbytes.Say(second))
			Expect(strings.Count(string(following.Out.Contents()), first)).To(Equal(1))
		})
	})
})

// grep returns the lines of a text that hold a word.
func grep(text, word string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			b.WriteString(line)
		}
	}
	return b.String()
}
