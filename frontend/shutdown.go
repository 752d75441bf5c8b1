package frontend

import (
	"context"
	"errors"
	"time"
)

const (
	// settleWait is how long a Shutdown waits for operations in flight.
	settleWait = 2 * time.Second

	// settlePoll is how often it looks.
	settlePoll = 5 * time.Millisecond
)

// Shutdown ends the front in an orderly way (protocol section 8): clients are told, new connections and mq9
// operations are refused, operations in flight finish, then every connection is flushed and closed. It takes about four seconds
// at most, less if ctx ends earlier. After it the broker has no caller any more.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	err := errors.Join(s.listener.Close(), s.stopOthers())
	s.mu.Lock()
	s.mu.closed = true
	sessions := make([]*session, 0, len(s.mu.sessions))
	for session := range s.mu.sessions {
		sessions = append(sessions, session)
	}
	s.mu.Unlock()
	for _, session := range sessions {
		session.lameDuck()
	}
	settle(ctx, sessions)
	for _, session := range sessions {
		session.box.finish(flushWait)
	}
	s.stop()
	s.closeStrangers(sessions)
	s.conns.Wait()
	s.nats.stop()
	s.admin.Stop(ctx)
	return err
}

// settle waits until the sessions have no operation in flight, for a limited time.
func settle(ctx context.Context, sessions []*session) {
	ctx, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for _, session := range sessions {
		for !session.barrier.idle() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// closeStrangers closes connections that are no sessions yet: those in a TLS handshake.
func (s *Server) closeStrangers(sessions []*session) {
	known := make(map[any]bool, len(sessions))
	for _, session := range sessions {
		known[session.raw] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.mu.raw {
		if !known[conn] {
			_ = conn.Close() // its goroutine sees the failure
		}
	}
}
