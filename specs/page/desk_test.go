package page_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("The form", func() {
	var (
		own   *harness.Broker
		agent *harness.Client
		page  *tab
		id    string // of a private mailbox
	)

	BeforeEach(func() {
		own = harness.StartBroker(program)
		agent = own.Connect()
		id = agent.Private()
		page = open("http://" + own.HTTP + "/")
		Eventually(page.text("#state")).Should(Equal("Ready"))
	})

	choose := func(priority string) {
		GinkgoHelper()
		eval[chromedp.Void](page, `document.querySelector('input[value="`+priority+`"]').click()`)
	}

	It("sends to the mailbox whose id is typed", func() {
		got, err := agent.SubscribeSync(harness.Send + id + ".*")
		Expect(err).NotTo(HaveOccurred())
		agent.Sync()
		page.fill("mail-id", id)
		choose("critical")
		page.fill("text", "first things first ✓")
		page.press("send")
		m, err := got.NextMsg(10 * time.Second)
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Subject).To(HaveSuffix(".critical"))
		Expect(string(m.Data)).To(Equal("first things first ✓"))
		Eventually(page.text("#desk-outcome")).Should(Equal("Stored as " + m.Header.Get("Mq9-Msg-Id") + "."))
		Expect(page.document()).NotTo(ContainSubstring(id))
		Expect(page.mentions(id)).To(BeFalse())
		Expect(page.mentions("/api/v1/send")).To(BeTrue())
	})

	It("watches a mailbox: what is stored by priority, then what comes, all of it as text", func() {
		agent.Send(id, `<img src="/page/nothing" onerror="document.title = 'broken'"><b>bold</b>`)
		agent.Send(id+".urgent", "second")
		agent.Send(id+".critical", "first")
		page.fill("mail-id", id)
		page.press("watch")
		messages := func() []string {
			return eval[[]string](page, `[...document.querySelectorAll("#messages li")].reverse().map((li) => li.querySelector(".badge").innerText + ": " + (li.querySelector("pre:last-child")?.textContent ?? ""))`)
		}
		stored := []string{"critical: first", "urgent: second", `normal: <img src="/page/nothing" onerror="document.title = 'broken'"><b>bold</b>`}
		Eventually(messages).Should(Equal(stored))

		m := nats.NewMsg(harness.Send + id + ".urgent")
		m.Header.Set("Trace", "abc")
		m.Data = []byte("live")
		Expect(agent.PublishMsg(m)).To(Succeed())
		Eventually(messages).Should(Equal(append(stored, "urgent: live")))
		Expect(page.text("#messages .headers")()).To(Equal("Trace: abc"))
		agent.Send(id, "\xff\xfe")
		Eventually(page.text("#messages li")).Should(ContainSubstring("2 B, not text"))

		Expect(eval[int](page, `document.querySelectorAll("#messages img, #messages b").length`)).To(BeZero())
		Expect(eval[string](page, `document.title`)).To(Equal("mq9"))
		Expect(page.document()).NotTo(ContainSubstring(id))
		Expect(page.mentions(id)).To(BeFalse())
		Expect(agent.Stored(id)).To(HaveLen(5), "watching takes nothing away")

		page.press("watch")
		Eventually(page.text("#desk-outcome")).Should(Equal("Not watching any more."))
		Eventually(page.text("#private tbody")).Should(MatchRegexp(` 0 9 min \d+ s$`), "the broker has nobody left who reads it")
	})

	It("watches a big backlog without holding anybody up", func() {
		body := strings.Repeat("x", 4<<10)
		for range 300 {
			agent.Publish(id, body)
		}
		agent.Sync()
		page.fill("mail-id", id)
		page.press("watch")
		Eventually(page.text("#watched-note")).Should(HavePrefix("300 came, the last 200 are shown"))
	})

	It("says in place what cannot be done", func() {
		page.fill("mail-id", "nobody.here")
		page.fill("text", "hello?")
		page.press("send")
		Eventually(page.text("#desk-outcome")).Should(HavePrefix("There is no such mailbox"))
		Expect(eval[string](page, `document.getElementById("text").value`)).To(Equal("hello?"), "what was typed is not lost")
		page.fill("mail-id", "no blanks")
		page.press("watch")
		Eventually(page.text("#desk-outcome")).Should(ContainSubstring("white space"))
	})

	It("takes a public mailbox from the list", func() {
		agent.Create(`{"public":true,"name":"task.queue","ttl":600}`)
		Eventually(page.row("public", "task.queue")).ShouldNot(BeEmpty())
		eval[chromedp.Void](page, `document.querySelector("#public button.link").click()`)
		Expect(eval[string](page, `document.getElementById("mail-id").value`)).To(Equal("task.queue"))
		Expect(eval[string](page, `document.activeElement.id`)).To(Equal("text"))
	})

	It("asks for a token where one is needed, and keeps it for the tab", func() {
		const token = "open-sesame-or-not"
		file := filepath.Join(GinkgoT().TempDir(), "token")
		Expect(os.WriteFile(file, []byte(token+"\n"), 0o600)).To(Succeed())
		locked := harness.StartBroker(program, "--http-token-file", file)
		closed := open("http://" + locked.HTTP + "/")
		Eventually(closed.text("#state")).Should(Equal("Token needed"))
		enter := func(word string) {
			closed.fill("token", word)
			eval[chromedp.Void](closed, `document.getElementById("token-form").requestSubmit()`)
		}
		Eventually(closed.text("#token-form label")).Should(Equal("This broker asks for a token"))
		enter("wrong")
		Eventually(closed.text("#notice")).Should(Equal("The broker does not take this token."))
		enter(token)
		Eventually(closed.text("#state")).Should(Equal("Ready"))
		Expect(closed.text("#token-form")()).To(BeEmpty())
		Expect(closed.document()).NotTo(ContainSubstring(token))
		Expect(closed.mentions(token)).To(BeFalse())
		closed.do(chromedp.Reload())
		Eventually(closed.text("#state")).Should(Equal("Ready"), "the tab remembers it")
		eval[chromedp.Void](closed, `sessionStorage.clear()`)
	})
})

