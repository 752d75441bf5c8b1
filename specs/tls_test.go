package specs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// TLS for clients is the front's work, from the `tls` block of the nats-server configuration.
var _ = Describe("TLS", func() {
	var ca *authority
	BeforeEach(func() { ca = newAuthority() })

	// serve runs a broker with a certificate of the authority and more of a tls block.
	serve := func(block, rest string) *harness.Broker {
		GinkgoHelper()
		cert, key := ca.issue("broker", "broker")
		return harness.StartBroker(program, "--nats-config", writeConfig(
			fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, %s }\n%s", cert, key, ca.file, block, rest)))
	}
	trusting := func() *tls.Config { return &tls.Config{RootCAs: ca.pool, MinVersion: tls.VersionTLS12} }

	It("takes over new certificate files at a reload: new connections get them, old ones stay", func() {
		own := serve("timeout: 5", "")
		old := own.Connect(nats.Secure(trusting()))
		id := old.Private()
		serial := func() *big.Int {
			c := own.Connect(nats.Secure(trusting()))
			state, err := c.TLSConnectionState()
			Expect(err).NotTo(HaveOccurred())
			return state.PeerCertificates[0].SerialNumber
		}
		before := serial()
		ca.issue("broker", "broker")
		Expect(serial()).To(Equal(before), "nothing changes by itself")
		own.Reload()
		Expect(serial()).NotTo(Equal(before))
		old.Send(id, "still here")
		Expect(old.Reconnects).To(BeZero())

		Expect(os.WriteFile(filepath.Join(ca.dir, "broker.pem"), []byte("no certificate"), 0o600)).To(Succeed())
		own.Hangup()
		Eventually(own.Log).Should(ContainSubstring("nothing is changed"))
		own.Connect(nats.Secure(trusting())).Private()
	})

	It("takes no version below the least that is configured, and none below 1.2", func() {
		for least, refused := range map[string]uint16{`min_version: "1.3"`: tls.VersionTLS12, "": tls.VersionTLS11} {
			own := serve(least, "")
			config := trusting()
			config.MinVersion, config.MaxVersion = tls.VersionTLS10, refused
			_, err := nats.Connect("nats://"+own.Addr, nats.Secure(config))
			Expect(err).To(MatchError(ContainSubstring("protocol version")))
			config.MaxVersion = 0
			own.Connect(nats.Secure(config)).Private()
		}
	})

	It("comes before everything else if so configured", func() {
		own := serve("handshake_first: true", "")
		own.Connect(nats.Secure(trusting()), nats.TLSHandshakeFirst()).Private()
		conn, err := net.Dial("tcp", own.Addr)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(conn.Close)
		_, err = conn.Write([]byte(harness.Ordinary))
		Expect(err).NotTo(HaveOccurred())
		Expect(conn.SetReadDeadline(time.Now().Add(requestTimeout))).To(Succeed())
		said := make([]byte, 100)
		n, _ := conn.Read(said)
		Expect(string(said[:n])).NotTo(ContainSubstring("INFO"))
	})

	It("says who a client is by its certificate, with verify_and_map", func() {
		own := serve("verify_and_map: true", `authorization { users [
			{ user: "all@example.org" }
			{ user: "CN=reader", permissions { publish: { deny: ">" } } }
		] }`)
		with := func(name string) nats.Option {
			pair, err := tls.LoadX509KeyPair(ca.issue(name, name))
			Expect(err).NotTo(HaveOccurred())
			config := trusting()
			config.Certificates = []tls.Certificate{pair}
			return nats.Secure(config)
		}
		all, reader := own.Connect(with("all@example.org")), own.Connect(with("reader"))
		id := all.Private()
		all.Send(id, "hello")
		Eventually(reader.Mailbox(id).Payloads).Should(Equal([]string{"hello"}))
		reader.Publish(id, "no")
		reader.Sync()
		Eventually(reader.Errors).Should(ConsistOf(ContainSubstring("the permissions of this user")))
		_, err := nats.Connect("nats://"+own.Addr, with("stranger"), nats.UserInfo("all@example.org", ""))
		Expect(err).To(MatchError(nats.ErrAuthorization))
		_, err = nats.Connect("nats://"+own.Addr, nats.Secure(trusting()))
		Expect(err).To(HaveOccurred())
	})

	It("gives up on a client that does not shake hands in time", func() {
		own := serve("timeout: 0.2", "")
		raw := own.Dial()
		Expect(raw.Until(harness.EOF)).To(HaveLen(1))
	})
})

// authority issues certificates into files.
type authority struct {
	dir, file string
	pool      *x509.CertPool
	key       *ecdsa.PrivateKey
	cert      *x509.Certificate
	serial    int64
}

func newAuthority() *authority {
	GinkgoHelper()
	a := &authority{dir: GinkgoT().TempDir(), pool: x509.NewCertPool()}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mq9 specs"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	Expect(err).NotTo(HaveOccurred())
	a.cert, err = x509.ParseCertificate(der)
	Expect(err).NotTo(HaveOccurred())
	a.pool.AddCert(a.cert)
	a.file = a.write("ca.pem", "CERTIFICATE", der)
	return a
}

// issue writes a certificate with a new key into the files of that name. The subject is an e-mail address if it looks like one.
func (a *authority) issue(name, subject string) (certFile, keyFile string) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1 + a.serial), Subject: pkix.Name{CommonName: subject}, EmailAddresses: []string{subject},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for last := range byte(64) {
		template.IPAddresses = append(template.IPAddresses, net.IPv4(127, 0, 0, last))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	Expect(err).NotTo(HaveOccurred())
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	return a.write(name+".pem", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", keyDER)
}

func (a *authority) write(name, kind string, der []byte) string {
	GinkgoHelper()
	path := filepath.Join(a.dir, name)
	Expect(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)).To(Succeed())
	return path
}
