package admin

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Instruments measure what a look at the broker's state cannot tell: how long things took. They are made before the broker, which feeds
// them: once for a batch of the store and once for a batch written to a socket, never for each message.
type Instruments struct {
	storeLatency prometheus.Histogram
	syncTime     prometheus.Histogram
	batchChanges prometheus.Histogram
	batchBytes   prometheus.Histogram
	deliveryLag  prometheus.Histogram
	written      atomic.Uint64 // batches
	failed       atomic.Uint64 // batches
	changes      atomic.Uint64
}

// Batch is one batch of the store, written or failed.
type Batch struct {
	Changes int           // in it
	Bytes   int           // their size
	Took    time.Duration // writing and syncing
	Waited  time.Duration // from the acceptance of its oldest message until it was stored; 0 = it has no message
	Failed  bool
}

// NewInstruments makes instruments that have measured nothing.
func NewInstruments() *Instruments {
	histogram := func(name, help string, bounds []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "mq9", Name: name, Help: help, Buckets: bounds})
	}
	return &Instruments{
		storeLatency: histogram("store_latency_seconds",
			"From the acceptance of the oldest message of a batch until the batch is stored.", seconds(50e-6, 30)),
		syncTime: histogram("store_sync_seconds",
			"Writing one batch, its sync included if the sync mode asks for one.", seconds(50e-6, 30)),
		batchChanges: histogram("store_batch_changes",
			"Changes that shared one batch and its sync.", prometheus.ExponentialBuckets(1, 2, 12)),
		batchBytes: histogram("store_batch_bytes",
			"Bytes of one batch.", prometheus.ExponentialBuckets(256, 4, 9)),
		deliveryLag: histogram("delivery_lag_seconds",
			"From when a delivery was owed, which is when the message was accepted or its reader subscribed, until it is written to the socket; "+
				"the oldest of each write.", seconds(100e-6, 3600)),
	}
}

// seconds are bounds in steps of 1, 2.5 and 5 from about least to most.
func seconds(least, most float64) (bounds []float64) {
	for decade := math.Pow(10, math.Floor(math.Log10(least))); ; decade *= 10 {
		for _, step := range []float64{1, 2.5, 5} {
			switch at := math.Round(decade*step*1e9) / 1e9; {
			case at > most:
				return bounds
			case at >= least:
				bounds = append(bounds, at)
			}
		}
	}
}

// Batch notes a batch of the store. It does not block.
func (i *Instruments) Batch(b Batch) {
	if b.Failed {
		i.failed.Add(1)
		return
	}
	i.written.Add(1)
	i.changes.Add(uint64(b.Changes))
	i.syncTime.Observe(b.Took.Seconds())
	i.batchChanges.Observe(float64(b.Changes))
	i.batchBytes.Observe(float64(b.Bytes))
	if b.Waited > 0 {
		i.storeLatency.Observe(b.Waited.Seconds())
	}
}

// Delivered notes how late the oldest delivery of a write was. It does not block.
func (i *Instruments) Delivered(lag time.Duration) { i.deliveryLag.Observe(max(0, lag.Seconds())) }

// Collectors are the instruments as Prometheus sees them.
func (i *Instruments) collectors() []prometheus.Collector {
	return []prometheus.Collector{i.storeLatency, i.syncTime, i.batchChanges, i.batchBytes, i.deliveryLag}
}

// fill puts what was measured into a status.
func (i *Instruments) fill(s *Status) {
	s.Store.Batches, s.Store.Failed, s.Store.Changes = i.written.Load(), i.failed.Load(), i.changes.Load()
	s.Latencies = map[string]Histogram{
		"store": read(i.storeLatency), "sync": read(i.syncTime), "delivery": read(i.deliveryLag),
	}
}

// read takes a histogram's figures.
func read(from prometheus.Histogram) (h Histogram) {
	var m dto.Metric
	if from.Write(&m) != nil {
		return h // its names are ours, so it cannot fail
	}
	h.Count, h.Sum = m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum()
	h.Bounds, h.Buckets = []float64{}, []uint64{}
	for _, b := range m.GetHistogram().GetBucket() {
		if !math.IsInf(b.GetUpperBound(), 1) {
			h.Bounds = append(h.Bounds, b.GetUpperBound())
			h.Buckets = append(h.Buckets, b.GetCumulativeCount())
		}
	}
	return h
}
