// Package tracing shows a message's way through the broker as OpenTelemetry spans, sent to an OTLP endpoint by gRPC:
//
//	publish ─┬─ store      from the arrival of a message until its sender is answered; store ends when its tier holds it
//	         ├─ deliver    one for each delivery: from when it was owed until it is written to the socket
//	         └─ delete     from the DELETE until it is done
//
// A trace goes on where the publisher's `traceparent` header leads; without one it begins with publish. What is stored and delivered is
// never touched: a delivery carries the publisher's headers as he wrote them (protocol section 5), so a worker's
// own spans become children of the publisher's, beside those of the broker.
//
// Which traces are taken is said by OpenTelemetry's own environment variables (OTEL_TRACES_SAMPLER and its argument); a
// publisher's decision in `traceparent` holds in any case by default. When the endpoint cannot keep up or be reached, spans are dropped and
// the broker does not wait.
//
// The front asks a nil [Tracer] nothing: without an endpoint, tracing costs one comparison for each message and each write.
//
// A private mail_id is in no span; what names the mailbox then is the hash that logs show. [Tracer] is safe for concurrent use.
package tracing
