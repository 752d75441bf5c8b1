package page_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

func TestPage(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The page")
}

var (
	program string          // the mq9 under test
	browser context.Context // a running Chromium; each spec has a tab of its own
)

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	program = harness.BuildBroker()
	var options []chromedp.ContextOption
	if os.Geteuid() == 0 { // for whom Chromium has no sandbox
		options = append(options, chromedp.WithAllocatorOptions(chromedp.NoSandbox))
	}
	var end context.CancelFunc
	browser, end = chromedp.NewContext(context.Background(), options...)
	DeferCleanup(end)
	Expect(chromedp.Do(browser)).To(Succeed(), "Chromium does not start: make chromium installs it")
})
