package top

import (
	"time"

	"github.com/mq9-broker/broker/frontend/admin"
)

// Rates are what happened between two looks, a second. They are zero while there was one look only.
type Rates struct {
	Known     bool               `json:"known"`
	Seconds   float64            `json:"seconds"`   // between the looks
	Published map[string]float64 `json:"published"` // messages, by priority
	Delivered map[string]float64 `json:"delivered"`
	Deleted   map[string]float64 `json:"deleted"`
	BytesIn   float64            `json:"published_bytes"`
	BytesOut  float64            `json:"delivered_bytes"`
	Batches   float64            `json:"batches"`
	CPU       float64            `json:"cpu"`       // processors
	Latencies map[string]Spread  `json:"latencies"` // store, sync, delivery; those that were observed
}

// Spread is how long something took, seconds.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// rates compares two looks. before may be nil, or of another process: then nothing is known.
func rates(before, after *admin.Status) Rates {
	r := Rates{Published: map[string]float64{}, Delivered: map[string]float64{}, Deleted: map[string]float64{}, Latencies: map[string]Spread{}}
	if before == nil || !before.StartedAt.Equal(after.StartedAt) || !after.Now.After(before.Now) {
		return r
	}
	r.Known, r.Seconds = true, after.Now.Sub(before.Now).Seconds()
	per := func(was, is uint64) float64 { return float64(is-min(was, is)) / r.Seconds }
	for p, is := range after.Traffic {
		was := before.Traffic[p]
		r.Published[p] = per(was.Published, is.Published)
		r.Delivered[p] = per(was.Delivered, is.Delivered)
		r.Deleted[p] = per(was.Deleted, is.Deleted)
		r.BytesIn += per(was.PublishedBytes, is.PublishedBytes)
		r.BytesOut += per(was.DeliveredBytes, is.DeliveredBytes)
	}
	r.Batches = per(before.Store.Batches, after.Store.Batches)
	r.CPU = (after.Process.CPU - before.Process.CPU) / r.Seconds
	for name, is := range after.Latencies {
		if s, ok := spread(before.Latencies[name], is); ok {
			r.Latencies[name] = s
		}
	}
	return r
}

// sum adds what is by priority.
func sum(by map[string]float64) (total float64) {
	for _, n := range by {
		total += n
	}
	return total
}

// spread finds the quantiles of what was observed between two looks at a histogram, which are as fine as its buckets.
func spread(before, after admin.Histogram) (Spread, bool) {
	if after.Count <= before.Count || len(after.Bounds) == 0 || len(after.Buckets) != len(after.Bounds) {
		return Spread{}, false
	}
	total := float64(after.Count - before.Count)
	upTo := func(i int) float64 {
		if i < 0 {
			return 0
		}
		n := after.Buckets[i]
		if i < len(before.Buckets) {
			n -= min(n, before.Buckets[i])
		}
		return float64(n)
	}
	quantile := func(q float64) float64 {
		for i, high := range after.Bounds {
			if upTo(i) < q*total {
				continue
			}
			low := 0.0
			if i > 0 {
				low = after.Bounds[i-1]
			}
			return low + (high-low)*(q*total-upTo(i-1))/(upTo(i)-upTo(i-1))
		}
		return after.Bounds[len(after.Bounds)-1] // at least
	}
	return Spread{quantile(.5), quantile(.99)}, true
}

// duration is seconds as a duration.
func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
