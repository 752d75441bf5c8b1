package pressure_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var full = flag.Bool("full", false, "take the sizes that the promises name; minutes instead of seconds")

// TestMain does a job instead of running the specs when the environment says so.
func TestMain(m *testing.M) {
	if job := os.Getenv(jobVariable); job != "" {
		os.Exit(doJob(job))
	}
	os.Exit(m.Run())
}

func TestPressure(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The broker under pressure")
}

var (
	program string          // the mq9 under test
	broker  *harness.Broker // shared by the specs that need no other configuration
)

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(10 * time.Millisecond)
	program = harness.BuildBroker()
	dir, err := os.MkdirTemp("", "mq9-pressure-")
	Expect(err).NotTo(HaveOccurred())
	broker = harness.NewBroker(program, dir)
	broker.Start()
	DeferCleanup(func() {
		broker.Stop()
		broker.CheckLog()
		Expect(os.RemoveAll(dir)).To(Succeed())
	})
})

var _ = AfterEach(func() { broker.CheckLog() })

// size is how much of something a spec takes: the second number with -full.
func size(brief, whole int) int {
	if *full {
		return whole
	}
	return brief
}

// withConfig starts a broker for the running spec whose embedded nats-server has this configuration.
func withConfig(text string) *harness.Broker {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "nats.conf")
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return harness.StartBroker(program, "--nats-config", path)
}

// padded is a payload of the given size that begins with a name.
func padded(name string, size int) string {
	return fmt.Sprintf("%s|%0*d", name, size-len(name)-1, 0)
}
