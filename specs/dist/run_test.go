package dist_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("The binary of the tarball", func() {
	var root string // holds the binary, as /mq9, and nothing else

	BeforeEach(func() {
		root = GinkgoT().TempDir()
		Expect(os.Link(filepath.Join(tree, "mq9"), filepath.Join(root, "mq9"))).To(Succeed())
	})

	// mq9 runs a command in the root and returns what it prints.
	mq9 := func(server string, args ...string) string {
		GinkgoHelper()
		var errs strings.Builder
		cmd := exec.Command("/mq9", args...)
		cmd.Env, cmd.Stderr = []string{"NATS_URL=" + server}, &errs
		harness.Confine(cmd, root)
		out, err := cmd.Output()
		Expect(err).NotTo(HaveOccurred(), "mq9 %v: %s", args, &errs)
		return strings.TrimSuffix(string(out), "\n")
	}

	// serving is a broker in the root.
	serving := func() *harness.Broker {
		GinkgoHelper()
		own := harness.NewBroker("/mq9", GinkgoT().TempDir())
		own.Root, own.DataDir = root, "/data"
		DeferCleanup(func() {
			own.Kill()
			own.CheckLog()
		})
		own.Start()
		return own
	}

	It("is no dynamic executable", func() {
		out, err := exec.Command("ldd", filepath.Join(root, "mq9")).CombinedOutput()
		Expect(err).To(HaveOccurred())
		Expect(string(out)).To(ContainSubstring("not a dynamic executable"))
	})

	It("keeps a critical message through a kill, in a root that holds nothing else", func() {
		own := serving()
		server := "nats://" + own.Addr
		box := mq9(server, "create", "--ttl", "1h")
		id := mq9(server, "send", box, "--priority", "critical", "put out the fire")
		Expect(mq9(server, "ls", box)).To(ContainSubstring(id))
		own.Restart()
		Expect(mq9(server, "watch", box, "--count", "1", "--raw", "--delete")).To(Equal("put out the fire"))
		Expect(mq9(server, "ls", box)).NotTo(ContainSubstring(id))
		own.Stop()
		entries, err := os.ReadDir(root)
		Expect(err).NotTo(HaveOccurred())
		Expect(entries).To(HaveLen(2), "the binary and its data")
	})

	It("resolves names without a C library", func() {
		own := serving()
		host, port, _ := strings.Cut(own.Addr, ":")
		Expect(os.Mkdir(filepath.Join(root, "etc"), 0o755)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(root, "etc/hosts"), []byte(host+" broker.test\n"), 0o600)).To(Succeed())
		Expect(mq9("nats://broker.test:"+port, "create", "--public", "by.name")).To(Equal("by.name"))
	})

	It("says the version of the tarball", func() {
		version := strings.TrimPrefix(top[:strings.LastIndex(top, "-linux-")], "mq9-")
		Expect(mq9("", "version")).To(HavePrefix("mq9 " + version + " "))
	})
})
