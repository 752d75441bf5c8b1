package specs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// What `--nats-config` and the flags of `mq9 serve` change.
var _ = Describe("With a nats-server configuration", func() {
	serve := func(conf string) *harness.Broker {
		GinkgoHelper()
		return harness.StartBroker(program, "--nats-config", writeConfig(conf))
	}

	It("keeps the mailboxes of two accounts apart", func() {
		own := serve(`accounts {
			RED  { users [ { user: red, password: r } ] }
			BLUE { users [ { user: blue, password: b } ] }
		}`)
		red, blue := own.Connect(nats.UserInfo("red", "r")), own.Connect(nats.UserInfo("blue", "b"))

		id := red.Private()
		red.Send(id+critical, "for red eyes")
		Expect(blue.Refused(harness.ListOf+id, "").Code).To(Equal(404))
		Expect(blue.Refused(harness.Send+id, "").Code).To(Equal(404))
		_, err := blue.SubscribeSync(harness.Send + id)
		Expect(err).NotTo(HaveOccurred())
		Eventually(blue.Errors).Should(ConsistOf(ContainSubstring("404")))

		watcher := blue.Watch(harness.Discover)
		Expect(red.Create(public("same.name", 60)).IsNew).To(BeTrue())
		Expect(listed(blue)).To(BeEmpty())
		Expect(blue.Create(public("same.name", 60)).IsNew).To(BeTrue(), "each account has names of its own")
		red.Send("same.name", "red")
		blue.Send("same.name", "blue")
		Eventually(red.Mailbox("same.name").Payloads).Should(Equal([]string{"red"}))
		Eventually(blue.Mailbox("same.name").Payloads).Should(Equal([]string{"blue"}))
		Eventually(func() []event { return eventsOf(watcher, "same.name") }).Should(HaveLen(1))

		own.Restart()
		Eventually(red.IsConnected).Should(BeTrue())
		Expect(red.Stored(id)).To(HaveLen(1))
		Eventually(blue.IsConnected).Should(BeTrue())
		Expect(blue.Refused(harness.ListOf+id, "").Code).To(Equal(404), "after a restart too")
	})

	It("lets a client that was refused do nothing", func() {
		own := serve(`authorization { user: u, password: secret }`)
		agent := own.Connect(nats.UserInfo("u", "secret"))
		id := agent.Private()
		_, err := nats.Connect("nats://"+own.Addr, nats.UserInfo("u", "wrong"))
		Expect(err).To(MatchError(nats.ErrAuthorization))
		for _, connect := range []string{"", "CONNECT {}\r\n", `CONNECT {"user":"u","pass":"wrong"}` + "\r\n"} {
			raw := own.Dial()
			raw.Say(connect + "SUB " + harness.Send + id + " 1\r\nPUB " + harness.Send + id + " 1\r\nx\r\nPING\r\n")
			frames := raw.Until(harness.EOF) // it ends with the connection
			Expect(frames).To(ContainElement(harness.Frame{Op: "-ERR", Args: "'Authorization Violation'"}))
			for _, f := range frames {
				Expect(f.Op).To(BeElementOf("-ERR", harness.EOF))
			}
		}
		Expect(agent.Stored(id)).To(BeEmpty())
	})

	It("serves TLS to clients of both halves", func() {
		cert, key, pool := selfSigned()
		own := serve(fmt.Sprintf("tls { cert_file: %q, key_file: %q }", cert, key))
		agent := own.Connect(nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}))
		feed := agent.Watch("plain")
		Expect(agent.Conn.Publish("plain", []byte("text"))).To(Succeed())
		Eventually(feed.Payloads).Should(Equal([]string{"text"}))
		id := agent.Private()
		agent.Send(id, "over TLS")
		Eventually(agent.Mailbox(id).Payloads).Should(Equal([]string{"over TLS"}))
		_, err := nats.Connect("nats://"+own.Addr, nats.Secure(&tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}))
		Expect(err).To(HaveOccurred(), "a client that does not trust it stays away")
	})

	It("serves JetStream beside the mailboxes", func() {
		own := serve(fmt.Sprintf("jetstream { store_dir: %q }", GinkgoT().TempDir()))
		agent := own.Connect()
		js, err := agent.JetStream()
		Expect(err).NotTo(HaveOccurred())
		_, err = js.AddStream(&nats.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
		Expect(err).NotTo(HaveOccurred())
		ack, err := js.Publish("orders.1", []byte("first"))
		Expect(err).NotTo(HaveOccurred())
		Expect(ack.Sequence).To(Equal(uint64(1)))
		sub, err := js.SubscribeSync("orders.>")
		Expect(err).NotTo(HaveOccurred())
		m, err := sub.NextMsg(requestTimeout)
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Data).To(BeEquivalentTo("first"))
		Expect(m.AckSync()).To(Succeed())
		agent.Private()
	})

	It("opens the listeners of the configuration, all but the clients' one, which is --listen's", func() {
		monitor, elsewhere := harness.FreeAddr("127.0.0.1"), harness.FreeAddr("127.0.0.1")
		own := serve(fmt.Sprintf("listen: %q\nhttp: %q\nserver_name: \"named\"\n", elsewhere, monitor))
		Expect(own.Connect().ConnectedServerName()).To(Equal("named"))
		resp, err := http.Get("http://" + monitor + "/varz")
		Expect(err).NotTo(HaveOccurred())
		Expect(resp.Body.Close()).To(Succeed())
		Expect(resp.StatusCode).To(Equal(http.StatusOK))
		_, err = net.Dial("tcp", elsewhere)
		Expect(err).To(HaveOccurred())
	})

	It("takes over the limit of connections", func() {
		own := serve("max_connections: 2\n")
		own.Connect().Private()
		own.Connect()
		Expect(own.Dial().Until(harness.EOF)).To(Equal([]harness.Frame{
			{Op: "-ERR", Args: "'maximum connections exceeded'"}, {Op: harness.EOF},
		}))
	})

	It("takes over its limits", func() {
		own := serve("max_payload: 2048\nmax_control_line: 600\n")
		agent := own.Connect()
		Expect(agent.MaxPayload()).To(Equal(int64(2048)))
		id := agent.Private()
		agent.Send(id, string(make([]byte, 2048)))
		raw := own.DialConnected()
		raw.Pub(harness.Send+id, string(make([]byte, 2049)))
		Expect(raw.Next().Args).To(ContainSubstring("413"))
		raw.Pub("plain", string(make([]byte, 2049)))
		Expect(raw.Next().Args).To(ContainSubstring("Maximum Payload"))
		raw = own.DialConnected()
		raw.Say("PUB " + harness.Send + string(make([]byte, 700)))
		Expect(strings.ToLower(raw.Next().Args)).To(ContainSubstring("maximum control line"))
	})
})

