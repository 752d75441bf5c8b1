package specs_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// overUnix makes a client dial a socket file, whatever its server's address.
type overUnix string

// Dial implements nats.CustomDialer.
func (path overUnix) Dial(_, _ string) (net.Conn, error) { return net.Dial("unix", string(path)) }

var _ = Describe("The Unix socket", func() {
	It("serves clients, opens to the broker's user alone, and is replaced when its broker was killed", func() {
		path := filepath.Join(GinkgoT().TempDir(), "mq9.sock")
		own := harness.StartBroker(program, "--unix", path)
		info, err := os.Stat(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		agent := own.Connect(nats.SetCustomDialer(overUnix(path)))
		id := agent.Private()
		agent.Send(id+urgent, "x")
		own.Restart()
		Eventually(agent.IsConnected).Should(BeTrue())
		Expect(agent.Stored(id)).To(HaveLen(1))
		own.Stop()
		Expect(path).NotTo(BeAnExistingFile())
	})

	It("is not taken from another broker, and no file is lost to it", func() {
		dir := GinkgoT().TempDir()
		path, file := filepath.Join(dir, "mq9.sock"), filepath.Join(dir, "notes")
		own := harness.StartBroker(program, "--unix", path)
		Expect(os.WriteFile(file, []byte("precious"), 0o600)).To(Succeed())
		for at, why := range map[string]string{path: "somebody does already", file: "no socket"} {
			out, err := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "other"), "--unix", at).CombinedOutput()
			Expect(err).To(HaveOccurred())
			Expect(string(out)).To(ContainSubstring(why))
		}
		own.Connect(nats.SetCustomDialer(overUnix(path))).Private()
		Expect(os.ReadFile(file)).To(BeEquivalentTo("precious"))
	})

	It("asks for credentials as the ordinary listener does, and not for TLS", func() {
		path := filepath.Join(GinkgoT().TempDir(), "mq9.sock")
		cert, key, _ := selfSigned()
		own := harness.StartBroker(program, "--unix", path, "--nats-config", writeConfig(
			"tls { cert_file: \""+cert+"\", key_file: \""+key+"\" }\nauthorization { user: u, password: p }"))
		own.Connect(nats.SetCustomDialer(overUnix(path)), nats.UserInfo("u", "p")).Private()
		_, err := nats.Connect("nats://"+own.Addr, nats.SetCustomDialer(overUnix(path)))
		Expect(err).To(MatchError(nats.ErrAuthorization))
	})
})
