package admin

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mq9-broker/broker/frontend/admin/page"
	"github.com/mq9-broker/broker/mq9"
)

// Options say what a Server shows.
type Options struct {
	Broker      Broker         // must be given
	Store       Store          // nil = no snapshots, and nothing is said of the durable tiers
	Desk        Desk           // nil = nothing is sent or watched over HTTP
	Instruments *Instruments   // nil = some of its own, which nobody feeds
	Level       *slog.LevelVar // what PUT log-level changes; nil = it cannot be changed
	Version     string         // of the broker
	Pprof       bool           // serve /debug/pprof/ to this machine
	Gate        *Gate          // stands before everything; nil = nothing does
	Log         *slog.Logger   // nil = slog.Default()
}

// Server answers HTTP. Make one with [New], then Start it once and Stop it once.
type Server struct {
	// immutable
	options     Options
	log         *slog.Logger
	instruments *Instruments
	started     time.Time
	mux         *http.ServeMux

	// immutable after Start
	listener net.Listener
	server   *http.Server
	ended    chan struct{} // closed when the serving goroutine is

	streams  chan struct{} // a token for each client of a stream
	stopping chan struct{} // closed when Stop begins
}

// New makes a server. It listens after Start.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Instruments == nil {
		o.Instruments = NewInstruments()
	}
	s := &Server{
		options: o, log: o.Log, instruments: o.Instruments, started: time.Now(), mux: http.NewServeMux(),
		ended: make(chan struct{}), streams: make(chan struct{}, mostStreams), stopping: make(chan struct{}),
	}
	s.mount()
	return s
}

// Handle serves something more. It is for before Start.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// ServeHTTP serves one request, without a listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Start serves on a listener, which becomes the server's.
func (s *Server) Start(l net.Listener) {
	s.listener = l
	s.server = &http.Server{
		Handler:           s.options.Gate.Protect(s),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // its clients' mistakes
	}
	go func() {
		defer close(s.ended)
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("serving HTTP", "error", err)
		}
	}()
}

// Addr is where the server listens, after Start.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Stop ends the serving; requests under way finish if ctx lets them, events end at once.
func (s *Server) Stop(ctx context.Context) {
	close(s.stopping)
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close() // cut off, as ctx demands
	}
	<-s.ended
}

// Prefix is where the API is.
const Prefix = "/api/v1"

// Paths of the API that programs of ours ask for.
const (
	StatusPath      = Prefix + "/status"
	EventsPath      = Prefix + "/events"
	MailboxesPath   = Prefix + "/mailboxes"
	ConnectionsPath = Prefix + "/connections"
	GroupsPath      = Prefix + "/groups"
	LimitsPath      = Prefix + "/limits"
	LogLevelPath    = Prefix + "/log-level"
	SnapshotPath    = Prefix + "/snapshot"
	SendPath        = Prefix + "/send"
	WatchPath       = Prefix + "/watch"
	OpenAPIPath     = Prefix + "/openapi.json"
)

// mount says who answers what.
func (s *Server) mount() {
	handle := s.mux.HandleFunc
	handle("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { s.say(w, http.StatusOK, "ok") })
	handle("GET /readyz", s.readyz)
	s.mux.Handle("GET /metrics", s.metrics())
	s.mountProfiles()

	read, change := http.MethodGet, http.MethodPut
	s.route(StatusPath, methods{read: func(w http.ResponseWriter, _ *http.Request) { s.answer(w, http.StatusOK, s.Status(), nil) }})
	s.route(EventsPath, methods{read: s.events})
	s.route(MailboxesPath, methods{read: list(s, s.options.Broker.Mailboxes)})
	s.route(ConnectionsPath, methods{read: list(s, s.options.Broker.Connections)})
	s.route(GroupsPath, methods{read: list(s, s.options.Broker.Groups)})
	s.route(LimitsPath, methods{read: s.limits, change: s.setLimits})
	s.route(LogLevelPath, methods{read: s.logLevel, change: s.setLogLevel})
	s.route(OpenAPIPath, methods{read: s.openAPI})
	if s.options.Store != nil {
		s.route(SnapshotPath, methods{http.MethodPost: s.snapshot})
	}
	if s.options.Desk != nil {
		s.route(SendPath, methods{http.MethodPost: s.send})
		s.route(WatchPath, methods{http.MethodPost: s.watch})
	}
	shown := page.New()
	s.mux.Handle("GET /{$}", shown)
	s.mux.Handle("GET "+page.Prefix, shown)
	handle(Prefix+"/", func(w http.ResponseWriter, _ *http.Request) {
		s.answer(w, 0, nil, mq9.Errorf(mq9.CodeNotFound, "no such request: see %s", OpenAPIPath))
	})
}

// methods are the handlers of one path.
type methods map[string]http.HandlerFunc

// route serves one path of the API; other methods than these are refused as everything there is, in JSON.
func (s *Server) route(path string, by methods) {
	for method, h := range by {
		s.mux.HandleFunc(method+" "+path, h)
	}
	allowed := strings.Join(slices.Sorted(maps.Keys(by)), ", ")
	s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allowed)
		s.answer(w, 0, nil, mq9.Errorf(http.StatusMethodNotAllowed, "this path takes %s", allowed))
	})
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if err := s.options.Broker.Ready(); err != nil {
		s.say(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	s.say(w, http.StatusOK, "ok")
}

// pageWait bounds how long a page may wait for mailboxes that are busy; they are then shown without their figures.
const pageWait = 2 * time.Second

// list answers a page of something.
func list[P any](s *Server, read func(context.Context, Page) (P, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		page, err := readPage(r)
		if err != nil {
			s.answer(w, 0, nil, err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), pageWait)
		defer cancel()
		found, err := read(ctx, page)
		s.answer(w, http.StatusOK, found, err)
	}
}
