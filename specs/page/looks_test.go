package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// contrasts returns the texts of the page whose contrast with what is behind them is too low (WCAG 2.2, 1.4.3).
const contrasts = `(() => {
	const parts = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
	const ground = (e) => { const layers = []; for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c[3] > 0) layers.unshift(c); } return layers.reduce((below, c) => over(c, below), [255, 255, 255, 1]); };
	const low = [];
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.matches("noscript *, .skip, .hidden")) continue;
		const behind = ground(e), a = light(over(parts(getComputedStyle(e).color), behind)), b = light(behind);
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) low.push(e.tagName + " " + e.className + " " + ratio.toFixed(2) + ": " + e.textContent.trim().slice(0, 30));
	}
	return low;
})()`

var _ = Describe("How the page looks", func() {
	var (
		own   *harness.Broker
		agent *harness.Client
		page  *tab
	)

	BeforeEach(func() {
		own = harness.StartBroker(program)
		agent = own.Connect()
		agent.Create(fmt.Sprintf(`{"public":true,"name":"%s","ttl":600,"desc":"%s"}`, strings.Repeat("long.name.", 16)+"end", strings.Repeat("wide", 60)))
		agent.Create(`{"public":true,"name":"task.queue","ttl":600}`)
		for _, priority := range []string{".critical", ".urgent", ""} {
			agent.Send("task.queue"+priority, strings.Repeat("unbroken", 100))
		}
		agent.Private()
		page = open("http://" + own.HTTP + "/")
		Eventually(page.row("public", "task.queue")).ShouldNot(BeEmpty())
		page.fill("mail-id", "task.queue")
		page.press("watch")
		Eventually(func() int { return eval[int](page, `document.querySelectorAll("#messages li").length`) }).Should(Equal(3))
	})

	It("fits every width from that of a small phone on, without scrolling sideways", func() {
		for _, width := range []int64{320, 360, 390, 640, 768, 1024, 1440} {
			page.window(width, 800, width < 700)
			Eventually(func() int { return eval[int](page, `innerWidth`) }).Should(BeEquivalentTo(width))
			Expect(eval[int](page, `document.documentElement.scrollWidth`)).To(BeNumerically("<=", width), "at %d", width)
			Expect(eval[[]string](page, `[...document.querySelectorAll("main button, main input, main textarea, table, .plot canvas")].filter((e) => e.checkVisibility()
				&& (e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().left < 0)).map((e) => e.id || e.className || e.tagName)`)).To(BeEmpty(), "at %d", width)
		}
	})

	It("has contrast enough in both schemes", func() {
		for scheme, ground := range map[string]string{"light": "rgb(244, 246, 249)", "dark": "rgb(14, 18, 24)"} {
			page.media("prefers-color-scheme", scheme)
			Eventually(func() string { return eval[string](page, `getComputedStyle(document.documentElement).backgroundColor`) }).Should(Equal(ground))
			Expect(eval[[]string](page, contrasts)).To(BeEmpty(), scheme)
		}
	})

	It("keeps still for those who want it", func() {
		moving := `[...document.querySelectorAll("*")].filter((e) => getComputedStyle(e).animationName !== "none" || getComputedStyle(e).transitionDuration !== "0s").length`
		Expect(eval[int](page, moving)).To(BeNumerically(">", 0))
		page.media("prefers-reduced-motion", "reduce")
		Eventually(func() int { return eval[int](page, moving) }).Should(BeZero())
	})

	It("is used with the keyboard alone", func() {
		page.press("watch")
		page.fill("mail-id", "")
		page.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); scrollTo(0, 0)`))
		where := `(() => { const e = document.activeElement, s = getComputedStyle(e), n = getComputedStyle(e.nextElementSibling ?? e);
			return [e.id || e.value || e.innerText, s.outlineStyle !== "none" || (e.type === "radio" && n.outlineStyle !== "none") ? "seen" : "not seen"].join(" "); })()`
		var path []string
		for range 40 {
			page.do(chromedp.KeyEvent(kb.Tab))
			path = append(path, eval[string](page, where))
			if path[len(path)-1] == "mail-id seen" {
				break
			}
		}
		Expect(path[0]).To(Equal("Skip to send and watch seen"))
		Expect(path).To(HaveExactElements(HaveSuffix(" seen"), HaveSuffix(" seen"), HaveSuffix(" seen"), HaveSuffix(" seen"), HaveSuffix(" seen"), HaveSuffix(" seen"),
			Equal("filter seen"), HavePrefix("long.name."), Equal("task.queue seen"), Equal("mail-id seen")))

		page.do(chromedp.KeyEvent("task.queue"), chromedp.KeyEvent(kb.Tab))
		Expect(eval[string](page, where)).To(Equal("normal seen"))
		page.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("by hand"), chromedp.KeyEvent(kb.Tab))
		Expect(eval[string](page, where)).To(Equal("send seen"))
		page.do(chromedp.KeyEvent(kb.Enter))
		Eventually(page.text("#desk-outcome")).Should(HavePrefix("Stored as "))
		page.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "))
		Eventually(page.text("#messages")).Should(ContainSubstring("by hand"))
		Expect(eval[string](page, `document.querySelector("#messages .urgent pre").textContent`)).NotTo(BeEmpty())
	})

	It("keeps the focus in a table while its figures change", func() {
		eval[chromedp.Void](page, `document.querySelectorAll("#public button.link")[1].focus()`)
		agent.Send("task.queue.critical", "another")
		Eventually(page.row("public", "task.queue")).Should(ContainSubstring("task.queue 2 1 1"))
		Expect(eval[string](page, `document.activeElement.innerText`)).To(Equal("task.queue"))
	})

	It("names every field, and every table's columns and rows", func() {
		Expect(eval[[]string](page, `[...document.querySelectorAll("input, textarea")].filter((e) => !e.labels.length || !e.labels[0].innerText.trim()).map((e) => e.id)`)).To(BeEmpty())
		Expect(eval[[]string](page, `[...document.querySelectorAll("button, a")].filter((e) => e.checkVisibility() && !e.innerText.trim()).map((e) => e.outerHTML)`)).To(BeEmpty())
		Expect(eval[[]string](page, `[...document.querySelectorAll("table")].filter((t) => [...t.tHead.rows[0].cells].some((c) => c.scope !== "col") ||
			[...t.tBodies[0].rows].some((r) => r.cells[0].scope !== "row")).map((t) => t.id)`)).To(BeEmpty())
	})

	It("comes from the broker alone, under a policy that lets nothing else in", func() {
		for _, address := range page.asked() {
			Expect(address).To(HavePrefix("http://" + own.HTTP + "/"))
		}
		client := http.Client{Timeout: 10 * time.Second}
		answer, err := client.Get("http://" + own.HTTP + "/")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		policy := answer.Header.Get("Content-Security-Policy")
		Expect(policy).To(ContainSubstring("default-src 'none'"))
		Expect(policy).NotTo(Or(ContainSubstring("unsafe"), ContainSubstring("*"), ContainSubstring("http")))
		tag := answer.Header.Get("ETag")
		Expect(tag).NotTo(BeEmpty())
		again, err := http.NewRequest(http.MethodGet, "http://"+own.HTTP+"/", nil)
		Expect(err).NotTo(HaveOccurred())
		again.Header.Set("If-None-Match", tag)
		answer, err = client.Do(again)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		Expect(answer.StatusCode).To(Equal(http.StatusNotModified))
	})
})
