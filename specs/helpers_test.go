package specs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// The priorities as they stand at the end of a subject.
const (
	critical = ".critical"
	urgent   = ".urgent"
)

// requestTimeout bounds one request of a spec.
const requestTimeout = 10 * time.Second

// numbered returns prefix0, prefix1, … prefix(n-1).
func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return out
}

// writeConfig puts a nats-server configuration into a file of the running spec and returns its path.
func writeConfig(text string) string {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "nats.conf")
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return path
}

// event is one discovery event.
type event struct {
	Event  string `json:"event"`
	MailID string `json:"mail_id"`
	Desc   string `json:"desc"`
	TTL    int64  `json:"ttl"`
}

// eventsOf decodes what a watcher of the discovery received about the named mailbox.
func eventsOf(feed *harness.Feed, name string) []event {
	GinkgoHelper()
	out := []event{}
	for _, payload := range feed.Payloads() {
		var e event
		Expect(json.Unmarshal([]byte(payload), &e)).To(Succeed(), payload)
		if e.MailID == name {
			out = append(out, e)
		}
	}
	return out
}

// listed returns the addresses of all public mailboxes, page by page.
func listed(c *harness.Client) []string {
	GinkgoHelper()
	ids, body := []string{}, ""
	for {
		var page struct {
			Mailboxes []event `json:"mailboxes"`
			More      bool    `json:"more"`
			harness.Refusal
		}
		c.Ask(harness.Discover, body, &page)
		Expect(page.Refusal).To(BeZero())
		for _, m := range page.Mailboxes {
			ids = append(ids, m.MailID)
		}
		if !page.More {
			return ids
		}
		body = fmt.Sprintf(`{"after":%q}`, ids[len(ids)-1])
	}
}

// public is the body of a CREATE for a public mailbox.
func public(name string, ttl int) string {
	GinkgoHelper()
	body, err := json.Marshal(map[string]any{"public": true, "name": name, "ttl": ttl})
	Expect(err).NotTo(HaveOccurred())
	return string(body)
}
