package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestCalmLog(t *testing.T) {
	var out bytes.Buffer
	now := time.Now()
	k := &kinds{now: func() time.Time { return now }, of: map[string]*kind{}}
	log := slog.New(calmHandler{slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}), k})
	count := func(text string) int { return strings.Count(out.String(), text) }

	for i := range 1000 {
		log.Warn("the same", "n", i)
		log.With("from", "a part").Error("the same")
		log.Warn("varies "+strings.Repeat("x", i), "from", "nats-server")
		log.Debug("detail")
		log.Info("events")
	}
	for text, want := range map[string]int{
		`level=WARN msg="the same"`: logBurst, `level=ERROR msg="the same"`: logBurst, "varies": logBurst, "detail": 1000, "events": 1000,
	} {
		if got := count(text); got != want {
			t.Errorf("%s: %d lines, want %d", text, got, want)
		}
	}
	now = now.Add(logWindow)
	log.Warn("the same", "n", "again")
	if !strings.Contains(out.String(), "n=again left_out=990") {
		t.Error("nobody says what was left out")
	}
	for i := range 3 * mostKinds {
		log.Warn(strings.Repeat("y", i))
	}
	if len(k.of) > mostKinds {
		t.Errorf("%d kinds are remembered", len(k.of))
	}
}
