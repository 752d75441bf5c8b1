package frontend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/frontend/admin"
)

// Server is the front: it listens for clients and serves them. Make one with [New]. Its methods are safe for concurrent use,
// but Start and Shutdown are for once each, in that order.
type Server struct {
	// immutable after Start
	options  Options
	broker   *actors.Broker
	log      *slog.Logger
	nats     *embedded
	listener net.Listener
	admin    *admin.Server

	refusals refusals
	draining atomic.Bool // new mq9 operations are refused
	conns    sync.WaitGroup
	stop     context.CancelFunc // ends what waits outside a session
	stopped  context.Context

	mu struct {
		sync.Mutex
		closed   bool                  // no connection is taken any more
		raw      map[net.Conn]struct{} // every client's connection
		sessions map[*session]struct{} // those that are served
		served   uint64                // sessions since the start
		past     delivered             // of sessions that ended
	}
}

// New makes a front for a broker. It does nothing until Start.
func New(options Options, broker *actors.Broker) *Server {
	options.EnsureDefaults()
	s := &Server{options: options, broker: broker, log: options.Log}
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.mu.raw, s.mu.sessions = map[net.Conn]struct{}{}, map[*session]struct{}{}
	return s
}

// Start opens the listeners, starts the embedded nats-server and returns when clients are served. After an error nothing is
// left running. The error is one line that says what to mend.
func (s *Server) Start() (err error) {
	if err := s.options.Validate(); err != nil {
		return err
	}
	if s.listener, err = net.Listen("tcp", s.options.Listen); err != nil {
		return fmt.Errorf("cannot listen for clients: %w", err)
	}
	defer func() {
		if err != nil {
			s.stop()
			err = errors.Join(err, s.listener.Close())
		}
	}()
	address, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("cannot listen for clients: %s is no TCP address", s.listener.Addr())
	}
	if s.nats, err = newEmbedded(&s.options, address, s.log); err != nil {
		return err
	}
	if err := s.nats.start(); err != nil {
		s.nats.stop()
		return err
	}
	web, err := net.Listen("tcp", s.options.HTTP)
	if err != nil {
		s.nats.stop()
		return fmt.Errorf("cannot listen for health checks: %w", err)
	}
	s.admin = admin.New(admin.Options{
		Broker: face{s}, Store: s.options.Store, Instruments: s.options.Instruments, Level: s.options.Level,
		Version: s.options.Version, Pprof: s.options.Pprof, Log: s.log,
	})
	s.admin.Start(web)
	s.conns.Go(s.accept)
	return nil
}

// Addr is where clients are served, after Start.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// HTTPAddr is where package admin answers, after Start.
func (s *Server) HTTPAddr() net.Addr { return s.admin.Addr() }

// ready says why the broker should get no traffic, or nil.
func (s *Server) ready() error {
	if s.draining.Load() {
		return errors.New("shutting down")
	}
	return errors.Join(s.nats.err(), s.broker.Err())
}

// accept takes connections until the listener is closed.
func (s *Server) accept() {
	const longest = time.Second
	pause := 5 * time.Millisecond
	for {
		conn, err := s.listener.Accept()
		if err == nil {
			pause = 5 * time.Millisecond
			s.take(conn)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		s.log.Warn("cannot take a connection", "error", err)
		select { // out of file descriptors, most likely: some will come free
		case <-time.After(pause):
			pause = min(2*pause, longest)
		case <-s.stopped.Done():
			return
		}
	}
}

// take serves a connection on a goroutine of its own.
func (s *Server) take(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		_ = conn.Close() // it came too late
		return
	}
	s.mu.raw[conn] = struct{}{}
	s.conns.Go(func() {
		if err := s.serve(s.stopped, conn); err != nil {
			s.log.Debug("a connection ended", "client", conn.RemoteAddr().String(), "error", err)
		}
		_ = conn.Close() // most likely it is closed already
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.mu.raw, conn)
	})
}

// register puts a session among those that Shutdown winds up. It reports false when it is too late.
func (s *Server) register(session *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return false
	}
	s.mu.sessions[session] = struct{}{}
	s.mu.served++
	return true
}

func (s *Server) forget(session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.sessions, session)
	s.mu.past.add(session.box.look().delivered)
}

// infoFields are the members of INFO that the front knows better than the embedded server.
func (s *session) infoFields() infoFields {
	fields := infoFields{}
	if host, _, err := net.SplitHostPort(s.conn.RemoteAddr().String()); err == nil {
		fields["client_ip"] = host
	}
	if s.settings.tls != nil {
		s.settings.tls.fields(fields)
	}
	return fields
}
