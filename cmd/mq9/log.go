package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
)

// newLog makes the log, on standard error.
func newLog(c *config) *slog.Logger {
	if c.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: c.level}))
	}
	return slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{
		Level:      c.level,
		TimeFormat: time.DateTime,
		NoColor:    !isTerminal(os.Stderr),
	}))
}

// isTerminal reports whether somebody is looking.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}
