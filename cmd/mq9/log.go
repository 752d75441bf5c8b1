package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"

	"github.com/mq9-broker/broker/cmd/mq9/config"
)

// newLog makes the log, on standard error.
func newLog(c *config.Loaded, level *slog.LevelVar) *slog.Logger {
	if c.LogFormat == "json" {
		return slog.New(calm(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	}
	return slog.New(calm(tint.NewTextHandler(os.Stderr, &tint.Options{
		Level:      level,
		TimeFormat: time.DateTime,
		NoColor:    !isTerminal(os.Stderr),
	})))
}

// isTerminal reports whether somebody is looking.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}
