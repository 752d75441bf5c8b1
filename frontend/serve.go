package frontend

import (
	"context"
	"errors"
	"io"
	"net"
)

// serve runs one client's connection, on its own goroutine, until it ends. bare says that no TLS is spoken inside it.
func (s *Server) serve(ctx context.Context, conn net.Conn, bare bool) error {
	session := newSession(s, conn)
	if !bare {
		session.tls = session.settings.tls
	}
	upstream := session.way()
	defer session.up.close()
	info, err := upstream.hello()
	if err != nil {
		return err
	}
	if session.conn, err = session.tls.greet(ctx, conn, info); err != nil {
		return err
	}
	session.box.connect(session.conn)
	if err := upstream.enter(ctx); err != nil {
		return err
	}
	if !s.register(session) {
		session.end(net.ErrClosed) // it came too late
		return nil
	}
	defer s.forget(session)
	why := session.read()
	session.end(why)
	if why == nil || errors.Is(why, errHangUp) || errors.Is(why, io.EOF) || errors.Is(why, net.ErrClosed) {
		return nil
	}
	return why
}

func newSession(s *Server, client net.Conn) *session {
	settings := s.nats.settings.Load()
	session := &session{
		server:   s,
		settings: settings,
		raw:      client,
		conn:     client,
		subs:     newTable(),
		admit:    newAdmission(),
		done:     make(chan struct{}),
		connect:  defaultConnect,
		parser:   parser{maxLine: settings.maxLine},
	}
	session.up = &uplink{owner: &session.owned}
	session.box = newOutbox(nil, &session.owned, s.options.Instruments.Delivered)
	session.box.tracer = s.options.Tracer
	session.barrier = newBarrier(s.options.BarrierTimeout,
		func() { session.box.write(framePong) },
		func() {
			session.box.write(frameStale)
			session.box.finish(flushWait)
		})
	session.verbose.Store(defaultConnect.Verbose)
	return session
}
