package specs_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("The HTTP address", func() {
	status := func(own *harness.Broker, path, token string) int {
		GinkgoHelper()
		r, err := http.NewRequest(http.MethodGet, "http://"+own.HTTP+path, nil)
		Expect(err).NotTo(HaveOccurred())
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultClient.Do(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		return response.StatusCode
	}

	It("wants its token for all but /healthz and /readyz, and the command line brings it", func() {
		const token = "correct-horse-battery"
		dir := GinkgoT().TempDir()
		file := filepath.Join(dir, "token")
		Expect(os.WriteFile(file, []byte(token+"\n"), 0o600)).To(Succeed())
		own := harness.StartBroker(program, "--http-token-file", file)
		Expect(status(own, "/healthz", "")).To(Equal(http.StatusOK))
		Expect(status(own, "/readyz", "")).To(Equal(http.StatusOK))
		Expect(status(own, "/anything", "")).To(Equal(http.StatusUnauthorized))
		Expect(status(own, "/anything", "wrong-horse-battery!!")).To(Equal(http.StatusUnauthorized))
		Expect(status(own, "/anything", token)).To(Equal(http.StatusNotFound))

		snapshot := filepath.Join(filepath.Dir(own.DataDir), "snapshot") // on the file system of the data
		out, err := exec.Command(program, "snapshot", "--http", own.HTTP, snapshot).CombinedOutput()
		Expect(err).To(HaveOccurred())
		Expect(string(out)).To(ContainSubstring("http_token_file"))
		out, err = exec.Command(program, "snapshot", "--http", own.HTTP, "--http-token-file", file, snapshot).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(own.Log()).NotTo(ContainSubstring(token))
	})

	It("does not open to other machines without a token", func() {
		for _, address := range []string{"0.0.0.0:0", ":0"} {
			out, err := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--http", address, "--data-dir", GinkgoT().TempDir()).CombinedOutput()
			Expect(err).To(HaveOccurred())
			Expect(string(out)).To(ContainSubstring("http_token_file"))
		}
	})

	It("answers no web page whose name was made to point to it", func() {
		own := harness.StartBroker(program)
		r, err := http.NewRequest(http.MethodGet, "http://"+own.HTTP+"/anything", nil)
		Expect(err).NotTo(HaveOccurred())
		r.Host = "evil.example.org"
		response, err := http.DefaultClient.Do(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.StatusCode).To(Equal(http.StatusForbidden))
	})
})
