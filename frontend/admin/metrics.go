package admin

import (
	"maps"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics serves /metrics from a registry of the server's own: what others in this process register is not the broker's.
func (s *Server) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.instruments.collectors()...)
	registry.MustRegister(
		collector{s},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{s}, MaxRequestsInFlight: 4, Timeout: 10 * time.Second, EnableOpenMetrics: true,
	})
}

// scrapeLog takes what goes wrong in a scrape.
type scrapeLog struct{ s *Server }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) { l.s.log.Warn("a scrape failed", "error", v) }

// collector turns one status into metrics at each scrape, so that the broker counts nothing twice.
type collector struct{ s *Server }

var _ prometheus.Collector = collector{}

// Describe implements prometheus.Collector. What there is depends on the broker, so nothing is promised.
func (collector) Describe(chan<- *prometheus.Desc) {}

// metric is one family of metrics.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("mq9_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("mq9_"+name, help, labels, nil), prometheus.CounterValue}
}

var (
	buildInfo      = gauge("build_info", "1; the labels say what runs.", "version", "go")
	ready          = gauge("ready", "1 when the broker should get traffic, as /readyz says.")
	connections    = gauge("connections", "Client connections.")
	connectionsAll = counter("connections_total", "Client connections since the start.")
	slowReaders    = gauge("slow_readers", "Connections whose socket took nothing for a second while deliveries wait.")
	subscriptions  = gauge("subscriptions", "Subscriptions: to mailboxes, to discovery, and plain ones of the embedded nats-server.", "kind")
	mailboxes      = gauge("mailboxes", "Mailboxes alive.", "kind")
	created        = counter("mailboxes_created_total", "Mailboxes created.")
	expired        = counter("mailboxes_expired_total", "Mailboxes expired.")
	groups         = gauge("groups", "Queue groups with members.")
	storedMessages = gauge("stored_messages", "Messages stored.", "tier", "priority")
	storedBytes    = gauge("stored_bytes", "Bytes of stored messages, headers and payloads.", "tier", "priority")
	counted        = gauge("stored_counted", "0 while what was on disk at the start is still being counted.")

	published      = counter("messages_published_total", "Messages stored for their senders.", "priority")
	publishedBytes = counter("messages_published_bytes_total", "Bytes of these, headers and payloads.", "priority")
	delivered      = counter("messages_delivered_total", "Deliveries written to sockets, each to one subscription.", "priority")
	deliveredBytes = counter("messages_delivered_bytes_total", "Bytes of these, headers and payloads.", "priority")
	redelivered    = counter("messages_redelivered_total", "Messages that a queue group handed out again because a member went.", "priority")
	deleted        = counter("messages_deleted_total", "Messages removed by DELETE.", "priority")
	gone           = counter("messages_expired_total", "Messages that went with their mailboxes.", "priority")

	refusals   = counter("refusals_total", "Operations refused, by the code of the refusal.", "code")
	restarts   = counter("actor_restarts_total", "Actors that crashed and were started again.")
	limit      = gauge("limit", "Limits in force; 0 = none.", "name")
	limitUsed  = gauge("limit_used", "What counts against each limit: of a limit for each mailbox, the most that one had; of one for each connection, the most that one has.", "name")
	storeUp    = gauge("store_up", "1 when durable writes work.")
	queueDepth = gauge("store_queue_depth", "Changes that wait for the batch being written.")
	batches    = counter("store_batches_total", "Batches of the store.", "outcome")
	changes    = counter("store_changes_total", "Changes in batches that were written.")
	disk       = gauge("store_disk_bytes", "Bytes of the files in the data directory.")
	diskFree   = gauge("store_disk_free_bytes", "Bytes free on the disk of the data directory.")
)

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	put := func(m metric, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
	}
	s := c.s.Status()
	put(buildInfo, 1, s.Version, runtime.Version())
	put(ready, one(s.Ready))
	put(connections, float64(s.Connections.Now))
	put(connectionsAll, float64(s.Connections.Total))
	put(slowReaders, float64(s.Connections.Slow))
	put(subscriptions, float64(s.Subscriptions.Mailbox), "mailbox")
	put(subscriptions, float64(s.Subscriptions.Discovery), "discovery")
	put(subscriptions, float64(s.Subscriptions.Plain), "plain")
	put(mailboxes, float64(s.Mailboxes.Public), "public")
	put(mailboxes, float64(s.Mailboxes.Private), "private")
	put(created, float64(s.Mailboxes.Created))
	put(expired, float64(s.Mailboxes.Expired))
	put(groups, float64(s.Groups))
	whole := true
	for priority, t := range s.Tiers {
		tier := "memory"
		if t.Durable {
			tier = "durable"
		}
		put(storedMessages, float64(t.Messages), tier, priority)
		put(storedBytes, float64(t.Bytes), tier, priority)
		whole = whole && t.Counted
	}
	put(counted, one(whole))
	for priority, t := range s.Traffic {
		put(published, float64(t.Published), priority)
		put(publishedBytes, float64(t.PublishedBytes), priority)
		put(delivered, float64(t.Delivered), priority)
		put(deliveredBytes, float64(t.DeliveredBytes), priority)
		put(redelivered, float64(t.Redelivered), priority)
		put(deleted, float64(t.Deleted), priority)
		put(gone, float64(t.Expired), priority)
	}
	for code, n := range s.Refusals {
		put(refusals, float64(n), code)
	}
	put(restarts, float64(s.Restarts))
	for name, l := range s.Limits {
		put(limit, float64(l.Value), name)
		put(limitUsed, float64(l.Used), name)
	}
	c.store(&s, put)
}

// store is the durable side's part.
func (c collector) store(s *Status, put func(m metric, value float64, labels ...string)) {
	if c.s.options.Store == nil {
		return
	}
	put(storeUp, one(s.Store.State == StoreOK))
	put(queueDepth, float64(s.Store.Queued))
	put(batches, float64(s.Store.Batches), "written")
	put(batches, float64(s.Store.Failed), "failed")
	put(changes, float64(s.Store.Changes))
	put(disk, float64(s.Store.Disk))
	put(diskFree, float64(s.Store.DiskFree))
	properties := c.s.options.Store.Properties()
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		put(gauge("rocksdb_"+name, "RocksDB's own figure "+name+", of all column families."), properties[name])
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
