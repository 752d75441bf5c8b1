package specs_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/mq9-broker/broker/specs/harness"
)

// receiver is an OTLP endpoint that keeps the spans it is sent. Safe for concurrent use.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	addr string

	mu    sync.Mutex
	spans []*trace.Span // guarded by mu
}

// newReceiver serves OTLP until the spec ends.
func newReceiver() *receiver {
	GinkgoHelper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	r, server := &receiver{addr: l.Addr().String()}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	DeferCleanup(func() {
		server.Stop()
		Expect(<-ended).To(Succeed())
	})
	return r
}

// Export implements the collector's service.
func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// all returns what has come so far, as the text that it would be printed as.
func (r *receiver) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprint(r.spans)
}

// named returns the spans of a name in a trace; an empty trace means any.
func (r *receiver) named(name, id string) (found []*trace.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if s.GetName() == name && (id == "" || hex.EncodeToString(s.GetTraceId()) == id) {
			found = append(found, s)
		}
	}
	return found
}

// attribute is a span's attribute as text.
func attribute(s *trace.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return strings.Trim(a.GetValue().GetStringValue(), " ")
		}
	}
	return ""
}

var _ = Describe("Traces", func() {
	const (
		traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
		parentID    = "00f067aa0ba902b7"
		traceparent = "00-" + traceID + "-" + parentID + "-01"
	)
	var (
		sink  *receiver
		own   *harness.Broker
		agent *harness.Client
	)
	BeforeEach(func() {
		sink = newReceiver()
		own = harness.StartBroker(program, "--otlp-endpoint", sink.addr)
		agent = own.Connect()
	})
	// publish sends a message with these headers and waits for its id.
	publish := func(to string, header nats.Header) {
		GinkgoHelper()
		m := nats.NewMsg(harness.Send + to)
		m.Header, m.Data = header, []byte("hello")
		_, err := agent.RequestMsg(m, requestTimeout)
		Expect(err).NotTo(HaveOccurred())
	}
	one := func(name, id string) *trace.Span {
		GinkgoHelper()
		var found []*trace.Span
		Eventually(func() int { found = sink.named(name, id); return len(found) }).WithTimeout(20*time.Second).
			Should(Equal(1), "one span %s", name)
		return found[0]
	}

	It("go on from the publisher's traceparent through store, deliver and delete", func() {
		name := agent.Public()
		reader := agent.Mailbox(name)
		publish(name+urgent, nats.Header{"traceparent": {traceparent}})
		Eventually(reader.Count).Should(Equal(1))
		got := reader.Messages()[0]
		Expect(got.Header["traceparent"]).To(Equal([]string{traceparent}), "as the publisher wrote it")
		Expect(agent.Delete(name, harness.MsgID(got))).To(BeTrue())

		whole := one("publish", traceID)
		Expect(hex.EncodeToString(whole.GetParentSpanId())).To(Equal(parentID))
		for _, name := range []string{"store", "deliver", "delete"} {
			Expect(one(name, traceID).GetParentSpanId()).To(Equal(whole.GetSpanId()), name)
		}
		for _, s := range []*trace.Span{whole, one("deliver", traceID), one("delete", traceID)} {
			Expect(attribute(s, "messaging.destination.name")).To(Equal(name))
			Expect(attribute(s, "messaging.message.id")).To(Equal(harness.MsgID(got)))
			Expect(attribute(s, "mq9.priority")).To(Equal("urgent"))
			Expect(s.GetEndTimeUnixNano()).To(BeNumerically(">=", s.GetStartTimeUnixNano()))
		}
	})

	It("begin with the publish when the publisher has none, and are not taken when he says so", func() {
		id := agent.Private()
		publish(id, nats.Header{"traceparent": {"00-" + traceID + "-" + parentID + "-00"}})
		publish(id, nats.Header{"traceparent": {"nonsense"}})
		Expect(one("publish", "").GetParentSpanId()).To(BeEmpty())
		Expect(sink.named("publish", traceID)).To(BeEmpty())
	})

	It("show a private mailbox as its hash alone, also where it is refused", func() {
		id := agent.Private()
		worker := agent.Work(harness.Send+id, id)
		publish(id, nil)
		Eventually(worker.Count).Should(Equal(1))
		Expect(worker.Messages()[0].Respond(nil)).To(Succeed())
		publish("01234567-89ab-4cde-8f01-23456789abcd", nil)
		one("delete", "")
		one("deliver", "")
		Eventually(func() int { return len(sink.named("publish", "")) }).Should(Equal(2))
		Expect(sink.all()).NotTo(Or(ContainSubstring(id), ContainSubstring("01234567-89ab")))
		Expect(attribute(one("deliver", ""), "messaging.destination.name")).To(MatchRegexp(`^[0-9a-f]{12}$`))
	})

	It("that go on over a restart join the publisher's", func() {
		name := agent.Public()
		publish(name+critical, nats.Header{"Traceparent": {traceparent}})
		own.Restart()
		reader := own.Connect().Mailbox(name)
		Eventually(reader.Count).Should(Equal(1))
		Expect(hex.EncodeToString(one("deliver", traceID).GetParentSpanId())).To(Equal(parentID))
	})

	It("cost nothing but the spans when the endpoint is away", func() {
		away := harness.StartBroker(program, "--otlp-endpoint", harness.FreeAddr("127.0.0.1"))
		agent := away.Connect()
		id := agent.Private()
		feed := agent.Mailbox(id)
		for range 100 {
			agent.Publish(id, "x")
		}
		Eventually(feed.Count).Should(Equal(100))
		away.Stop()
	})
})
