package specs_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mq9-broker/broker/specs/harness"
)

// Objects of the admin API, as far as specs look at them.
type (
	depth       struct{ Messages, Bytes int }
	mailboxView struct {
		Public        bool
		Name, Hash    string
		Counted       bool
		Depth         map[string]depth
		Subscriptions int
		Groups        int
		Members       int
	}
	mailboxPage struct {
		Mailboxes []mailboxView
		Next      string
	}
	connectionView struct {
		ID            uint64
		Name, Address string
		Account       string
		Subscriptions int
		Inflight      int `json:"inflight_bytes"`
		Delivered     int
		Waiting       int
		Slow          bool
	}
	connectionPage struct {
		Connections []connectionView
		Next        string
	}
	groupView struct {
		Mailbox, Group string
		Held, Size     int
		Members        []struct {
			Connection uint64
			Held       int
			Draining   bool
		}
	}
	groupPage struct {
		Groups []groupView
		Next   string
	}
	limitView struct {
		Limits map[string]struct {
			Value, Used int
			Fixed       bool
		}
	}
	statusView struct {
		Ready       bool
		Uptime      float64 `json:"uptime_seconds"`
		Tiers       map[string]struct{ Messages, Bytes int }
		Connections struct{ Now, Slow int }
	}
)

const api = "/api/v1"

