package specs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/nats-io/nkeys"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// How the commands find a broker and log in.
var _ = Describe("The commands find the broker", func() {
	nowhere := shell{env: []string{"NATS_URL=nats://127.0.0.1:1"}}

	// configured makes a home for the nats command's files and writes contexts into it; selected may be "".
	configured := func(selected string, contexts map[string]map[string]any) shell {
		GinkgoHelper()
		home := GinkgoT().TempDir()
		dir := filepath.Join(home, "nats", "context")
		Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
		for name, settings := range contexts {
			text, err := json.Marshal(settings)
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600)).To(Succeed())
		}
		if selected != "" {
			Expect(os.WriteFile(filepath.Join(home, "nats", "context.txt"), []byte(selected), 0o600)).To(Succeed())
		}
		return shell{env: []string{"XDG_CONFIG_HOME=" + home}}
	}

	It("by -s before NATS_URL, with or without nats:// in front", func() {
		nowhere.prints("discover", "-s", broker.Addr)
		nowhere.prints("discover", "--server", "nats://"+broker.Addr)
		nowhere.prints("-s", broker.Addr, "discover")
		at(broker).prints("discover")
	})

	It("or say what to do when nobody answers", func() {
		for _, args := range [][]string{{"ls", "box"}, {"watch", "box"}, {"send", "box", "x"}, {"discover", "--follow"}, {"bench", "send"}} {
			Expect(nowhere.fails(exitUnreachable, args...)).To(And(
				ContainSubstring("nats://127.0.0.1:1"), ContainSubstring("mq9 serve"), ContainSubstring("-s or NATS_URL")))
		}
	})

	It("and tell a NATS server without mq9 from a broker", func() {
		plain := shell{env: []string{"NATS_URL=" + harness.Oracle()}}
		Expect(plain.fails(exitUnreachable, "create")).To(ContainSubstring("a NATS server without mq9"))
	})

	Describe("by a context of the nats command", func() {
		It("that is named, with a flag or in the environment", func() {
			sh := configured("", map[string]map[string]any{"here": {"url": broker.Addr}, "away": {"url": "127.0.0.1:1"}})
			sh.prints("discover", "--context", "here")
			sh.with("NATS_CONTEXT=here").prints("discover")
			sh.with("NATS_CONTEXT=away").prints("discover", "--context", "here")
			Expect(sh.fails(exitUsage, "discover", "--context", "her")).To(ContainSubstring(`did you mean "here"?`))
			Expect(sh.fails(exitUsage, "discover", "--context", "../here")).To(ContainSubstring("without slashes"))
		})

		It("that is selected, unless a server is named", func() {
			sh := configured("here\n", map[string]map[string]any{"here": {"url": broker.Addr}})
			sh.prints("discover")
			Expect(sh.fails(exitUnreachable, "discover", "-s", "127.0.0.1:1")).To(ContainSubstring("127.0.0.1:1"))
		})

		It("or by a file, and refuses what it cannot do", func() {
			file := filepath.Join(GinkgoT().TempDir(), "mine.json")
			Expect(os.WriteFile(file, fmt.Appendf(nil, `{"url":%q}`, broker.Addr), 0o600)).To(Succeed())
			shell{}.prints("discover", "--context", file)
			sh := configured("", map[string]map[string]any{"proxied": {"url": broker.Addr, "socks_proxy": "x:1"}})
			Expect(sh.fails(exitUsage, "discover", "--context", "proxied")).To(ContainSubstring("socks_proxy"))
			Expect(os.WriteFile(file, []byte("{"), 0o600)).To(Succeed())
			Expect(shell{}.fails(exitUsage, "discover", "--context", file)).To(ContainSubstring("cannot be read"))
		})
	})

	Describe("and log in", func() {
		It("with user and password, from flags, the environment, the URL or a context", func() {
			own := harness.StartBroker(program, "--nats-config", writeConfig(`authorization { user: ann, password: s3cret }`))
			sh := at(own)
			sh.prints("discover", "--user", "ann", "--password", "s3cret")
			sh.with("NATS_USER=ann", "NATS_PASSWORD=s3cret").prints("discover")
			sh.prints("discover", "-s", "nats://ann:s3cret@"+own.Addr)
			configured("own", map[string]map[string]any{"own": {"url": own.Addr, "user": "ann", "password": "s3cret"}}).prints("discover")
			refused := sh.fails(exitUnreachable, "discover", "-s", "nats://ann:wr0ng@"+own.Addr)
			Expect(refused).To(And(ContainSubstring("does not accept this login"), Not(ContainSubstring("wr0ng"))))
		})

		It("with a token", func() {
			own := harness.StartBroker(program, "--nats-config", writeConfig(`authorization { token: t0ken }`))
			at(own).prints("discover", "--token", "t0ken")
			at(own).prints("discover", "--user", "t0ken")
			at(own).fails(exitUnreachable, "discover")
		})

		It("with an nkey", func() {
			user, err := nkeys.CreateUser()
			Expect(err).NotTo(HaveOccurred())
			seed, err := user.Seed()
			Expect(err).NotTo(HaveOccurred())
			public, err := user.PublicKey()
			Expect(err).NotTo(HaveOccurred())
			file := filepath.Join(GinkgoT().TempDir(), "user.nk")
			Expect(os.WriteFile(file, seed, 0o600)).To(Succeed())
			own := harness.StartBroker(program, "--nats-config", writeConfig(`authorization { users: [ { nkey: `+public+` } ] }`))
			at(own).prints("discover", "--nkey", file)
			Expect(at(own).fails(exitUsage, "discover", "--nkey", file+"x")).To(ContainSubstring("--nkey"))
			Expect(at(own).fails(exitUsage, "discover", "--creds", file+"x")).To(ContainSubstring("--creds"))
			Expect(at(own).fails(exitUsage, "discover", "--tlscert", file)).To(ContainSubstring("--tlskey"))
		})
	})

	It("and give up when it does not answer in time", func() {
		stopped := harness.StartBroker(program)
		id := stopped.Connect().Private()
		Expect(syscall.Kill(stopped.PID(), syscall.SIGSTOP)).To(Succeed())
		DeferCleanup(func() { Expect(syscall.Kill(stopped.PID(), syscall.SIGCONT)).To(Succeed()) })
		at(stopped).fails(exitUnreachable, "send", id, "x", "--timeout", "500ms")
	})
})
