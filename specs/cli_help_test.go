package specs_test

import (
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// What helps a person who does not know, or mistypes.
var _ = Describe("The commands help", func() {
	var sh shell
	BeforeEach(func() { sh = at(broker) })

	DescribeTable("with what was probably meant",
		func(meant string, args ...string) {
			Expect(sh.fails(exitUsage, args...)).To(ContainSubstring(meant))
		},
		Entry("a command with letters exchanged", `did you mean "send"?`, "sned", "box", "x"),
		Entry("a command of another tool", `did you mean "watch"?`, "sub", "box"),
		Entry("another", `did you mean "send"?`, "publish", "box", "x"),
		Entry("and another", `did you mean "rm"?`, "delete", "box", "x"),
		Entry("an abbreviation", `did you mean "discover"?`, "disc"),
		Entry("nothing like it", "see mq9 --help", "frobnicate"),
		Entry("a workload", `did you mean "workers"?`, "bench", "worker"),
		Entry("a topic", `did you mean "priorities"?`, "help", "prioritys"),
		Entry("a flag", "did you mean --priority?", "send", "box", "x", "--prioritty", "urgent"),
		Entry("a flag that stands too early", "behind the command", "--json", "discover"),
		Entry("a priority", `did you mean "critical"?`, "send", "box", "x", "-p", "critcal"),
		Entry("no priority at all", "critical, urgent, normal", "send", "box", "x", "-p", "7"),
		Entry("a priority in the name", "write task --priority urgent", "send", "task.urgent", "x"),
		Entry("a whole subject", "give the mail_id alone", "send", "$mq9.AI.MAILBOX.MSG.task", "x"),
		Entry("a subject that the shell has cut", "give the mail_id alone", "ls", ".AI.MAILBOX.MSG.task"),
		Entry("a private address in capitals", "lower case", "ls", "AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE"),
		Entry("a wildcard", "remove '*' and '>'", "watch", "task.*"),
		Entry("words without quotes", "into quotes", "send", "box", "two", "words"),
		Entry("a missing mailbox", "MAIL_ID is missing", "watch"),
		Entry("a missing message", "MSG_ID is missing", "rm", "box"),
	)

	It("with the public mailbox of nearly that name", func() {
		name := broker.Connect().Public() + ".kitchen"
		sh.prints("create", "--public", name)
		wrong := strings.Replace(name, "kitchen", "kitchne", 1)
		for _, args := range [][]string{{"send", wrong, "x"}, {"send", wrong, "x", "--no-wait"}, {"ls", wrong}, {"watch", wrong}, {"rm", wrong, "000000000000g"}} {
			Expect(sh.fails(exitRefused, args...)).To(ContainSubstring(`did you mean "` + name + `"?`))
		}
	})

	It("with examples and all flags in the help of each command", func() {
		commands := regexp.MustCompile(`(?m)^  (bench|create|discover|ls|rm|send|watch) `).FindAllStringSubmatch(sh.prints("--help"), -1)
		Expect(commands).To(HaveLen(7))
		for _, c := range commands {
			help := sh.prints("help", c[1])
			Expect(help).To(And(ContainSubstring("Examples:\n  mq9 "+c[1]), Equal(sh.prints(c[1], "--help"))))
			if c[1] != "bench" {
				Expect(help).To(And(ContainSubstring("--json"), ContainSubstring("Connection:"), ContainSubstring("NATS_URL")))
			}
		}
		Expect(sh.prints("bench", "send", "--help")).To(ContainSubstring("--in-flight"))
	})

	It("with topics that the root command lists", func() {
		root := sh.prints("help")
		for topic, says := range map[string]string{
			"mailboxes": "PRIVATE", "priorities": "first in is first out", "workers": "--exec", "security": "like a password",
			"connection": "NATS_URL", "exit-codes": "the broker refused", "scripting": "--json",
			"operations": "A NEWCOMER'S HOUR", "clients": "WHAT TO KNOW FIRST",
		} {
			Expect(root).To(ContainSubstring("mq9 " + topic))
			Expect(sh.prints("help", topic)).To(ContainSubstring(says))
		}
	})

	It("with examples that name only flags there are", func() {
		text := sh.prints("help", "workers") + sh.prints("help", "watch")
		for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(text, -1) {
			Expect(sh.prints("help", "watch") + sh.prints("help", "create")).To(ContainSubstring(flag + " "))
		}
	})

	It("with completion of commands, priorities and public mailboxes", func() {
		name := broker.Connect().Public()
		Expect(sh.prints("completion", "bash")).To(ContainSubstring("__start_mq9"))
		complete := func(args ...string) string {
			GinkgoHelper()
			code, stdout, stderr := sh.run(append([]string{"__complete"}, args...)...)
			Expect(code).To(Equal(exitOK), stderr)
			return stdout
		}
		Expect(complete("se")).To(ContainSubstring("send\t"))
		Expect(complete("send", "x", "--priority", "")).To(ContainSubstring("urgent\n"))
		Expect(complete("watch", "")).To(ContainSubstring(name))
		Expect(complete("help", "")).To(And(ContainSubstring("workers\t"), ContainSubstring("serve\t")))
	})
})

// Measuring with the binary itself.
var _ = Describe("mq9 bench", func() {
	DescribeTable("measures and leaves nothing behind",
		func(latency bool, args ...string) {
			own := harness.StartBroker(program)
			sh := at(own)
			m := object(sh.prints(append(append([]string{"bench"}, args...), "--messages", "2000", "--json")...))
			Expect(m).To(And(HaveKeyWithValue("workload", args[0]), HaveKeyWithValue("messages", 2000.0)))
			Expect(m["messages_per_second"]).To(BeNumerically(">", 0))
			if latency {
				Expect(m["latency_us"]).To(And(HaveKey("p50"), HaveKey("p90"), HaveKey("p99"), HaveKey("p99_9"), HaveKey("max")))
			} else {
				Expect(m).NotTo(HaveKey("latency_us"))
			}
			own.Stop()
			inspected := object(strings.ReplaceAll(shell{}.prints("inspect", "--data-dir", own.DataDir, "--json"), "\n", " "))
			for _, tier := range inspected["tiers"].([]any) {
				Expect(tier).To(HaveKeyWithValue("messages", 0.0))
			}
		},
		Entry("sending", true, "send", "--priority", "critical"),
		Entry("publishing", false, "send", "--publish", "--priority", "urgent"),
		Entry("replay", true, "watch", "--priority", "urgent"),
		Entry("live", true, "live", "--rate", "10000"),
		Entry("workers", true, "workers", "--workers", "3", "--priority", "urgent"),
	)

	It("prints a table", func() {
		Expect(at(broker).prints("bench", "send", "-n", "500")).To(And(ContainSubstring("p99.9"), ContainSubstring("send normal")))
	})

	It("refuses what cannot be measured", func() {
		for flag, value := range map[string]string{"--messages": "0", "--size": "7", "--in-flight": "0", "--rate": "-1"} {
			Expect(at(broker).fails(exitUsage, "bench", "live", flag, value)).To(ContainSubstring(flag))
		}
	})
})
