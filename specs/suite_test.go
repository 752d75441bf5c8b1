package specs_test

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

func TestSpecs(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The mq9 broker")
}

var (
	program string          // the mq9 under test
	broker  *harness.Broker // shared by the specs that neither restart nor configure one; each uses mailboxes of its own
)

var _ = SynchronizedBeforeSuite(
	func() []byte { return []byte(harness.BuildBroker()) },
	func(path []byte) {
		SetDefaultEventuallyTimeout(15 * time.Second)
		SetDefaultEventuallyPollingInterval(5 * time.Millisecond)
		SetDefaultConsistentlyDuration(250 * time.Millisecond)
		SetDefaultConsistentlyPollingInterval(10 * time.Millisecond)

		program = string(path)
		dir, err := os.MkdirTemp("", "mq9-specs-")
		Expect(err).NotTo(HaveOccurred())
		broker = harness.NewBroker(program, dir)
		broker.Start()
		DeferCleanup(func() {
			broker.Stop()
			broker.CheckLog()
			Expect(os.RemoveAll(dir)).To(Succeed())
		})
	},
)

var _ = AfterEach(func() { broker.CheckLog() })
