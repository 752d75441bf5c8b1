package specs_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// How the broker lives under a service manager.
var _ = Describe("As a service", func() {
	It("tells systemd when it is ready, reloads and stops", func() {
		dir, err := os.MkdirTemp("", "mq9") // a socket's path must be short
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(os.RemoveAll, dir)
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(socket.Close)
		states := func() string {
			GinkgoHelper()
			Expect(socket.SetReadDeadline(time.Now().Add(requestTimeout))).To(Succeed())
			text := make([]byte, 1024)
			n, err := socket.Read(text)
			Expect(err).NotTo(HaveOccurred())
			return string(text[:n])
		}

		own := harness.NewBroker(program, GinkgoT().TempDir())
		own.Env = []string{"NOTIFY_SOCKET=" + socket.LocalAddr().String()}
		DeferCleanup(own.Kill)
		own.Start()
		Expect(states()).To(Equal("READY=1"))
		own.Signal(syscall.SIGHUP)
		Expect(states()).To(MatchRegexp(`^RELOADING=1\nMONOTONIC_USEC=\d+$`))
		Expect(states()).To(Equal("READY=1"))
		own.Stop()
		Expect(states()).To(Equal("STOPPING=1"))
	})

	It("ends at once at a second signal", func() {
		own := harness.StartBroker(program)
		agent := own.Connect()
		id := agent.Private()
		stalled := own.DialConnected() // an orderly end waits for it for a while
		Expect(stalled.SetReadBuffer(64 << 10)).To(Succeed())
		stalled.Say("SUB " + harness.Send + id + " 1\r\n")
		payload := string(make([]byte, 100_000))
		for range 300 {
			agent.Publish(id, payload)
		}
		agent.Sync()
		own.Terminate()
		Eventually(own.Log).Should(ContainSubstring("stopping"))
		own.Signal(syscall.SIGINT)
		Eventually(own.Exited()).Should(BeClosed())
		Expect(own.ExitCode()).To(Equal(1))
		Expect(own.Log()).To(ContainSubstring("stopped at once by a second signal (interrupt)"))
	})

	It("outlives whoever read its log", func() {
		own := harness.NewBroker(program, GinkgoT().TempDir(), "--log-level", "debug")
		cmd := own.Command()
		stderr, err := cmd.StderrPipe()
		Expect(err).NotTo(HaveOccurred())
		Expect(cmd.Start()).To(Succeed())
		DeferCleanup(func() {
			Expect(cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
			Expect(cmd.Wait()).To(Succeed())
		})
		own.AwaitReady()
		Expect(stderr.Close()).To(Succeed())
		own.Connect().Close() // writes to the log
		own.Connect().Private()
	})

	// install runs `make install` with the binary under test.
	install := func(vars ...string) {
		GinkgoHelper()
		cmd := exec.Command("make", append([]string{"--no-print-directory", "install", "MQ9=" + program}, vars...)...)
		cmd.Dir = harness.Root()
		out, err := cmd.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
	}

	It("is installed with a unit, a configuration and completions; an edited one is kept", func() {
		dest := GinkgoT().TempDir()
		install("DESTDIR=" + dest)
		out, err := exec.Command(filepath.Join(dest, "usr/local/bin/mq9"), "version").Output()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(out)).To(HavePrefix("mq9 "))
		unit, err := os.ReadFile(filepath.Join(dest, "usr/local/lib/systemd/system/mq9.service"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(unit)).To(And(ContainSubstring("\nExecStart=/usr/local/bin/mq9 serve\n"), ContainSubstring("=/etc/mq9/mq9.toml\n"), Not(ContainSubstring("@BIN"))))
		for _, completion := range []string{"bash-completion/completions/mq9", "zsh/site-functions/_mq9", "fish/vendor_completions.d/mq9.fish"} {
			Expect(os.ReadFile(filepath.Join(dest, "usr/local/share", completion))).NotTo(BeEmpty())
		}
		conf := filepath.Join(dest, "etc/mq9/mq9.toml")
		Expect(exec.Command(program, "config", "check", conf).Run()).To(Succeed())

		Expect(os.WriteFile(conf, []byte("max_mailboxes = 3\n"), 0o600)).To(Succeed())
		install("DESTDIR=" + dest)
		Expect(os.ReadFile(conf)).To(BeEquivalentTo("max_mailboxes = 3\n"))
	})

	It("has a unit that is hardened, and that systemd understands", func() {
		root := GinkgoT().TempDir()
		install("PREFIX="+filepath.Join(root, "usr"), "SYSCONFDIR="+filepath.Join(root, "etc"))
		path := filepath.Join(root, "usr/lib/systemd/system/mq9.service")
		unit, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Split(string(unit), "\n")).To(ContainElements(
			"Type=notify", "DynamicUser=yes", "StateDirectory=mq9", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=",
		))
		analyze, err := exec.LookPath("systemd-analyze")
		if err != nil {
			return // the lines above have to do where there is no systemd
		}
		for _, args := range [][]string{{"verify", "--man=no", path}, {"security", "--offline=yes", "--threshold=20", "--no-pager", path}} {
			out, err := exec.Command(analyze, args...).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), "%s", out)
		}
	})
})
