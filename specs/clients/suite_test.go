package clients_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

func TestClients(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "mq9 through other people's clients")
}

var (
	broker *harness.Broker // shared; each spec uses mailboxes of its own
	natsIn string          // the directory that holds the nats command
)

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(30 * time.Second)
	cli := os.Getenv("NATS_CLI")
	if cli == "" {
		cli = "bin/tools/nats"
	}
	if !filepath.IsAbs(cli) {
		cli = filepath.Join(harness.Root(), cli)
	}
	Expect(cli).To(BeAnExistingFile(), "`make tools` installs the nats command")
	natsIn = filepath.Dir(cli)

	dir, err := os.MkdirTemp("", "mq9-clients-")
	Expect(err).NotTo(HaveOccurred())
	broker = harness.NewBroker(harness.BuildBroker(), dir)
	broker.Start()
	DeferCleanup(func() {
		broker.Stop()
		broker.CheckLog()
		Expect(os.RemoveAll(dir)).To(Succeed())
	})
})

var _ = AfterEach(func() { broker.CheckLog() })
