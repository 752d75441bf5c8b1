package page_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// tab is one page in the browser, with what it wrote to the console and asked of the network.
type tab struct {
	ctx context.Context

	mu       sync.Mutex
	console  []string // guarded by mu: errors
	requests []string // guarded by mu: addresses
}

// open opens a page in a tab that is closed when the spec ends. The spec fails if the page wrote an error to the console; that
// a request failed is the browser's own remark and none of the page's.
func open(address string) *tab {
	GinkgoHelper()
	t := &tab{}
	var end context.CancelFunc
	t.ctx, end = chromedp.NewContext(browser)
	var readers sync.WaitGroup
	DeferCleanup(func() {
		end()
		readers.Wait()
		t.mu.Lock()
		defer t.mu.Unlock()
		Expect(t.console).To(BeEmpty(), "errors in the console")
	})
	messages := chromedp.Console(t.ctx)
	sent := chromedp.Events(t.ctx, network.RequestWillBeSent)
	readers.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if (m.IsException() || m.Type == "error" || m.Type == "warning") && m.Source != "network" {
				t.mu.Lock()
				t.console = append(t.console, m.String())
				t.mu.Unlock()
			}
		}
	})
	readers.Go(func() {
		for r, err := range sent {
			if err != nil {
				return
			}
			t.mu.Lock()
			t.requests = append(t.requests, r.Request.URL)
			t.mu.Unlock()
		}
	})
	t.window(1280, 900, false)
	t.do(chromedp.Navigate(address))
	return t
}

// do runs actions that must succeed.
func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, 60*time.Second)
	defer cancel()
	Expect(chromedp.Do(ctx, actions...)).To(Succeed())
}

// eval evaluates an expression of JavaScript.
func eval[T any](t *tab, expression string) T {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, 60*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	Expect(err).NotTo(HaveOccurred(), expression)
	return v
}

// text is a function for Eventually: the text of the first element that a selector finds, as it is seen, with single blanks; empty if there is
// none, or it is hidden.
func (t *tab) text(selector string) func() string {
	return func() string {
		GinkgoHelper()
		return eval[string](t, fmt.Sprintf(`((e) => e?.checkVisibility() ? e.innerText : "")(document.querySelector(%q)).replace(/\s+/g, " ").trim()`, selector))
	}
}

// row is a function for Eventually: the text of the row of a table that begins with a word.
func (t *tab) row(table, word string) func() string {
	return func() string {
		GinkgoHelper()
		return eval[string](t, fmt.Sprintf(
			`([...document.querySelectorAll("#%s tbody tr")].map((r) => r.innerText.replace(/\s+/g, " ").trim()).find((r) => r.startsWith(%q)) ?? "")`, table, word))
	}
}

// fill puts a value into a field as typing does.
func (t *tab) fill(id, value string) {
	GinkgoHelper()
	eval[chromedp.Void](t, fmt.Sprintf(`{ const f = document.getElementById(%q); f.value = %q; f.dispatchEvent(new Event("input", { bubbles: true })); }`, id, value))
}

// press presses a button.
func (t *tab) press(id string) {
	GinkgoHelper()
	eval[chromedp.Void](t, fmt.Sprintf(`document.getElementById(%q).click()`, id))
}

// window sets the size of the window.
func (t *tab) window(width, height int64, phone bool) {
	GinkgoHelper()
	t.do(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: phone})
		return err
	}))
}

// media has the person prefer something, such as prefers-color-scheme: dark.
func (t *tab) media(name, value string) {
	GinkgoHelper()
	t.do(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
		return err
	}))
}

// asked is every address that the page asked for.
func (t *tab) asked() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.requests...)
}

// document is all of the page as HTML.
func (t *tab) document() string {
	GinkgoHelper()
	return eval[string](t, `document.documentElement.outerHTML`)
}

// mentions is a word somewhere in what the page asked for.
func (t *tab) mentions(word string) bool {
	return strings.Contains(strings.Join(t.asked(), "\n"), word)
}
