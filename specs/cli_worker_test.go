package specs_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/mq9-broker/broker/specs/harness"
)

// A worker in one line.
var _ = Describe("mq9 watch --exec", func() {
	var (
		c   *harness.Client
		sh  shell
		box string
		dir string
	)
	BeforeEach(func() {
		c, sh, dir = broker.Connect(), at(broker), GinkgoT().TempDir()
		box = c.Private()
	})

	It("runs a command for each message and deletes what it succeeds for", func() {
		c.Send(box, "a\n")
		c.Send(box+critical, "b\n")
		Expect(sh.prints("watch", box, "--count", "2", "--exec", "cat")).To(Equal("b\na"))
		Expect(c.Stored(box)).To(BeEmpty())
	})

	It("tells the command about the message", func() {
		Expect(c.PublishMsg(&nats.Msg{Subject: harness.Send + box + urgent, Header: nats.Header{"Reply-To": {"x", "y"}}, Data: []byte("12345")})).To(Succeed())
		c.Sync()
		id := c.Stored(box)[0]
		told := sh.prints("watch", box, "-n", "1", "--exec",
			`echo "$MQ9_MAIL_ID $MQ9_MSG_ID $MQ9_PRIORITY $MQ9_SIZE $MQ9_HEADER_REPLY_TO $MQ9_TIMESTAMP"`)
		Expect(told).To(MatchRegexp("^" + box + " " + id + ` urgent 5 x, y \d{4}-\d\d-\d\dT.*Z$`))
	})

	It("keeps what the command fails for, says so, and ends with an exit code of its own", func() {
		bad, good := c.Send(box, "bad"), c.Send(box, "good")
		code, _, stderr := sh.run("watch", box, "--count", "2", "--exec", `test "$(cat)" = good`)
		Expect(code).To(Equal(exitCommand))
		Expect(stderr).To(And(ContainSubstring(bad+" is kept: the command failed (exit status 1)"), ContainSubstring("1 of 2 commands failed"), Not(ContainSubstring(good))))
		Expect(c.Stored(box)).To(Equal([]string{bad}))
	})

	It("keeps everything with --delete=false", func() {
		c.Send(box, "a")
		sh.prints("watch", box, "-n", "1", "--delete=false", "--exec", "true")
		Expect(c.Stored(box)).To(HaveLen(1))
	})

	It("prints JSON of what became of each, and keeps the command's own output out of it", func() {
		id := c.Send(box, "a")
		code, stdout, stderr := sh.run("watch", box, "-n", "1", "--json", "--exec", "echo chatter; exit 7")
		Expect(code).To(Equal(exitCommand))
		Expect(object(stdout)).To(And(HaveKeyWithValue("msg_id", id), HaveKeyWithValue("exit_code", 7.0), HaveKeyWithValue("deleted", false), HaveKey("milliseconds")))
		Expect(stderr).To(ContainSubstring("chatter"))
	})

	It("does not mind a command that does not read a large payload", func() {
		c.Send(box, strings.Repeat("x", 1<<20))
		sh.prints("watch", box, "-n", "1", "--exec", "true")
		Expect(c.Stored(box)).To(BeEmpty())
	})

	It("does the most pressing next, though it came last", func() {
		gate := filepath.Join(dir, "gate")
		c.Send(box, "1")
		c.Send(box, "2")
		worker := sh.start("watch", box, "-n", "3", "--exec", `cat; until test -e `+gate+`; do sleep 0.01; done`)
		Eventually(worker.Out).Should(gbytes.Say("1"))
		c.Send(box+critical, "!")
		Expect(os.WriteFile(gate, nil, 0o600)).To(Succeed())
		Eventually(worker).Should(gexec.Exit(exitOK))
		// The critical one may have come too late to be second, if this machine was busy, but not to be known.
		Expect(string(worker.Out.Contents())).To(Or(Equal("1!2"), Equal("12!")))
	})

	It("runs commands in parallel if told so", func() {
		c.Publish(box, "a", "b")
		c.Sync()
		// Each waits for the other.
		meet := `touch ` + dir + `/$MQ9_MSG_ID; until test $(ls ` + dir + ` | wc -l) -eq 2; do sleep 0.01; done`
		sh.prints("watch", box, "-n", "2", "--parallel", "2", "--exec", meet)
		Expect(c.Stored(box)).To(BeEmpty())
	})

	It("lets the running command finish at a signal, and deletes its message", func() {
		gate := filepath.Join(dir, "gate")
		c.Publish(box, "one", "two")
		c.Sync()
		worker := sh.start("watch", box, "--exec", `cat; until test -e `+gate+`; do sleep 0.01; done`)
		Eventually(worker.Out).Should(gbytes.Say("one"))
		worker.Interrupt()
		Consistently(worker).ShouldNot(gexec.Exit())
		Expect(os.WriteFile(gate, nil, 0o600)).To(Succeed())
		Eventually(worker).Should(gexec.Exit(exitOK))
		Expect(c.Stored(box)).To(HaveLen(1))
	})

	It("kills the running command at a second signal, and keeps its message", func() {
		c.Send(box, "one")
		worker := sh.start("watch", box, "--exec", `cat; sleep 600`)
		Eventually(worker.Out).Should(gbytes.Say("one"))
		worker.Interrupt()
		Consistently(worker).ShouldNot(gexec.Exit())
		Eventually(worker.Interrupt()).Should(gexec.Exit(exitCommand))
		Expect(c.Stored(box)).To(HaveLen(1))
	})

	It("does nothing twice over a restart of the broker, not even what was done while it was away", func() {
		own := harness.StartBroker(program)
		oc := own.Connect()
		box := oc.Public()
		gate, log := filepath.Join(dir, "gate"), filepath.Join(dir, "log")
		done := func() string {
			text, err := os.ReadFile(log)
			if err != nil {
				return err.Error()
			}
			return string(text)
		}
		for _, p := range []string{"a", "b", "c"} {
			oc.Send(box+urgent, p+"\n")
		}
		worker := at(own).start("watch", box, "--timeout", "1s", "--queue", "g", "--exec", `cat >>`+log+`; until test -e `+gate+`; do sleep 0.01; done`)
		Eventually(done).Should(Equal("a\n"))
		own.Kill()
		Eventually(worker.Err).Should(gbytes.Say("is lost"))
		Expect(os.WriteFile(gate, nil, 0o600)).To(Succeed()) // a succeeds, and nobody hears of it
		Eventually(worker.Err).Should(gbytes.Say("its deletion is not confirmed"))
		own.Start()
		Eventually(done).Should(Equal("a\nb\nc\n"))
		again := own.Connect()
		Eventually(func() []string { return again.Stored(box) }).Should(BeEmpty())
		Expect(done()).To(Equal("a\nb\nc\n"))
		Eventually(worker.Interrupt()).Should(gexec.Exit(exitOK))
	})

	It("hands the work of a killed worker to another of its group", func() {
		c.Publish(box+urgent, "a", "b", "c")
		c.Sync()
		gate := filepath.Join(dir, "gate") // a killed worker's command lives on
		first := sh.start("watch", box, "--queue", "g", "--exec", `cat; until test -e `+gate+`; do sleep 0.01; done`)
		DeferCleanup(os.WriteFile, gate, []byte(nil), os.FileMode(0o600))
		Eventually(first.Out).Should(gbytes.Say("a"))
		second := sh.start("watch", box, "--queue", "g", "--count", "3", "--exec", "cat")
		Consistently(second).WithTimeout(100 * time.Millisecond).ShouldNot(gexec.Exit())
		first.Kill()
		Eventually(second).Should(gexec.Exit(exitOK))
		Expect(string(second.Out.Contents())).To(Equal("abc"))
		Expect(c.Stored(box)).To(BeEmpty())
	})
})
