package frontend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// helloWait bounds how long the embedded server may take to say INFO to a new connection.
const helloWait = 10 * time.Second

// serve runs one client's connection, on its own goroutine, until it ends. bare says that no TLS is spoken inside it.
func (s *Server) serve(ctx context.Context, conn net.Conn, bare bool) error {
	up, err := s.nats.dial()
	if err != nil {
		return err
	}
	session := newSession(s, up)
	if !bare {
		session.tls = session.settings.tls
	}
	defer session.up.close()
	var hello readBuffer
	info, err := session.hello(&hello, conn)
	if err != nil {
		return err
	}
	if session.conn, err = session.tls.greet(ctx, conn, info); err != nil {
		return err
	}
	session.box.conn = session.conn
	if door := s.nats.door; door != nil && hello.end == 0 {
		through, err := door.pass(ctx, up, session.conn)
		if err != nil {
			return err
		}
		session.up.conn = through
	}
	session.owned.Go(func() { session.receive(&hello) })
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

func newSession(s *Server, up net.Conn) *session {
	settings := s.nats.settings.Load()
	session := &session{
		server:   s,
		settings: settings,
		subs:     newTable(),
		admit:    newAdmission(),
		done:     make(chan struct{}),
		connect:  defaultConnect,
		parser:   parser{maxLine: settings.maxLine},
	}
	session.up = &uplink{conn: up, owner: &session.owned}
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

// hello reads the embedded server's first INFO and introduces the client to it. It returns the INFO for the client; in keeps
// what follows it.
func (s *session) hello(in *readBuffer, client net.Conn) ([]byte, error) {
	if err := s.up.conn.SetDeadline(time.Now().Add(helloWait)); err != nil {
		return nil, err
	}
	var frame serverFrame
	for frame.kind == frameMore {
		data, err := in.fill(s.up.conn, frame.size)
		if err != nil {
			return nil, fmt.Errorf("no INFO of the embedded server: %w", err)
		}
		if frame, err = nextFrame(data); err != nil {
			return nil, err
		}
	}
	if frame.kind != frameInfo {
		return nil, errFrame
	}
	s.raw, s.conn = client, client
	info, err := s.inform(frame.arg)
	if err != nil {
		return nil, err
	}
	in.use(frame.size)
	if s.server.nats.door != nil {
		_, err := s.up.conn.Write(introduction(client.RemoteAddr(), client.LocalAddr()))
		return info, errors.Join(err, s.up.conn.SetDeadline(time.Time{}))
	}
	// Both may fail because it refuses the connection: it says why and reads no more. The client is to see that.
	s.up.inject(introduction(client.RemoteAddr(), client.LocalAddr()))
	_ = s.up.conn.SetDeadline(time.Time{})
	return info, nil
}
