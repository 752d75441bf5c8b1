package config

import (
	"log/slog"
	"time"

	"github.com/mq9-broker/broker/frontend"
	"github.com/mq9-broker/broker/persistence"
)

// The groups of the table.
const (
	groupListen = "Where it listens"
	groupStore  = "What it stores, and how"
	groupBehave = "How it behaves"
	groupLimits = "Limits: at one, what is new is refused with code 429 and the limit's name; nothing stored is evicted"
	groupShows  = "What it shows"
	groupLog    = "Its log"
)

// table declares every key once. To add one: a row here and a field in Config.
var table = []Key{
	{
		Group: groupListen, Name: "listen", Default: frontend.DefaultListen, Unit: "host:port",
		Effect: "address for clients; port 0 takes a free one",
		set:    into(address, func(c *Config) *string { return &c.Listen }),
	},
	{
		Group: groupListen, Name: "http", Default: frontend.DefaultHTTP, Unit: "host:port",
		Effect: "address for /healthz, /readyz, /metrics and the administration",
		set:    into(address, func(c *Config) *string { return &c.HTTP }),
	},
	{
		Group: groupListen, Name: "http_token_file", Default: "", Unit: "file",
		Effect: "holds the bearer token that http wants for all but /healthz and /readyz; a must when other machines can reach it",
		set:    into(optionalFile, func(c *Config) *string { return &c.HTTPTokenFile }),
	},
	{
		Group: groupListen, Name: "websocket", Default: "", Unit: "host:port",
		Effect: "address for WebSocket clients such as browsers, with the TLS that other clients have; without a host the loopback; empty = what a websocket block in nats_config says, else none",
		set:    into(optionalAddress, func(c *Config) *string { return &c.WebSocket }),
	},
	{
		Group: groupListen, Name: "websocket_origin", Default: "", Unit: "origins",
		Effect: "web origins whose pages may connect to websocket besides its own, such as https://example.org, separated by commas",
		set:    into(words, func(c *Config) *[]string { return &c.WebSocketOrigin }),
	},
	{
		Group: groupListen, Name: "unix", Default: "", Unit: "path",
		Effect: "Unix socket for clients of the broker's own user; they need no TLS; empty = none",
		set:    into(anything, func(c *Config) *string { return &c.Unix }),
	},
	{
		Group: groupListen, Name: "pprof", Default: "false", Unit: "true|false",
		Effect: "serve Go profiles under /debug/pprof/ at http, to this machine only",
		set:    into(truth, func(c *Config) *bool { return &c.Pprof }),
	},
	{
		Group: groupListen, Name: "nats_config", Default: "", Unit: "file",
		Effect: "nats-server configuration: accounts, users, TLS, JetStream, limits, other listeners; SIGHUP reads the same file again, certificates included",
		set:    into(optionalFile, func(c *Config) *string { return &c.NATSConfig }),
	},
	{
		Group: groupStore, Name: "data_dir", Default: "./data", Unit: "directory",
		Effect: "what survives a restart is here; made if it is not there; for one broker at a time",
		set:    into(directory, func(c *Config) *string { return &c.DataDir }),
	},
	{
		Group: groupStore, Name: "sync", Default: "always", Unit: "always|interval|never",
		Effect: "what an acknowledged critical or urgent message means: always (on disk), interval (on disk within sync_interval) or never (the system decides)",
		set:    into(persistence.ParseSync, func(c *Config) *persistence.Sync { return &c.Sync }),
	},
	{
		Group: groupStore, Name: "sync_interval", Default: "100ms", Unit: "duration",
		Effect: "with sync = interval, the most that a power failure costs",
		set:    into(duration(time.Millisecond, time.Hour), func(c *Config) *time.Duration { return &c.SyncInterval }),
	},
	{
		Group: groupStore, Name: "salvage", Default: "false", Unit: "true|false",
		Effect: "open data that are damaged: keep what was written before the damage and drop what came after it",
		set:    into(truth, func(c *Config) *bool { return &c.Salvage }),
	},
	{
		Group: groupStore, Name: "block_cache", Default: "64MiB", Unit: "bytes",
		Effect: "memory for what was read from disk",
		set:    into(sizeFrom(1<<20), func(c *Config) *int64 { return &c.BlockCache }),
	},
	{
		Group: groupStore, Name: "memtable", Default: "64MiB", Unit: "bytes",
		Effect: "what gathers in memory before a file is written; twice as much may exist at a time",
		set:    into(sizeFrom(64<<10), func(c *Config) *int64 { return &c.Memtable }),
	},
	{
		Group: groupStore, Name: "max_batch_changes", Default: "2048", Unit: "changes",
		Effect: "changes that are synced to disk together at most; more of them cost less each, and the first ones wait longer",
		set:    into(countFrom(1), func(c *Config) *int { return &c.MaxBatchChanges }),
	},
	{
		Group: groupStore, Name: "max_batch_bytes", Default: "4MiB", Unit: "bytes",
		Effect: "the same in bytes; one change always fits",
		set:    into(sizeFrom(1), func(c *Config) *int64 { return &c.MaxBatchBytes }),
	},
	{
		Group: groupBehave, Name: "delivery", Default: "headers", Unit: "headers|bare|envelope",
		Effect: "form of deliveries: headers (Mq9-Msg-Id and Mq9-Timestamp), bare (nothing added, fastest) or envelope (JSON)",
		set:    into(frontend.ParseDelivery, func(c *Config) *frontend.Delivery { return &c.Delivery }),
	},
	{
		Group: groupBehave, Name: "default_ttl", Default: "1h", Unit: "duration",
		Effect: "life of a mailbox whose CREATE names none; whole seconds",
		set:    into(lifetime, func(c *Config) *time.Duration { return &c.DefaultTTL }),
	},
	{
		Group: groupBehave, Name: "barrier_timeout", Default: "5s", Unit: "duration",
		Effect: "how long a flush may wait for the store before the broker closes its connection rather than let it succeed",
		set:    into(duration(time.Millisecond, time.Hour), func(c *Config) *time.Duration { return &c.BarrierTimeout }),
	},
	{
		Group: groupBehave, Name: "drain_grace", Default: "30s", Unit: "duration",
		Effect: "how long a member that left its queue group by UNSUB keeps what it holds",
		set:    into(duration(time.Millisecond, 24*time.Hour), func(c *Config) *time.Duration { return &c.DrainGrace }),
	},
	{
		Group: groupBehave, Name: "ping_interval", Default: "0s", Unit: "duration", Reload: true,
		Effect: "how often a silent client is pinged; 0s = what nats_config says, else 2m",
		set:    into(duration(0, 24*time.Hour), func(c *Config) *time.Duration { return &c.PingInterval }),
	},
	{
		Group: groupBehave, Name: "ping_max", Default: "0", Unit: "pings", Reload: true,
		Effect: "unanswered pings after which the client counts as gone, at the next one; 0 = what nats_config says, else 2",
		set:    into(countFrom(0), func(c *Config) *int { return &c.PingMax }),
	},
	{
		Group: groupLimits, Name: "max_mailboxes", Default: "0", Unit: "mailboxes", Reload: true,
		Effect: "limit of mailboxes alive; 0 = none",
		set:    into(countFrom(0), func(c *Config) *int { return &c.MaxMailboxes }),
	},
	{
		Group: groupLimits, Name: "max_mailbox_messages", Default: "0", Unit: "messages", Reload: true,
		Effect: "limit of messages stored in one mailbox; 0 = none",
		set:    into(countFrom(0), func(c *Config) *int { return &c.MaxMailboxMessages }),
	},
	{
		Group: groupLimits, Name: "max_memory", Default: "50%", Unit: "bytes or %", Reload: true,
		Effect: "limit of what normal messages take in memory, such as 2GB, or a share of what the machine, or the container, has; 0 = none; critical and urgent ones go on when it is reached",
		set:    into(memory, func(c *Config) *int64 { return &c.MaxMemory }),
	},
	{
		Group: groupLimits, Name: "max_mailbox_memory", Default: "0", Unit: "bytes", Reload: true,
		Effect: "the same, of one mailbox; 0 = none",
		set:    into(sizeFrom(0), func(c *Config) *int64 { return &c.MaxMailboxMemory }),
	},
	{
		Group: groupLimits, Name: "max_connections", Default: "0", Unit: "connections", Reload: true,
		Effect: "limit of client connections; 0 = what nats_config says, else 65536",
		set:    into(countFrom(0), func(c *Config) *int { return &c.MaxConnections }),
	},
	{
		Group: groupLimits, Name: "max_subscriptions", Default: "0", Unit: "subscriptions", Reload: true,
		Effect: "limit of the subscriptions of one connection; 0 = what nats_config says, else none",
		set:    into(countFrom(0), func(c *Config) *int { return &c.MaxSubscriptions }),
	},
	{
		Group: groupShows, Name: "otlp_endpoint", Default: "", Unit: "host:port|URL",
		Effect: "send OpenTelemetry traces there, by OTLP gRPC; without it, to where OTEL_EXPORTER_OTLP_ENDPOINT says, if it is set",
		set:    into(endpoint, func(c *Config) *string { return &c.OTLPEndpoint }),
	},
	{
		Group: groupLog, Name: "log_level", Default: "info", Unit: "debug|info|warn|error", Reload: true,
		Effect: "least severe line",
		set:    into(level, func(c *Config) *slog.Level { return &c.LogLevel }),
	},
	{
		Group: groupLog, Name: "log_format", Default: "text", Unit: "text|json",
		Effect: "form of the lines",
		set:    into(oneOf("format", "text", "json"), func(c *Config) *string { return &c.LogFormat }),
	},
}
