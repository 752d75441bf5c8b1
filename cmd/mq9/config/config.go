package config

import (
	"log/slog"
	"time"

	"github.com/mq9-broker/broker/frontend"
	"github.com/mq9-broker/broker/persistence"
)

// Config holds the value of every key, checked. The table says what each one means and what its unit is.
type Config struct {
	// where it listens
	Listen     string
	HTTP       string
	Pprof      bool
	NATSConfig string // empty = none

	HTTPTokenFile   string   // empty = none
	WebSocket       string   // empty = as NATSConfig says
	WebSocketOrigin []string // besides the listener's own
	Unix            string   // empty = none

	// what it stores
	DataDir         string
	Sync            persistence.Sync
	SyncInterval    time.Duration
	Salvage         bool
	BlockCache      int64
	Memtable        int64
	MaxBatchChanges int
	MaxBatchBytes   int64

	// how it behaves
	Delivery       frontend.Delivery
	DefaultTTL     time.Duration
	BarrierTimeout time.Duration
	DrainGrace     time.Duration
	PingInterval   time.Duration // 0 = as NATSConfig says
	PingMax        int           // 0 = as NATSConfig says

	// what it refuses; 0 = no limit, or what NATSConfig says
	MaxMailboxes       int
	MaxMailboxMessages int
	MaxMemory          int64
	MaxMailboxMemory   int64
	MaxConnections     int
	MaxSubscriptions   int

	// what it shows
	OTLPEndpoint string // empty = as OTEL_EXPORTER_OTLP_ENDPOINT says

	// its log
	LogLevel  slog.Level
	LogFormat string
}
