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
	unix     net.Listener // nil without
	web      *web         // nil without
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
	if err := s.startOthers(); err != nil {
		s.nats.stop()
		return errors.Join(err, s.stopOthers())
	}
	s.conns.Go(func() { s.accept(s.listener, false) })
	if s.unix != nil {
		s.conns.Go(func() { s.accept(s.unix, true) }) // what is on this machine needs no TLS
	}
	return nil
}

// startOthers opens the listeners beside the clients' own. After an error the caller stops those that are open.
func (s *Server) startOthers() (err error) {
	gate, err := admin.NewGate(s.options.HTTP, s.options.HTTPTokenFile)
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	if s.options.Unix != "" {
		if s.unix, err = listenUnix(s.options.Unix); err != nil {
			return err
		}
	}
	if settings := s.webSettings(); settings != nil {
		s.web, err = startWeb(&web{settings: *settings, log: s.log, take: func(c net.Conn) { s.take(c, true) }, limit: s.webLimit, secure: s.webClients})
		if err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", s.options.HTTP)
	if err != nil {
		return fmt.Errorf("cannot listen for health checks: %w", err)
	}
	s.admin = admin.New(admin.Options{
		Broker: face{s}, Desk: desk{s}, Store: s.options.Store, Instruments: s.options.Instruments, Level: s.options.Level,
		Version: s.options.Version, Pprof: s.options.Pprof, Log: s.log, Gate: gate,
	})
	s.admin.Start(listener)
	return nil
}

// stopOthers closes the listeners for clients that startOthers opened.
func (s *Server) stopOthers() error {
	s.web.stop()
	if s.unix == nil {
		return nil
	}
	return s.unix.Close()
}

// webSettings say how WebSocket clients are served, or nil.
func (s *Server) webSettings() *webSettings {
	if s.options.WebSocket == "" {
		return s.nats.settings.Load().web
	}
	return &webSettings{address: s.options.WebSocket, origins: s.options.Origins}
}

// webLimit bounds one WebSocket message, bytes.
func (s *Server) webLimit() int64 { return webBatch + int64(s.nats.settings.Load().maxPayload) }

// webClients is the TLS of WebSocket clients, or nil.
func (s *Server) webClients() *clientTLS {
	if w := s.webSettings(); w.tls != nil || w.plain {
		return w.tls
	}
	return s.nats.settings.Load().tls
}

// Addr is where clients are served, after Start.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// WebSocketAddr is where WebSocket clients are served, after Start; nil if they are not.
func (s *Server) WebSocketAddr() net.Addr {
	if s.web == nil {
		return nil
	}
	return s.web.listener.Addr()
}

// HTTPAddr is where package admin answers, after Start.
func (s *Server) HTTPAddr() net.Addr { return s.admin.Addr() }

// ready says why the broker should get no traffic, or nil.
func (s *Server) ready() error {
	if s.draining.Load() {
		return errors.New("shutting down")
	}
	return errors.Join(s.nats.err(), s.broker.Err())
}

// accept takes connections until the listener is closed. bare says that no TLS is spoken inside them.
func (s *Server) accept(listener net.Listener, bare bool) {
	const longest = time.Second
	pause := 5 * time.Millisecond
	for {
		conn, err := listener.Accept()
		if err == nil {
			pause = 5 * time.Millisecond
			s.take(conn, bare)
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
func (s *Server) take(conn net.Conn, bare bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		_ = conn.Close() // it came too late
		return
	}
	s.mu.raw[conn] = struct{}{}
	s.conns.Go(func() {
		if err := s.serve(s.stopped, conn, bare); err != nil {
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
	if s.server.nats.door != nil { // what the embedded server says of TLS is about its door
		fields["tls_required"], fields["tls_verify"], fields["tls_available"] = nil, nil, nil
		if !s.settings.clustered {
			fields["connect_urls"] = nil // there is no other server to go to
		}
	}
	if s.tls != nil {
		s.tls.fields(fields)
	}
	return fields
}
