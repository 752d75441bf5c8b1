package frontend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// health serves /healthz (the process is alive) and /readyz (it should get traffic).
type health struct {
	listener net.Listener
	server   *http.Server
	log      *slog.Logger
	ended    chan struct{} // closed when the serving goroutine is
}

// startHealth listens on addr. ready says why the broker should get no traffic, or nil; snapshot, if given, makes one.
func startHealth(addr string, ready func() error, snapshot func(dir string) error, log *slog.Logger) (*health, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok", log) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			say(w, http.StatusServiceUnavailable, err.Error(), log)
			return
		}
		say(w, http.StatusOK, "ok", log)
	})
	mountAdmin(mux, snapshot, log)
	h := &health{
		listener: listener,
		server: &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: 5 * time.Second,
			IdleTimeout:       time.Minute,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		},
		log:   log,
		ended: make(chan struct{}),
	}
	go func() {
		defer close(h.ended)
		if err := h.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("serving health checks", "error", err)
		}
	}()
	return h, nil
}

// stop ends the serving; requests under way finish if ctx lets them.
func (h *health) stop(ctx context.Context) {
	if err := h.server.Shutdown(ctx); err != nil {
		_ = h.server.Close() // cut off, as ctx demands
	}
	<-h.ended
}

func say(w http.ResponseWriter, status int, text string, log *slog.Logger) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := fmt.Fprintln(w, text); err != nil {
		log.Debug("answering a health check", "error", err)
	}
}
