package main

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// logBurst is how many lines of one kind are logged in logWindow; the rest is counted.
	logBurst  = 10
	logWindow = 10 * time.Second

	// mostKinds bounds the kinds that are remembered; beyond it the memory starts afresh.
	mostKinds = 1000
)

// calmHandler keeps clients from flooding the log: of warnings and errors of one kind, a few are logged in a while, and the next one says
// how many were left out. Detail (debug) is what somebody asked for, and passes. A kind is a line's text without its attributes, or its origin for
// lines of nats-server, whose text varies. Safe for concurrent use.
type calmHandler struct {
	slog.Handler        // where lines go
	kinds        *kinds // shared by all handlers made from one
}

// kinds is what is remembered of each kind of line.
type kinds struct {
	now func() time.Time // immutable

	mu sync.Mutex
	of map[string]*kind // guarded by mu
}

type kind struct {
	since   time.Time // begin of its window
	lines   int       // logged in it
	omitted int       // since the last one that was logged
}

func calm(h slog.Handler) slog.Handler {
	return calmHandler{h, &kinds{now: time.Now, of: map[string]*kind{}}}
}

// Handle implements slog.Handler.
func (h calmHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.Handler.Handle(ctx, r)
	}
	key := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "from" {
			key = "from " + a.Value.String()
		}
		return true
	})
	omitted, ok := h.kinds.admit(r.Level.String() + key)
	if !ok {
		return nil
	}
	if omitted > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("left_out", omitted))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h calmHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calmHandler{h.Handler.WithAttrs(attrs), h.kinds}
}

// WithGroup implements slog.Handler.
func (h calmHandler) WithGroup(name string) slog.Handler {
	return calmHandler{h.Handler.WithGroup(name), h.kinds}
}

// admit reports whether a line of this kind may be logged, and how many were not since the last one.
func (k *kinds) admit(key string) (omitted int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	of := k.of[key]
	if of == nil {
		if len(k.of) >= mostKinds {
			clear(k.of)
		}
		of = &kind{since: now}
		k.of[key] = of
	}
	if now.Sub(of.since) >= logWindow {
		of.since, of.lines = now, 0
	}
	if of.lines >= logBurst {
		of.omitted++
		return 0, false
	}
	of.lines++
	omitted, of.omitted = of.omitted, 0
	return omitted, true
}
