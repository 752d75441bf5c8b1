package specs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	"github.com/mq9-broker/broker/specs/harness"
)

// The configuration: one file, variables over it, flags over those.
var _ = Describe("Configuration", func() {
	var dir string // in which mq9 is started
	BeforeEach(func() { dir = GinkgoT().TempDir() })

	write := func(name, text string) string {
		GinkgoHelper()
		path := filepath.Join(dir, name)
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}

	// mq9 runs a command to its end; args that contain "=" and begin with MQ9_ are variables.
	mq9 := func(args ...string) *gexec.Session {
		GinkgoHelper()
		cmd := exec.Command(program)
		cmd.Dir, cmd.Env = dir, os.Environ()
		for _, arg := range args {
			if strings.HasPrefix(arg, "MQ9_") {
				cmd.Env = append(cmd.Env, arg)
			} else {
				cmd.Args = append(cmd.Args, arg)
			}
		}
		session, err := gexec.Start(cmd, nil, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		Eventually(session).WithTimeout(requestTimeout * 4).Should(gexec.Exit())
		return session
	}

	type key struct {
		Key, Value, From, Where, Default, Unit, Effect, Flag, Env string
		Reload, Secret                                            bool
	}
	// shown is what `mq9 config show --json` says, by key.
	shown := func(args ...string) map[string]key {
		GinkgoHelper()
		session := mq9(append([]string{"config", "show", "--json"}, args...)...)
		Expect(session).To(gexec.Exit(0))
		var report struct{ Keys []key }
		Expect(json.Unmarshal(session.Out.Contents(), &report)).To(Succeed())
		keys := map[string]key{}
		for _, k := range report.Keys {
			keys[k.Key] = k
		}
		Expect(keys).To(HaveLen(len(report.Keys)))
		return keys
	}

	It("comes from the file, then from variables, then from flags", func() {
		write("mq9.toml", "# ours\nmax_mailboxes = 1\nmax_connections = 1\nmax_subscriptions = 1\n")
		keys := shown("MQ9_MAX_CONNECTIONS=2", "MQ9_MAX_SUBSCRIPTIONS=2", "--max-subscriptions", "3")
		Expect(keys["max_mailboxes"]).To(And(HaveField("Value", "1"), HaveField("From", "file"), HaveField("Where", HaveSuffix("mq9.toml:2: max_mailboxes"))))
		Expect(keys["max_connections"]).To(And(HaveField("Value", "2"), HaveField("From", "environment"), HaveField("Where", "MQ9_MAX_CONNECTIONS")))
		Expect(keys["max_subscriptions"]).To(And(HaveField("Value", "3"), HaveField("From", "flag"), HaveField("Where", "--max-subscriptions")))
		Expect(keys["sync"]).To(And(HaveField("Value", "always"), HaveField("From", "default"), HaveField("Default", "always")))
	})

	It("is shown with unit, effect, flag and variable of every key", func() {
		for name, k := range shown() {
			Expect(k.Unit).NotTo(BeEmpty(), name)
			Expect(k.Effect).NotTo(BeEmpty(), name)
			Expect(k.Flag).To(Equal("--"+strings.ReplaceAll(name, "_", "-")), name)
			Expect(k.Env).To(Equal("MQ9_"+strings.ToUpper(name)), name)
		}
		text := string(mq9("config", "show").Out.Contents())
		Expect(strings.Split(strings.TrimSpace(text), "\n")).To(HaveLen(len(shown()) + 1))
		Expect(text).To(MatchRegexp(`(?m)^drain_grace +30s +default +30s +duration +\w+`))
	})

	It("is served from a file that --config or MQ9_CONFIG names", func() {
		path := write("other.toml", `max_mailboxes = 1`)
		for _, prepare := range []func(*harness.Broker){
			func(b *harness.Broker) { b.Flags = []string{"--config", path} },
			func(b *harness.Broker) { b.Env = []string{"MQ9_CONFIG=" + path} },
			func(b *harness.Broker) { b.Env = []string{"MQ9_MAX_MAILBOXES=1"} },
		} {
			own := harness.NewBroker(program, GinkgoT().TempDir())
			prepare(own)
			own.Start()
			DeferCleanup(own.Kill)
			agent := own.Connect()
			agent.Private()
			Expect(agent.Refused(harness.Create, "").Code).To(Equal(429))
			own.Stop()
		}
	})

	It("is checked as a whole: every problem is a line with its place, and the exit code is 2", func() {
		conf := write("nats.conf", "max_payload: {{{\n")
		path := write("bad.toml", "max-mailboxes = 3\nlisten = 17\n[limits]\nmax_memroy = \"1GB\"\n")
		session := mq9("config", "check", path, "MQ9_SYNC=often", "--log-format", "xml", "--nats-config", conf)
		Expect(session).To(gexec.Exit(2))
		Expect(session.Out.Contents()).To(BeEmpty())
		lines := strings.Split(strings.TrimSpace(string(session.Err.Contents())), "\n")
		Expect(lines).To(ConsistOf(
			And(ContainSubstring(path+":1:"), ContainSubstring("do you mean max_mailboxes?")),
			And(ContainSubstring(path+":2:"), ContainSubstring("host:port")),
			And(ContainSubstring(path+":4:"), ContainSubstring("do you mean max_memory?")),
			And(ContainSubstring("MQ9_SYNC"), ContainSubstring("often")),
			And(ContainSubstring("--log-format"), ContainSubstring("xml")),
			And(ContainSubstring("nats configuration: "+conf), ContainSubstring("line 2")),
			Equal("mq9: 6 problems"),
		))
	})

	It("says where a file is no TOML", func() {
		path := write("bad.toml", "listen = \"127.0.0.1:0\"\nhttp == 3\n")
		session := mq9("config", "check", path)
		Expect(session).To(gexec.Exit(2))
		Expect(string(session.Err.Contents())).To(ContainSubstring(path + ":2:"))
	})

	It("keeps `serve` from starting when anything is wrong with it, and says all of it in one line", func() {
		path := write("bad.toml", "max-mailboxes = 3\nsync = \"often\"\n")
		session := mq9("serve", "--config", path, "--delivery", "post")
		Expect(session).To(gexec.Exit(2))
		said := string(session.Err.Contents())
		Expect(strings.Count(said, "\n")).To(Equal(1))
		Expect(said).To(And(ContainSubstring(path+":1"), ContainSubstring(path+":2"), ContainSubstring("--delivery")))
		Expect(mq9("serve", "--config", filepath.Join(dir, "absent.toml")).Err.Contents()).To(ContainSubstring("absent.toml"))
	})

	It("has an example that is good as it is", func() {
		example := mq9("config", "example").Out.Contents()
		session := mq9("config", "check", write("example.toml", string(example)))
		Expect(session).To(gexec.Exit(0))
		Expect(string(session.Out.Contents())).To(ContainSubstring("good"))
		for name := range shown() {
			Expect(string(example)).To(MatchRegexp(`(?m)^#%s = `, name))
		}
	})

	It("notes a variable that is most likely mistyped", func() {
		session := mq9("config", "check", "MQ9_LOGLEVEL=debug")
		Expect(session).To(gexec.Exit(0))
		Expect(string(session.Err.Contents())).To(ContainSubstring("MQ9_LOG_LEVEL"))
	})

	It("sets how long a member that left its queue group keeps what it holds", func() {
		own := harness.StartBroker(program, "--drain-grace", "200ms")
		leaver, stayer := own.Connect(), own.Connect()
		id := leaver.Private()
		held := leaver.Work(harness.Send+id, "workers")
		leaver.Send(id, "task")
		Eventually(held.Count).Should(Equal(1))
		next := stayer.Work(harness.Send+id, "workers")
		Expect(held.Unsubscribe()).To(Succeed())
		Eventually(next.Payloads).Should(Equal([]string{"task"}))
	})

	It("sets how soon a client that answers no PING is gone", func() {
		own := harness.StartBroker(program, "--ping-interval", "300ms", "--ping-max", "1")
		raw := own.DialConnected()
		Expect(raw.Silent(20*time.Second)).To(BeFalse(), "it is told that it is stale, and the connection ends")
		own.Connect().Private()
	})

	It("sets the life of mailboxes that name none", func() {
		agent := harness.StartBroker(program, "--default-ttl", "2m").Connect()
		Expect(agent.Create(`{}`).TTL).To(BeEquivalentTo(120))
	})
})
