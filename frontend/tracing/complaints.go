package tracing

import (
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
)

// complaintEvery is the least time between two log lines that say that spans are lost.
const complaintEvery = time.Minute

// complaints takes OpenTelemetry's failures and logs few of them: an endpoint that is away fails every few seconds. Safe for concurrent
// use.
type complaints struct {
	log *slog.Logger     // immutable
	now func() time.Time // immutable

	mu     sync.Mutex
	last   time.Time // guarded by mu
	unsaid int       // failures since then; guarded by mu
}

var _ otel.ErrorHandler = (*complaints)(nil)

// Handle implements otel.ErrorHandler.
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !c.last.IsZero() && now.Sub(c.last) < complaintEvery {
		c.unsaid++
		return
	}
	c.log.Warn("spans are lost: see that the OTLP endpoint is there", "error", err, "more_since_last", c.unsaid)
	c.last, c.unsaid = now, 0
}
