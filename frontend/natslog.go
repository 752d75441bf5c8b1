package frontend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mq9-broker/broker/mq9"
)

// natsLog is the embedded server's logger. It is safe for concurrent use.
type natsLog struct {
	log    *slog.Logger
	fatal  chan error // buffered by one: the first fatal error
	failed atomic.Pointer[error]
}

var _ server.Logger = (*natsLog)(nil)

// Noticef implements server.Logger. What nats-server finds notable is detail here.
func (l *natsLog) Noticef(format string, v ...any) { l.put(slog.LevelDebug, format, v) }

// Warnf implements server.Logger.
func (l *natsLog) Warnf(format string, v ...any) { l.put(slog.LevelWarn, format, v) }

// Errorf implements server.Logger. Most of these are clients' mistakes.
func (l *natsLog) Errorf(format string, v ...any) { l.put(slog.LevelWarn, format, v) }

// Debugf implements server.Logger.
func (l *natsLog) Debugf(format string, v ...any) { l.put(slog.LevelDebug, format, v) }

// Tracef implements server.Logger.
func (l *natsLog) Tracef(format string, v ...any) { l.put(slog.LevelDebug, format, v) }

// Fatalf implements server.Logger. nats-server would exit; here its starter is told, or later on /readyz.
func (l *natsLog) Fatalf(format string, v ...any) {
	l.put(slog.LevelError, format, v)
	err := errors.New(redact(fmt.Sprintf(format, v...)))
	l.failed.CompareAndSwap(nil, &err)
	select {
	case l.fatal <- err:
	default:
	}
}

func (l *natsLog) failure() error {
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (l *natsLog) put(level slog.Level, format string, v []any) {
	if ctx := context.Background(); l.log.Enabled(ctx, level) {
		l.log.Log(ctx, level, redact(fmt.Sprintf(format, v...)), "from", "nats-server")
	}
}

// redact cuts off what nats-server quotes from a client's bytes where it reports a violation of the protocol: an address may
// stand in it, and addresses are secrets.
func redact(text string) string {
	if before, _, found := strings.Cut(text, mq9.Prefix); found {
		return before + mq9.Prefix + "…"
	}
	for _, quoting := range []string{"parser ERROR", "Parse Error", "snip:", "Bad or Missing", "larger then"} {
		if !strings.Contains(text, quoting) {
			continue
		}
		if i := strings.IndexAny(text, `"'`); i >= 0 {
			return text[:i] + "…"
		}
	}
	return text
}
