package tracing

import (
	"bytes"
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mq9-broker/broker/mq9"
)

// Operation is a publish or a delete under way. A nil one is not traced.
type Operation struct {
	tracer *Tracer
	whole  trace.Span
	store  trace.Span // of a publish
}

// Publish begins the trace of a message, or goes on with the one that its header names. header holds the publisher's lines as mq9.Message.Header
// does; shown is the mailbox as it may be shown.
func (t *Tracer) Publish(header []byte, shown string, p mq9.Priority, bytes int) *Operation {
	ctx, whole := t.tracer.Start(extract(header), "publish", trace.WithSpanKind(trace.SpanKindServer))
	if !whole.IsRecording() {
		return nil
	}
	whole.SetAttributes(append(about(shown, p), attribute.Int("messaging.message.body.size", bytes))...)
	_, store := t.tracer.Start(ctx, "store", trace.WithAttributes(attribute.Bool("mq9.durable", p.Durable())))
	return &Operation{t, whole, store}
}

// Delete begins the span of a DELETE, in the trace of its message if that is remembered.
func (t *Tracer) Delete(id mq9.MsgID, shown string) *Operation {
	ctx := trace.ContextWithRemoteSpanContext(context.Background(), t.recent.find(id))
	_, whole := t.tracer.Start(ctx, "delete", trace.WithSpanKind(trace.SpanKindServer))
	if !whole.IsRecording() {
		return nil
	}
	whole.SetAttributes(append(about(shown, id.Priority()), attribute.String("messaging.message.id", id.String()))...)
	return &Operation{tracer: t, whole: whole}
}

// Stored ends a publish: the tier holds the message, or the broker has refused it. Call it once, before the message can be delivered.
func (o *Operation) Stored(id mq9.MsgID, err *mq9.Error) {
	if o == nil {
		return
	}
	if err == nil {
		o.whole.SetAttributes(attribute.String("messaging.message.id", id.String()))
		o.tracer.recent.add(id, o.whole.SpanContext())
	}
	fail(o.store, err)
	o.store.End()
	o.end(err)
}

// Deleted ends a delete. Call it once.
func (o *Operation) Deleted(existed bool, err *mq9.Error) {
	if o == nil {
		return
	}
	o.whole.SetAttributes(attribute.Bool("mq9.deleted", existed))
	o.end(err)
}

func (o *Operation) end(err *mq9.Error) {
	fail(o.whole, err)
	o.whole.End()
}

// fail notes a refusal. Refusals name no address.
func fail(s trace.Span, err *mq9.Error) {
	if err != nil {
		s.SetAttributes(attribute.Int("mq9.code", err.Code))
		s.SetStatus(codes.Error, err.Text)
	}
}

// Delivered makes the span of one delivery that was written to a socket just now; since is when it was owed. A message whose trace is not remembered
// joins its publisher's, if its header names one.
func (t *Tracer) Delivered(m *mq9.Message, shown string, connection uint64, queue string, since time.Time) {
	var ctx context.Context
	if at := t.recent.find(m.ID); at.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(context.Background(), at)
	} else if ctx = extract(m.Header); !trace.SpanContextFromContext(ctx).IsValid() {
		return // its trace is over, or was never taken
	}
	_, span := t.tracer.Start(ctx, "deliver", trace.WithSpanKind(trace.SpanKindProducer), trace.WithTimestamp(since))
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(append(about(shown, m.Priority),
		attribute.String("messaging.message.id", m.ID.String()),
		attribute.Int64("mq9.connection", int64(connection)),
		attribute.String("messaging.consumer.group.name", queue),
	)...)
	span.End()
}

// about is what every span says.
func about(shown string, p mq9.Priority) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("messaging.system", "mq9"),
		attribute.String("messaging.destination.name", shown),
		attribute.String("mq9.priority", p.String()),
	}
}

// extract returns the context that a publisher's header names; without one, an empty context.
func extract(header []byte) context.Context {
	ctx := context.Background()
	if len(header) == 0 {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, lines(header))
}

// lines are a publisher's header lines, as mq9.Message.Header holds them, for reading.
type lines []byte

var _ propagation.TextMapCarrier = lines{}

// Get implements propagation.TextMapCarrier; the letter case of keys does not matter.
func (l lines) Get(key string) string {
	for line := range bytes.Lines(l) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && len(name) == len(key) && strings.EqualFold(string(name), key) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// Set implements propagation.TextMapCarrier: what a publisher wrote is never changed.
func (lines) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (l lines) Keys() (keys []string) {
	for line := range bytes.Lines(l) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok {
			keys = append(keys, string(name))
		}
	}
	return keys
}
