package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latency is every sample of a run, in nanoseconds, at three significant digits.
type Latency = hdrhistogram.Histogram

// NewLatency makes a histogram that holds samples up to a good while.
func NewLatency() *Latency {
	const digits = 3
	return hdrhistogram.New(1, int64(10*time.Minute), digits)
}

// Record adds a sample. What is out of range, a clock that seems to run backwards included, counts as the nearest that is in it.
func Record(h *Latency, nanoseconds int64) {
	_ = h.RecordValue(min(max(nanoseconds, 1), h.HighestTrackableValue())) // in range by now
}

// Result is what a workload measured.
type Result struct {
	Messages int
	Size     int           // bytes of a payload
	Elapsed  time.Duration // from the first message to the last
	Latency  *Latency      // nil when single messages have none
}

// PerSecond is the throughput in messages.
func (r Result) PerSecond() float64 { return float64(r.Messages) / r.Elapsed.Seconds() }

// BytesPerSecond is the throughput in payload bytes.
func (r Result) BytesPerSecond() float64 { return r.PerSecond() * float64(r.Size) }

// Quantile is the latency that q percent of the samples do not exceed.
func (r Result) Quantile(q float64) time.Duration {
	if r.Latency == nil {
		return 0
	}
	return time.Duration(r.Latency.ValueAtQuantile(q))
}