var _ = Describe("The admin API", func() {
	var (
		own   *harness.Broker
		agent *harness.Client
	)

	// mailboxes reads all pages.
	mailboxes := func(limit int) (all []mailboxView) {
		GinkgoHelper()
		for after := ""; ; {
			page := read[mailboxPage](own, fmt.Sprintf("%s/mailboxes?limit=%d&after=%s", api, limit, after))
			Expect(len(page.Mailboxes)).To(BeNumerically("<=", limit))
			all = append(all, page.Mailboxes...)
			if after = page.Next; after == "" {
				return all
			}
		}
	}
	named := func(name string) mailboxView {
		GinkgoHelper()
		for _, m := range mailboxes(1000) {
			if m.Name == name {
				return m
			}
		}
		return mailboxView{}
	}

	BeforeEach(func() {
		own = harness.StartBroker(program)
		agent = own.Connect(nats.Name("the agent"))
	})

	It("lists public mailboxes by name and private ones as hashes, page by page, each once", func() {
		var ids []string
		for i := range 7 {
			agent.Create(public(fmt.Sprintf("tour.%d", 6-i), 600))
			ids = append(ids, agent.Private())
		}
		agent.Send("tour.3"+critical, "four")
		agent.Send("tour.3", "two")
		for _, limit := range []int{1, 3, 7, 1000} {
			all := mailboxes(limit)
			Expect(all).To(HaveLen(14))
			hashes := map[string]bool{}
			for i, m := range all {
				if i < 7 {
					Expect(m.Name).To(Equal(fmt.Sprintf("tour.%d", i)))
					continue
				}
				Expect(m.Public).To(BeFalse())
				Expect(m.Name).To(BeEmpty())
				hashes[m.Hash] = true
			}
			Expect(hashes).To(HaveLen(7))
		}
		Expect(named("tour.3").Depth).To(Equal(map[string]depth{"critical": {1, 4}, "urgent": {}, "normal": {1, 3}}))
		_, body := ask(own, http.MethodGet, api+"/mailboxes", "")
		for _, id := range ids {
			Expect(body).NotTo(ContainSubstring(id))
		}
	})

	It("knows after a restart what is on disk, without anybody having used it", func() {
		agent.Create(public("tour", 600))
		for range 5 {
			agent.Send("tour"+urgent, "12345678")
			agent.Send("tour", "gone with the process")
		}
		own.Restart()
		Eventually(func() mailboxView { return named("tour") }).Should(And(
			HaveField("Counted", true),
			HaveField("Depth", map[string]depth{"critical": {}, "urgent": {5, 40}, "normal": {}})))
		Expect(read[statusView](own, api+"/status").Tiers["urgent"]).To(Equal(struct{ Messages, Bytes int }{5, 40}))
	})

	It("shows queue groups, their members and who holds how much, also while one drains and when one is gone", func() {
		agent.Create(public("jobs", 600))
		private := agent.Private()
		first, second := own.Connect(), own.Connect(nats.Name("second"))
		a := first.Work(harness.Send+"jobs", "workers")
		second.Work(harness.Send+private, "spare")
		for range 4 {
			agent.Send("jobs", "x")
		}
		Eventually(a.Count).Should(Equal(4))
		groups := read[groupPage](own, api+"/groups").Groups
		Expect(groups).To(HaveLen(2))
		Expect(groups[0].Mailbox).To(Equal("jobs"))
		Expect(groups[0].Group).To(Equal("workers"))
		Expect(groups[0].Held).To(Equal(4))
		Expect(groups[0].Members).To(HaveLen(1))
		Expect(groups[0].Members[0].Held).To(Equal(4))
		cid, err := first.GetClientID()
		Expect(err).NotTo(HaveOccurred())
		Expect(groups[0].Members[0].Connection).To(Equal(cid))
		Expect(groups[1].Mailbox).To(MatchRegexp(`^[0-9a-f]{12}$`))
		Expect(named("jobs").Members).To(Equal(1))

		page := read[groupPage](own, api+"/groups?limit=1")
		Expect(page.Groups).To(HaveLen(1))
		Expect(read[groupPage](own, api+"/groups?limit=1&after="+page.Next).Groups).To(ConsistOf(HaveField("Group", "spare")))

		Expect(a.Unsubscribe()).To(Succeed())
		first.Sync()
		Eventually(func() bool {
			held := read[groupPage](own, api+"/groups").Groups[0]
			return len(held.Members) == 1 && held.Members[0].Draining && held.Held == 4
		}).Should(BeTrue())
		first.Close()
		Eventually(func() []groupView { return read[groupPage](own, api+"/groups").Groups }).Should(ConsistOf(HaveField("Group", "spare")))
	})

	It("shows connections: who, from where, and what is on its way to them", func() {
		agent.Create(public("tour", 600))
		reader := agent.Mailbox("tour")
		agent.Send("tour", "x")
		Eventually(reader.Count).Should(Equal(1))
		other := own.Connect(nats.Name("for 01234567-89ab-4cde-8f01-23456789abcd"))
		var page connectionPage
		Eventually(func() int {
			page = read[connectionPage](own, api+"/connections")
			return page.Connections[0].Delivered
		}).Should(Equal(1))
		Expect(page.Connections).To(HaveLen(2))
		mine := page.Connections[0]
		Expect(mine.Name).To(Equal("the agent"))
		Expect(mine.Account).To(Equal("$G"))
		Expect(mine.Subscriptions).To(Equal(1))
		host, _, err := net.SplitHostPort(mine.Address)
		Expect(err).NotTo(HaveOccurred())
		Expect(net.ParseIP(host).IsLoopback()).To(BeTrue())
		Expect(page.Connections[1].Name).To(Equal("for (private)"), "a name may hold an address")

		first := read[connectionPage](own, api+"/connections?limit=1")
		Expect(first.Connections).To(HaveLen(1))
		Expect(read[connectionPage](own, api+"/connections?limit=1&after="+first.Next).Connections).To(HaveLen(1))
		other.Close()
		Eventually(func() int { return len(read[connectionPage](own, api+"/connections").Connections) }).Should(Equal(1))
	})

	It("changes limits at once, and none of them when one is wrong", func() {
		put := func(body string) int {
			GinkgoHelper()
			status, _ := ask(own, http.MethodPut, api+"/limits", body)
			return status
		}
		agent.Private()
		for body, want := range map[string]int{
			`{"max-mailboxes":-1}`: 400, `{"max-anything":1}`: 400, `{"max-mailboxes":"1"}`: 400, `[]`: 400,
			`{"max-mailboxes":1,"max-connections":1}`: 409,
		} {
			Expect(put(body)).To(Equal(want), body)
		}
		agent.Private()
		Expect(put(`{"max-mailboxes":2}`)).To(Equal(200))
		Expect(agent.Refused(harness.Create, "").Code).To(Equal(429))
		limit := read[limitView](own, api+"/limits").Limits["max-mailboxes"]
		Expect([]int{limit.Value, limit.Used}).To(Equal([]int{2, 2}))
		Expect(put(`{"max-mailboxes":0}`)).To(Equal(200))
		agent.Private()
	})

	It("changes the log level", func() {
		put := func(level string, want int) {
			GinkgoHelper()
			status, _ := ask(own, http.MethodPut, api+"/log-level", fmt.Sprintf(`{"level":%q}`, level))
			Expect(status).To(Equal(want))
		}
		snapshot := func(name string) {
			GinkgoHelper()
			status, body := ask(own, http.MethodPost, api+"/snapshot", fmt.Sprintf(`{"dir":%q}`, own.DataDir+name))
			Expect(status).To(Equal(201), body)
		}
		put("loud", 400)
		put("warn", 200)
		Expect(read[struct{ Level string }](own, api+"/log-level").Level).To(Equal("warn"))
		snapshot(".one")
		put("info", 200)
		snapshot(".two")
		Expect(own.Log()).To(And(ContainSubstring(".two"), Not(ContainSubstring(".one"))))
	})

	It("takes changes from no web page, and refuses what it does not know in JSON", func() {
		for _, c := range []struct {
			method, path string
			headers      map[string]string
			status       int
		}{
			{http.MethodPut, "/limits", map[string]string{"Content-Type": "application/json", "Origin": "https://example.org"}, 403},
			{http.MethodPut, "/log-level", map[string]string{"Content-Type": "text/plain"}, 403},
			{http.MethodPost, "/snapshot", nil, 403},
			{http.MethodDelete, "/limits", nil, 405},
			{http.MethodGet, "/nothing", nil, 404},
			{http.MethodGet, "/mailboxes?limit=0", nil, 400},
			{http.MethodGet, "/mailboxes?limit=1001", nil, 400},
			{http.MethodGet, "/mailboxes?after=nonsense!", nil, 400},
			{http.MethodGet, "/groups?after=nonsense!", nil, 400},
			{http.MethodGet, "/connections?after=x", nil, 400},
		} {
			r, err := http.NewRequest(c.method, "http://"+own.HTTP+api+c.path, strings.NewReader(`{}`))
			Expect(err).NotTo(HaveOccurred())
			for key, value := range c.headers {
				r.Header.Set(key, value)
			}
			resp, err := http.DefaultClient.Do(r)
			Expect(err).NotTo(HaveOccurred())
			var refusal harness.Refusal
			Expect(json.NewDecoder(resp.Body).Decode(&refusal)).To(Succeed(), c.path)
			Expect(resp.Body.Close()).To(Succeed())
			Expect(resp.StatusCode).To(Equal(c.status), c.path)
			Expect(refusal.Code).To(Equal(c.status), c.path)
			Expect(refusal.Error).NotTo(BeEmpty())
		}
	})

	It("sends a status each second, and ends that when the broker stops", func() {
		resp, err := http.Get("http://" + own.HTTP + api + "/events")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(resp.Body.Close)
		Expect(resp.Header.Get("Content-Type")).To(Equal("text/event-stream"))
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		next := func() statusView {
			GinkgoHelper()
			Expect(lines.Scan()).To(BeTrue())
			Expect(lines.Text()).To(Equal("event: status"))
			Expect(lines.Scan()).To(BeTrue())
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			Expect(ok).To(BeTrue())
			Expect(lines.Scan()).To(BeTrue())
			var s statusView
			Expect(json.Unmarshal([]byte(data), &s)).To(Succeed())
			return s
		}
		one, two := next(), next()
		Expect(two.Uptime - one.Uptime).To(BeNumerically("~", 1, 0.9))
		Expect(two.Ready).To(BeTrue())
		own.Stop()
		for lines.Scan() { // to the end, which comes
		}
		Expect(lines.Err()).NotTo(HaveOccurred())
	})

	It("serves profiles when asked to, and not otherwise", func() {
		status, _ := ask(own, http.MethodGet, "/debug/pprof/", "")
		Expect(status).To(Equal(404))
		profiled := harness.StartBroker(program, "--pprof")
		status, body := ask(profiled, http.MethodGet, "/debug/pprof/goroutine?debug=1", "")
		Expect(status).To(Equal(200))
		Expect(body).To(ContainSubstring("goroutine profile"))
	})

	It("answers what its OpenAPI document says", func() {
		agent.Create(public("tour", 600))
		id := agent.Private()
		worker := agent.Work(harness.Send+id, "w")
		agent.Send(id, "x")
		Eventually(worker.Count).Should(Equal(1))

		_, text := ask(own, http.MethodGet, api+"/openapi.json", "")
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		Expect(err).NotTo(HaveOccurred())
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		Expect(compiler.AddResource("openapi.json", document)).To(Succeed())
		snap := fmt.Sprintf(`{"dir":%q}`, filepath.Join(filepath.Dir(own.DataDir), "snap"))
		checked := 0
		for _, c := range []struct{ method, path, query, body, status string }{
			{"get", "/status", "", "", "200"},
			{"get", "/mailboxes", "?limit=1", "", "200"},
			{"get", "/mailboxes", "", "", "200"},
			{"get", "/mailboxes", "?limit=x", "", "400"},
			{"get", "/connections", "", "", "200"},
			{"get", "/connections", "?after=x", "", "400"},
			{"get", "/groups", "", "", "200"},
			{"get", "/groups", "?limit=x", "", "400"},
			{"get", "/limits", "", "", "200"},
			{"put", "/limits", "", `{"max-mailboxes":9}`, "200"},
			{"put", "/limits", "", `{"max-mailboxes":-9}`, "400"},
			{"put", "/limits", "", `{"max-connections":9}`, "409"},
			{"get", "/log-level", "", "", "200"},
			{"put", "/log-level", "", `{"level":"warn"}`, "200"},
			{"put", "/log-level", "", `{"level":"x"}`, "400"},
			{"post", "/snapshot", "", snap, "201"},
			{"post", "/snapshot", "", snap, "409"},
			{"post", "/snapshot", "", "{", "400"},
			{"get", "/openapi.json", "", "", "200"},
		} {
			what := strings.Join([]string{c.method, c.path + c.query, c.body, c.status}, " ")
			at := "#/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(api+c.path) + "/" + c.method +
				"/responses/" + c.status + "/content/application~1json/schema"
			schema, err := compiler.Compile("openapi.json" + at)
			Expect(err).NotTo(HaveOccurred(), what)
			status, body := ask(own, strings.ToUpper(c.method), api+c.path+c.query, c.body)
			Expect(fmt.Sprint(status)).To(Equal(c.status), "%s: %s", what, body)
			answer, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
			Expect(err).NotTo(HaveOccurred(), what)
			Expect(schema.Validate(answer)).To(Succeed(), "%s: %s", what, body)
			checked++
		}
		Expect(checked).To(BeNumerically(">", 0))
	})

	It("calls a connection slow whose socket takes nothing while deliveries wait", func() {
		agent.Create(public("deep", 600))
		payload := strings.Repeat("x", 8<<10)
		for range 200 {
			agent.Publish("deep", payload)
		}
		agent.Sync()
		dialer := net.Dialer{Control: harness.Small}
		conn, err := dialer.Dial("tcp", own.Addr)
		Expect(err).NotTo(HaveOccurred())
		_, err = conn.Write([]byte("CONNECT {\"verbose\":false,\"name\":\"asleep\"}\r\nSUB " + harness.Send + "deep 1\r\n"))
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []connectionView { return read[connectionPage](own, api+"/connections").Connections }).
			WithTimeout(20 * time.Second).Should(ContainElement(And(
			HaveField("Name", "asleep"), HaveField("Slow", true), HaveField("Waiting", 1),
			HaveField("Inflight", BeNumerically("~", 256<<10, 16<<10)))))
		Eventually(metric(own, "mq9_slow_readers")).Should(Equal(1.0))
		Expect(conn.(*net.TCPConn).SetLinger(0)).To(Succeed())
		Expect(conn.Close()).To(Succeed())
		Eventually(metric(own, "mq9_slow_readers")).Should(BeZero())
	})
})
