package specs_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/linxGnu/grocksdb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// What the binary does when it starts, or cannot.
var _ = Describe("Starting", func() {
	// run runs a command that must end by itself, and returns its exit code and what it printed.
	run := func(cmd *exec.Cmd) (code int, stdout, stderr string) {
		GinkgoHelper()
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		Expect(cmd.Start()).To(Succeed())
		overdue := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			Expect(err).To(BeAssignableToTypeOf(&exec.ExitError{}))
		}
		Expect(overdue.Stop()).To(BeTrue(), "it did not end by itself: %s", &errs)
		return cmd.ProcessState.ExitCode(), out.String(), errs.String()
	}

	// failing checks that a command ends with one clear line and a non-zero exit code, and returns the line.
	failing := func(cmd *exec.Cmd) string {
		GinkgoHelper()
		code, stdout, stderr := run(cmd)
		Expect(code).To(BeNumerically(">", 0), stderr)
		Expect(stdout).To(BeEmpty())
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		Expect(lines).To(HaveLen(1), stderr)
		return lines[0]
	}

	prepared := func(flags ...string) *harness.Broker {
		GinkgoHelper()
		return harness.NewBroker(program, GinkgoT().TempDir(), flags...)
	}

	DescribeTable("fails with one clear line",
		func(mentions string, flags ...string) {
			Expect(failing(prepared(flags...).Command())).To(ContainSubstring(mentions))
		},
		Entry("for an unknown flag", "--frobnicate", "--frobnicate"),
		Entry("for an unknown sync mode", "sometimes", "--sync", "sometimes"),
		Entry("for an unknown delivery format", "xml", "--delivery", "xml"),
		Entry("for an unknown log level", "loud", "--log-level", "loud"),
		Entry("for an unknown log format", "yaml", "--log-format", "yaml"),
		Entry("for an address that is none", "not-an-address", "--listen", "not-an-address"),
		Entry("for an HTTP address that is none", "not-an-address", "--http", "not-an-address"),
		Entry("for a port out of range", "99999", "--listen", "127.0.0.1:99999"),
		Entry("for an absent nats-server configuration", "absent.conf", "--nats-config", "/nonexistent/absent.conf"),
		Entry("for an argument too many", "surplus", "surplus"),
	)

	It("fails with one clear line for a nats-server configuration that is broken", func() {
		own := prepared("--nats-config", writeConfig("max_payload: {{{\n"))
		Expect(failing(own.Command())).To(And(ContainSubstring("configuration"), ContainSubstring("line 2")))
	})

	It("fails with one clear line for a data directory that cannot be made", func() {
		own := prepared()
		own.DataDir = filepath.Join(own.Binary, "below-a-file")
		Expect(failing(own.Command())).To(ContainSubstring("below-a-file"))
	})

	It("fails with one clear line for an unknown command", func() {
		Expect(failing(exec.Command(program, "frobnicate"))).To(ContainSubstring("frobnicate"))
	})

	DescribeTable("fails with one clear line when a port is in use",
		func(take func(*harness.Broker) string) {
			own := prepared()
			addr := take(own)
			l, err := net.Listen("tcp", addr)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(l.Close)
			Expect(failing(own.Command())).To(ContainSubstring(addr))
		},
		Entry("the clients'", func(b *harness.Broker) string { return b.Addr }),
		Entry("the HTTP one", func(b *harness.Broker) string { return b.HTTP }),
	)

	It("fails with one clear line when another broker has the data directory, which goes on unharmed", func() { // fault kind 6
		first := harness.StartBroker(program)
		second := prepared()
		second.DataDir = first.DataDir
		Expect(failing(second.Command())).To(ContainSubstring(second.DataDir))
		first.Connect().Private()
	})

	It("is not stopped by the lock that a killed broker left", func() {
		own := harness.StartBroker(program)
		own.Restart()
		own.Connect().Private()
	})

	It("fails with one clear line for a data directory of an unknown format", func() {
		own := harness.StartBroker(program)
		own.Stop()
		setFormat(own.DataDir, 9999)
		line := failing(own.Command())
		Expect(line).To(And(ContainSubstring("format"), ContainSubstring("9999")))
	})

	It("fails with one clear line for a data directory that holds something else", func() {
		own := prepared()
		Expect(os.MkdirAll(own.DataDir, 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(own.DataDir, "thesis.tex"), []byte("years of work"), 0o600)).To(Succeed())
		Expect(failing(own.Command())).To(ContainSubstring(own.DataDir))
		Expect(filepath.Join(own.DataDir, "thesis.tex")).To(BeAnExistingFile())
	})

	It("keeps the data directory to its owner", func() {
		own := harness.StartBroker(program)
		info, err := os.Stat(own.DataDir)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm() & 0o077).To(Equal(fs.FileMode(0)))
	})

	It("tells its health and its readiness over HTTP", func() {
		for _, path := range []string{"/healthz", "/readyz"} {
			resp, err := http.Get("http://" + broker.HTTP + path)
			Expect(err).NotTo(HaveOccurred())
			Expect(resp.Body.Close()).To(Succeed())
			Expect(resp.StatusCode).To(Equal(http.StatusOK))
		}
		resp, err := http.Get("http://" + broker.HTTP + "/nothing-here")
		Expect(err).NotTo(HaveOccurred())
		Expect(resp.Body.Close()).To(Succeed())
		Expect(resp.StatusCode).To(Equal(http.StatusNotFound))
	})

	It("tells its version", func() {
		code, stdout, stderr := run(exec.Command(program, "version"))
		Expect(code).To(BeZero())
		Expect(stdout).To(MatchRegexp(`^mq9 \S+`))
		Expect(stderr).To(BeEmpty())
	})

	It("greets with commands that work as they stand, and with the page's address", func() {
		own := harness.StartBroker(program)
		Eventually(own.Log).Should(ContainSubstring("What goes on here: http://" + own.HTTP + "/"))
		commands := regexp.MustCompile(`(?m)^  mq9 (create|send|watch) .*$`).FindAllString(own.Log(), -1)
		Expect(commands).To(HaveLen(3))
		for _, line := range append(commands[:2], commands[2]+" --count 1 --raw") {
			out, err := exec.Command("bash", "-c", strings.Replace(line, "mq9", program, 1)).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), "%s\n%s", line, out)
			if strings.Contains(line, "watch") {
				Expect(string(out)).To(Equal("first things first\n"))
			}
		}
	})

	It("can log JSON, line by line", func() {
		own := harness.StartBroker(program, "--log-format", "json", "--log-level", "debug")
		agent := own.Connect()
		id := agent.Private()
		agent.Send(id, "x")
		agent.Mailbox(id)
		agent.Refused(harness.ListOf+id+".x", "")
		own.Stop()
		for line := range strings.Lines(own.Log()) {
			Expect(strings.TrimSpace(line)).To(And(HavePrefix("{"), HaveSuffix("}")))
		}
	})
})

// setFormat writes a format version into a data directory, as a broker of another time would have.
func setFormat(dataDir string, version uint32) {
	GinkgoHelper()
	opts := grocksdb.NewDefaultOptions()
	defer opts.Destroy()
	families, err := grocksdb.ListColumnFamilies(opts, dataDir)
	Expect(err).NotTo(HaveOccurred())
	familyOpts := make([]*grocksdb.Options, len(families))
	for i := range familyOpts {
		familyOpts[i] = opts
	}
	db, handles, err := grocksdb.OpenDbColumnFamilies(opts, dataDir, families, familyOpts)
	Expect(err).NotTo(HaveOccurred())
	defer db.Close()
	for _, h := range handles {
		defer h.Destroy() // before the Close: they must not outlive the database
	}
	write := grocksdb.NewDefaultWriteOptions()
	defer write.Destroy()
	Expect(db.Put(write, []byte("format"), binary.BigEndian.AppendUint32(nil, version))).To(Succeed())
}
