package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracer makes the spans. Make one with [New], end it with Stop.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	recent   recent
}

// Options say where spans go.
type Options struct {
	Endpoint string       // host:port or URL of an OTLP gRPC receiver; a plain host:port and http:// mean no TLS. Empty = what OTEL_EXPORTER_OTLP_ENDPOINT says
	Version  string       // of the broker
	Log      *slog.Logger // told now and then when spans cannot be sent; nil = slog.Default()
}

// Wanted reports whether an endpoint is named, by the option or by OpenTelemetry's environment variables.
func Wanted(endpoint string) bool {
	return endpoint != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// New makes a tracer. It does not wait for the endpoint, which may come and go. One tracer at a time may exist in a process, since
// OpenTelemetry reports its failures to one place.
func New(o Options) (*Tracer, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	var to []otlptracegrpc.Option
	if o.Endpoint != "" {
		url := o.Endpoint
		if !strings.Contains(url, "://") {
			url = "http://" + url
		}
		to = append(to, otlptracegrpc.WithEndpointURL(url))
	}
	ctx := context.Background()
	otel.SetErrorHandler(&complaints{log: o.Log, now: time.Now})
	exporter, err := otlptracegrpc.New(ctx, to...)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "mq9"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/mq9-broker/broker")}, nil
}

// Stop sends what is left, as far as ctx lets it, and ends the tracer.
func (t *Tracer) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}
