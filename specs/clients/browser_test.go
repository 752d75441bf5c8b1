package clients_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("An agent in a browser, with nats.js over WebSocket", func() {
	var (
		allowed, strange *httptest.Server // pages of two origins
		addr             string           // of the WebSocket listener
		tab              context.Context
	)

	BeforeEach(func() {
		chromium, err := exec.LookPath("chromium")
		Expect(err).NotTo(HaveOccurred(), "`make chromium` installs the browser")
		script := filepath.Join(GinkgoT().TempDir(), "agent.js")
		out, err := exec.Command("node_modules/.bin/esbuild", "browser.mjs", "--bundle", "--log-level=warning", "--outfile="+script).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
		page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/agent.js" {
				http.ServeFile(w, r, script)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, err := w.Write([]byte(`<!doctype html><title>agent</title><script src="/agent.js"></script>`))
			Expect(err).NotTo(HaveOccurred())
		})
		allowed, strange = httptest.NewServer(page), httptest.NewServer(page)
		DeferCleanup(allowed.Close)
		DeferCleanup(strange.Close)

		addr = harness.FreeAddr("127.0.0.1")
		harness.StartBroker(broker.Binary, "--websocket", addr, "--websocket-origin", allowed.URL)

		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.UserDataDir(GinkgoT().TempDir()))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox) // its sandbox does not work for root
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*commandTimeout)
		DeferCleanup(cancel)
		ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
		DeferCleanup(cancel)
		tab, cancel = chromedp.NewContext(ctx)
		DeferCleanup(cancel)
	})

	// run has a page of the server run the agent.
	run := func(server *httptest.Server) (map[string]any, error) {
		if err := chromedp.Do(tab, chromedp.Navigate(server.URL)); err != nil {
			return nil, err
		}
		return chromedp.Run(tab, chromedp.Evaluate[map[string]any](`agent("ws://`+addr+`")`, chromedp.EvalAwaitPromise))
	}

	It("creates, sends, receives in order, deletes and is refused; a page of another origin is not let in", func() {
		Expect(run(allowed)).To(Equal(map[string]any{
			"created": true, "critical": 5000.0, "received": []any{200000.0, 4.0}, "left": 0.0, "refused": 404.0, "denied": 1.0,
		}))
		_, err := run(strange)
		Expect(err).To(MatchError(ContainSubstring("Error")))
	})
})