var _ = Describe("The delivery format", func() {
	It("bare adds no headers of the broker: the id is in the reply subject", func() {
		agent := harness.StartBroker(program, "--delivery", "bare").Connect()
		id := agent.Private()
		feed := agent.Mailbox(id)
		msgID := agent.Send(id+urgent, "x")
		Expect(agent.PublishMsg(&nats.Msg{Subject: harness.Send + id, Header: nats.Header{"Own": {"1"}}, Data: []byte("y")})).To(Succeed())
		Eventually(feed.Payloads).Should(Equal([]string{"x", "y"}))
		first, second := feed.Messages()[0], feed.Messages()[1]
		Expect(first.Header).To(BeEmpty())
		Expect(first.Reply).To(Equal(harness.Delete + id + "." + msgID))
		Expect(second.Header).To(Equal(nats.Header{"Own": {"1"}}), "the sender's own are kept")
		Expect(first.Respond(nil)).To(Succeed())
		Expect(agent.Stored(id)).To(HaveLen(1))
	})

	It("envelope wraps id, address, priority, time and payload in JSON", func() {
		agent := harness.StartBroker(program, "--delivery", "envelope").Connect()
		id := agent.Private()
		msgID := agent.Send(id+critical, allBytes())
		feed := agent.Mailbox(id)
		Eventually(feed.Count).Should(Equal(1))
		m := feed.Messages()[0]
		Expect(m.Subject).To(Equal(harness.Send + id + critical))
		var e map[string]any
		Expect(json.Unmarshal(m.Data, &e)).To(Succeed())
		Expect(e).To(HaveLen(5))
		Expect(e).To(And(HaveKeyWithValue("msg_id", msgID), HaveKeyWithValue("mail_id", id), HaveKeyWithValue("priority", "critical")))
		Expect(e).To(HaveKeyWithValue("payload", base64.StdEncoding.EncodeToString([]byte(allBytes()))))
		Expect(e).To(HaveKeyWithValue("ts", BeNumerically("~", time.Now().Unix(), 60)))
		Expect(m.Respond(nil)).To(Succeed())
		Expect(agent.Stored(id)).To(BeEmpty())
	})
})

var _ = DescribeTable("Every sync mode keeps what was flushed before an orderly stop",
	func(mode string) {
		own := harness.StartBroker(program, "--sync", mode)
		agent := own.Connect()
		id := agent.Private()
		agent.Publish(id+critical, numbered("m", 100)...)
		agent.Sync()
		own.Stop()
		own.Start()
		Eventually(own.Connect().Mailbox(id).Payloads).Should(Equal(numbered("m", 100)))
	},
	Entry("always", "always"), Entry("interval", "interval"), Entry("never", "never"))

// selfSigned makes a certificate for the loopback addresses and returns its files and a pool that trusts it.
func selfSigned() (certFile, keyFile string, pool *x509.CertPool) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mq9 specs"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	for last := range byte(64) {
		template.IPAddresses = append(template.IPAddresses, net.IPv4(127, 0, 0, last))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	Expect(err).NotTo(HaveOccurred())
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})

	dir := GinkgoT().TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	Expect(os.WriteFile(certFile, certPEM, 0o600)).To(Succeed())
	Expect(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600)).To(Succeed())
	pool = x509.NewCertPool()
	Expect(pool.AppendCertsFromPEM(certPEM)).To(BeTrue())
	return certFile, keyFile, pool
}
