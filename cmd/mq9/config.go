package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mq9-broker/broker/frontend"
	"github.com/mq9-broker/broker/persistence"
)

// config is what `mq9 serve` is told: the flags as written, and what parse makes of them.
type config struct {
	listen     string
	http       string
	dataDir    string
	natsConfig string
	sync       string
	salvage    bool
	delivery   string
	logLevel   string
	logFormat  string
	limits     limits

	// set by parse
	syncMode persistence.Sync
	format   frontend.Delivery
	level    slog.Level
}

// flags declares the flags with their defaults.
func (c *config) flags(f *pflag.FlagSet) {
	f.StringVar(&c.listen, "listen", frontend.DefaultListen, "address for clients, `host:port`; port 0 takes a free one")
	f.StringVar(&c.http, "http", frontend.DefaultHTTP, "address for /healthz and /readyz, `host:port`")
	f.StringVar(&c.dataDir, "data-dir", "./data", "`directory` for what survives a restart; made if it is not there")
	f.StringVar(&c.natsConfig, "nats-config", "", "nats-server configuration `file`: accounts, users, TLS, JetStream, limits, other listeners")
	f.StringVar(&c.sync, "sync", "always", "what an acknowledged critical or urgent message means: always (on disk), interval (within 100 ms) or never (the system decides)")
	f.BoolVar(&c.salvage, "salvage", false, "open data that are damaged: keep what was written before the damage and drop what came after it")
	f.StringVar(&c.delivery, "delivery", "headers", "form of deliveries: headers (Mq9-Msg-Id and Mq9-Timestamp), bare (nothing added, fastest) or envelope (JSON)")
	f.StringVar(&c.logLevel, "log-level", "info", "least severe log line: debug, info, warn or error")
	f.StringVar(&c.logFormat, "log-format", "text", "form of the log: text or json")
	c.limits.flags(f)
}

// parse checks every value and returns all problems at once.
func (c *config) parse() error {
	var problems []error
	check := func(flag string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	var err error
	c.syncMode, err = persistence.ParseSync(c.sync)
	check("sync", err)
	c.format, err = frontend.ParseDelivery(c.delivery)
	check("delivery", err)
	check("log-level", c.parseLevel())
	if c.logFormat != "text" && c.logFormat != "json" {
		check("log-format", fmt.Errorf("unknown format %q: use text or json", c.logFormat))
	}
	check("listen", checkAddress(c.listen))
	check("http", checkAddress(c.http))
	c.limits.parse(check)
	if c.dataDir == "" {
		check("data-dir", errors.New("name a directory"))
	}
	if c.natsConfig != "" {
		_, err := os.Stat(c.natsConfig)
		check("nats-config", err)
	}
	return errors.Join(problems...)
}

// parseLevel takes the four plain names only; slog would take arithmetic.
func (c *config) parseLevel() error {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(c.logLevel, level.String()) {
			c.level = level
			return nil
		}
	}
	return fmt.Errorf("unknown level %q: use debug, info, warn or error", c.logLevel)
}

func checkAddress(address string) error {
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil || address == "" {
		return fmt.Errorf("%q is no address: give host:port", address)
	}
	return nil
}

// oneLine renders joined errors in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
