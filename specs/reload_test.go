package specs_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"syscall"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// SIGHUP has a running broker read its configuration again.
var _ = Describe("SIGHUP", func() {
	const done, refused = "the configuration is reloaded", "nothing is changed"

	var (
		own  *harness.Broker
		path string // of its file
		said int    // bytes of the log before the last reload
	)

	start := func(text string, flags ...string) {
		GinkgoHelper()
		path = writeConfig(text)
		own = harness.StartBroker(program, append([]string{"--config", path}, flags...)...)
	}
	// reload signals and returns the log from then on, when it holds the last line.
	reload := func(last string) string {
		GinkgoHelper()
		said = len(own.Log())
		own.Signal(syscall.SIGHUP)
		recent := func() string { return own.Log()[said:] }
		Eventually(recent).Should(ContainSubstring(last))
		return recent()
	}
	rewrite := func(path, text string) {
		GinkgoHelper()
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	}

	It("changes the limits and the log's level", func() {
		start("max_mailboxes = 1\n")
		agent := own.Connect()
		id := agent.Private()
		Expect(agent.Refused(harness.Create, "").Code).To(Equal(429))

		rewrite(path, "max_mailboxes = 2\nmax_mailbox_messages = 1\nmax_memory = \"10KB\"\nmax_subscriptions = 3\nmax_connections = 2\nlog_level = \"debug\"\n")
		log := reload(done)
		for _, key := range []string{"max_mailboxes", "max_mailbox_messages", "max_memory", "max_subscriptions", "max_connections", "log_level"} {
			Expect(log).To(ContainSubstring("key=" + key))
		}
		Expect(log).To(ContainSubstring("from=1 to=2"))
		agent.Private()
		Expect(agent.Refused(harness.Create, "").Code).To(Equal(429))
		agent.Send(id, "x")
		Expect(agent.Refused(harness.Send+id, "").Error).To(ContainSubstring("max-mailbox-messages"))
		for range 2 { // its inbox is the third
			agent.Mailbox(id)
		}
		_, err := agent.SubscribeSync(harness.Send + id)
		Expect(err).NotTo(HaveOccurred())
		Eventually(agent.Errors).Should(ConsistOf(ContainSubstring("max-subscriptions")))
		own.Connect()
		Expect(own.Dial().Until(harness.EOF)).To(ContainElement(harness.Frame{Op: "-ERR", Args: "'maximum connections exceeded'"}))

		rewrite(path, "")
		Expect(reload(done)).To(ContainSubstring("DBG"), "the level is debug until now")
		agent.Private()
		Expect(agent.Stored(id)).To(HaveLen(1), "what is stored stays")
	})

	It("says key by key what waits for a restart, each time", func() {
		start("delivery = \"bare\"\n")
		rewrite(path, "delivery = \"envelope\"\nsync_interval = \"1s\"\n")
		for range 2 {
			log := reload(done)
			Expect(log).To(ContainSubstring("a restart is needed to change this key=delivery is=bare will_be=envelope"))
			Expect(log).To(ContainSubstring("key=sync_interval is=100ms will_be=1s"))
		}
		agent := own.Connect()
		id := agent.Private()
		agent.Send(id, "plain")
		Eventually(agent.Mailbox(id).Payloads).Should(Equal([]string{"plain"}))
	})

	It("changes nothing when the file is broken, and says what is wrong with it", func() {
		start("max_mailboxes = 1\n")
		agent := own.Connect()
		agent.Private()
		for _, broken := range []string{"max_mailboxes = 5\nsync = \"often\"\n", "max_mailboxes = 5\n= 3\n"} {
			rewrite(path, broken)
			Expect(reload(refused)).To(And(ContainSubstring("ERR"), ContainSubstring(path+":2")))
			Expect(agent.Refused(harness.Create, "").Code).To(Equal(429))
		}
		Expect(os.Remove(path)).To(Succeed())
		Expect(reload(refused)).To(ContainSubstring(path))
		rewrite(path, "max_mailboxes = 2\n")
		reload(done)
		agent.Private()
	})

	It("gives new connections the new certificate, and leaves the others alone", func() {
		cert, key, pool := selfSigned()
		conf := writeConfig(fmt.Sprintf("tls { cert_file: %q, key_file: %q }", cert, key))
		start("", "--nats-config", conf)
		secure := func(pool *x509.CertPool) nats.Option {
			return nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
		}
		before := own.Connect(secure(pool), nats.NoReconnect())
		id := before.Private()

		newCert, newKey, newPool := selfSigned()
		Expect(os.Rename(newCert, cert)).To(Succeed())
		Expect(os.Rename(newKey, key)).To(Succeed())
		reload(done)
		after := own.Connect(secure(newPool))
		after.Send(id, "under the new one")
		Eventually(before.Mailbox(id).Payloads).Should(Equal([]string{"under the new one"}))
		_, err := nats.Connect("nats://"+own.Addr, secure(pool))
		Expect(err).To(HaveOccurred(), "the old one is shown no more")

		rewrite(cert, "this is no certificate")
		Expect(reload(refused)).To(ContainSubstring("ERR"))
		own.Connect(secure(newPool)).Private()
	})

	It("changes the users: those who are gone are disconnected", func() {
		const users = `authorization { users [ { user: a, password: first-secret }, { user: %s, password: second-secret } ] }`
		conf := writeConfig(fmt.Sprintf(users, "b"))
		start("", "--nats-config", conf)
		staying := own.Connect(nats.UserInfo("a", "first-secret"))
		id := staying.Private()
		leaving := own.Connect(nats.UserInfo("b", "second-secret"), nats.NoReconnect())
		leaving.Mailbox(id)

		rewrite(conf, fmt.Sprintf(users, "c"))
		Expect(reload(done)).NotTo(ContainSubstring("secret"))
		Eventually(leaving.IsClosed).Should(BeTrue())
		_, err := nats.Connect("nats://"+own.Addr, nats.UserInfo("b", "second-secret"))
		Expect(err).To(MatchError(nats.ErrAuthorization))
		own.Connect(nats.UserInfo("c", "second-secret")).Send(id, "from the new user")
		Eventually(staying.Mailbox(id).Payloads).Should(Equal([]string{"from the new user"}))
	})

	It("changes nothing when nats-server cannot change it while it runs", func() {
		conf := writeConfig("server_name: one\n")
		start("max_mailboxes = 1\n", "--nats-config", conf)
		rewrite(path, "max_mailboxes = 2\n")
		rewrite(conf, "server_name: two\n")
		Expect(reload(refused)).To(And(ContainSubstring("ERR"), ContainSubstring("ServerName")))
		agent := own.Connect()
		Expect(agent.ConnectedServerName()).To(Equal("one"))
		agent.Private()
		Expect(agent.Refused(harness.Create, "").Code).To(Equal(429))
	})

	It("leaves JetStream running", func() {
		conf := writeConfig(fmt.Sprintf("jetstream { store_dir: %q }", GinkgoT().TempDir()))
		start("", "--nats-config", conf)
		js, err := own.Connect().JetStream()
		Expect(err).NotTo(HaveOccurred())
		_, err = js.AddStream(&nats.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
		Expect(err).NotTo(HaveOccurred())
		reload(done)
		_, err = js.Publish("orders.1", []byte("still here"))
		Expect(err).NotTo(HaveOccurred())
	})
})