var _ = Describe("Sending and watching over HTTP", func() {
	post := func(b *harness.Broker, path, body string) (int, string) {
		GinkgoHelper()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.HTTP+path, strings.NewReader(body))
		Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		Expect(err).NotTo(HaveOccurred())
		defer func() { Expect(answer.Body.Close()).To(Succeed()) }()
		text, err := io.ReadAll(answer.Body)
		Expect(err).NotTo(HaveOccurred())
		return answer.StatusCode, string(text)
	}

	It("is refused by name of what is wrong", func() {
		own := harness.StartBroker(program)
		for body, refusal := range map[string]string{
			`{"mail_id":"nobody.here","text":"x"}`:                        "no such mailbox",
			`{"mail_id":"*.here","text":"x"}`:                             "wildcard",
			`{"mail_id":"a","text":"x","priority":"asap"}`:                "critical, urgent or normal",
			`{"mail_id":"a","text":"x","colour":"red"}`:                   "colour",
			`{"mail_id":"a","text":"` + strings.Repeat("x", 2<<20) + `"}`: "max_payload",
		} {
			status, answer := post(own, "/api/v1/send", body)
			Expect(status).To(BeNumerically(">=", 400))
			Expect(answer).To(ContainSubstring(refusal))
		}
	})

	It("is closed where clients must say who they are", func() {
		file := filepath.Join(GinkgoT().TempDir(), "nats.conf")
		Expect(os.WriteFile(file, []byte("authorization { user: ada, password: secret }\n"), 0o600)).To(Succeed())
		own := harness.StartBroker(program, "--nats-config", file)
		agent := own.Connect(nats.UserInfo("ada", "secret"))
		id := agent.Private()
		for _, path := range []string{"/api/v1/send", "/api/v1/watch"} {
			ask := map[string]string{"mail_id": id}
			if path == "/api/v1/send" {
				ask["text"] = "x"
			}
			body, err := json.Marshal(ask)
			Expect(err).NotTo(HaveOccurred())
			status, answer := post(own, path, string(body))
			Expect(status).To(Equal(http.StatusForbidden))
			Expect(answer).To(ContainSubstring("must authenticate"))
		}
	})
})
