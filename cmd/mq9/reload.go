package main

import (
	"log/slog"

	"github.com/mq9-broker/broker/cmd/mq9/config"
)

// reload reads the configuration again and applies what can be changed while the broker runs; the log says what was applied, and what
// waits for a restart. If anything is wrong, nothing is changed, and the log says what it is. What was changed by other ways than the
// configuration is as it says again.
func (b *broker) reload(load func() (*config.Loaded, error)) {
	next, err := load()
	if err != nil {
		b.log.Error("the configuration is wrong; nothing is changed", "error", oneLine(err))
		return
	}
	running, applied, waiting := b.running.Reloaded(next)
	// First what can fail.
	if err := b.front.Reload(tunables(&running.Config)); err != nil {
		b.log.Error("the nats-server configuration cannot be reloaded; nothing is changed", "error", oneLine(err))
		return
	}
	b.actors.SetLimits(limits(&running.Config))
	b.level.Set(running.LogLevel)
	b.running = running

	warnOf(running, b.log)
	for _, c := range applied {
		b.log.Info("changed", "key", c.Key.Name, "from", c.From, "to", c.To)
	}
	for _, c := range waiting {
		b.log.Warn("a restart is needed to change this", "key", c.Key.Name, "is", c.From, "will_be", c.To)
	}
	b.log.Info("the configuration is reloaded", "file", running.File, "nats_config", running.NATSConfig)
}

// warnOf logs what is odd about a configuration.
func warnOf(c *config.Loaded, log *slog.Logger) {
	for _, note := range c.Notes {
		log.Warn("configuration: " + note)
	}
}
