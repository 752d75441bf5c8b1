package specs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v3"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("The Grafana dashboard and the alert rules", func() {
	file := func(name string) []byte {
		GinkgoHelper()
		text, err := os.ReadFile(filepath.Join(harness.Root(), "frontend", "admin", "grafana", name))
		Expect(err).NotTo(HaveOccurred())
		return text
	}
	metricName := regexp.MustCompile(`\b(mq9|go|process)_[a-z0-9_]+`)

	// known checks that every metric an expression names is there, and that what asks for a part of a histogram has one before it.
	known := func(families map[string]*dto.MetricFamily, expr string) {
		GinkgoHelper()
		names := metricName.FindAllString(expr, -1)
		Expect(names).NotTo(BeEmpty(), expr)
		for _, name := range names {
			if families[name] != nil {
				Expect(families[name].GetType()).NotTo(Equal(dto.MetricType_HISTOGRAM), expr)
				continue
			}
			whole := name
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				whole = strings.TrimSuffix(whole, part)
			}
			Expect(families).To(HaveKey(whole), "no metric %s: %s", name, expr)
			Expect(families[whole].GetType()).To(Equal(dto.MetricType_HISTOGRAM), expr)
		}
		for _, rate := range regexp.MustCompile(`(?:rate|increase)\(([a-z0-9_]+)`).FindAllStringSubmatch(expr, -1) {
			Expect(rate[1]).To(MatchRegexp(`_(total|bucket|sum|count)$`), "only counters have a rate: %s", expr)
		}
	}

	It("ask for metrics that a running broker has", func() {
		agent := broker.Connect()
		agent.Send(agent.Private()+urgent, "x")
		families := scrape(broker)

		var dashboard struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		Expect(json.Unmarshal(file("mq9.json"), &dashboard)).To(Succeed())
		asked := map[string]bool{}
		for _, panel := range dashboard.Panels {
			for _, target := range panel.Targets {
				known(families, target.Expr)
				for _, name := range metricName.FindAllString(target.Expr, -1) {
					asked[name] = true
				}
			}
		}
		Expect(len(asked)).To(BeNumerically(">", 30), "it shows most of what there is")

		var rules struct {
			Groups []struct {
				Rules []struct {
					Alert, Expr string
					Annotations struct{ Summary, Description string }
				}
			}
		}
		Expect(yaml.Unmarshal(file("alerts.yml"), &rules)).To(Succeed())
		Expect(rules.Groups).To(HaveLen(1))
		for _, rule := range rules.Groups[0].Rules {
			known(families, rule.Expr)
			Expect(rule.Annotations.Summary).NotTo(BeEmpty(), rule.Alert)
			Expect(rule.Annotations.Description).NotTo(BeEmpty(), rule.Alert)
		}
	})
})
