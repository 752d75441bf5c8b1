package specs_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/mq9-broker/broker/specs/harness"
)

// What specs ask a broker over HTTP.

// ask sends a request to the broker's HTTP address; a body that is not empty is sent as JSON.
func ask(b *harness.Broker, method, path, body string) (status int, answer string) {
	GinkgoHelper()
	r, err := http.NewRequest(method, "http://"+b.HTTP+path, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	Expect(err).NotTo(HaveOccurred())
	text, err := io.ReadAll(resp.Body)
	Expect(err).NotTo(HaveOccurred())
	Expect(resp.Body.Close()).To(Succeed())
	return resp.StatusCode, string(text)
}

// read gets an object of the admin API.
func read[T any](b *harness.Broker, path string) (object T) {
	GinkgoHelper()
	status, body := ask(b, http.MethodGet, path, "")
	Expect(status).To(Equal(http.StatusOK), body)
	Expect(json.Unmarshal([]byte(body), &object)).To(Succeed(), body)
	return object
}

// scrape gets the metrics as Prometheus does.
func scrape(b *harness.Broker) map[string]*dto.MetricFamily {
	GinkgoHelper()
	status, body := ask(b, http.MethodGet, "/metrics", "")
	Expect(status).To(Equal(http.StatusOK), body)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	return families
}

// value is one metric with these labels, given as name, value, name, value; a histogram's is its count. It is -1 when there is none.
func value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range families[name].GetMetric() {
		given := []string{}
		for _, l := range m.GetLabel() {
			given = append(given, l.GetName(), l.GetValue())
		}
		if match, _ := ConsistOf(labels).Match(given); !match {
			continue
		}
		return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return -1
}

// metric is a function for Eventually.
func metric(b *harness.Broker, name string, labels ...string) func() float64 {
	return func() float64 { return value(scrape(b), name, labels...) }
}
