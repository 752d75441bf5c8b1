package frontend

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path"
	"strings"
	"time"

	"github.com/mq9-broker/broker/frontend/admin"
	"github.com/mq9-broker/broker/frontend/tracing"
)

// Delivery is the form in which subscribers get messages (protocol section 5).
type Delivery uint8

// The delivery formats.
const (
	DeliverHeaders  Delivery = iota // the publisher's headers plus Mq9-Msg-Id and Mq9-Timestamp
	DeliverBare                     // the publisher's headers alone; the id is in the reply subject
	DeliverEnvelope                 // one JSON object that holds message and metadata
)

var deliveryNames = [...]string{"headers", "bare", "envelope"}

// String returns the name used in the configuration.
func (d Delivery) String() string {
	if int(d) < len(deliveryNames) {
		return deliveryNames[d]
	}
	return "invalid"
}

// ParseDelivery reads the name of a delivery format.
func ParseDelivery(name string) (Delivery, error) {
	for d, known := range deliveryNames {
		if name == known {
			return Delivery(d), nil
		}
	}
	return 0, fmt.Errorf("unknown delivery format %q: use headers, bare or envelope", name)
}

// Defaults of Options.
const (
	DefaultListen         = "127.0.0.1:4222"
	DefaultHTTP           = "127.0.0.1:8222"
	DefaultBarrierTimeout = 5 * time.Second
)

// Options configure a Server. The zero value of each field means its default.
type Options struct {
	Listen         string        // client address, host:port; port 0 = one of the system's choice. Empty = DefaultListen
	HTTP           string        // address of package admin, host:port, as Listen. Empty = DefaultHTTP
	NATSConfig     string        // nats-server configuration file for the embedded server; empty = none
	HTTPTokenFile  string        // file with the bearer token of the HTTP endpoints; empty = none, which HTTP must be a loopback address for
	WebSocket      string        // address for WebSocket clients, host:port, as Listen; without a host it is the loopback. Empty = what a websocket block in NATSConfig says, else none
	Origins        []string      // web origins (scheme://host[:port], * stands for any part) whose pages may connect to WebSocket, besides its own
	Unix           string        // path of a Unix socket for clients; empty = none
	Delivery       Delivery      // zero = DeliverHeaders
	BarrierTimeout time.Duration // how long a PONG is withheld for operations that are not stored (protocol section 5) before the connection is closed; 0 = DefaultBarrierTimeout
	Log            *slog.Logger  // nil = slog.Default()

	Store       admin.Store        // the durable side for package admin; nil = nothing of it is shown
	Instruments *admin.Instruments // what the front measures goes there; nil = instruments of its own
	Level       *slog.LevelVar     // what the admin API may change; nil = it may not
	Version     string             // of the broker, to be shown
	Tracer      *tracing.Tracer    // shows the way of messages; nil = nothing is traced
	Pprof       bool               // serve profiles on HTTP to this machine

	Tunables
}

// Tunables are the options that [Server.Reload] can change. The zero value of each field means what NATSConfig says, else the default.
type Tunables struct {
	MaxConnections   int           // client connections served at a time; default: nats-server's
	MaxSubscriptions int           // subscriptions of one connection; default: no limit
	PingInterval     time.Duration // between two PINGs to a client that says nothing; default: nats-server's, two minutes
	PingMax          int           // PINGs without an answer after which the next one closes the connection; default: nats-server's, two
}

// EnsureDefaults fills in what is zero.
func (o *Options) EnsureDefaults() {
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	if o.HTTP == "" {
		o.HTTP = DefaultHTTP
	}
	if host, port, err := net.SplitHostPort(o.WebSocket); err == nil && host == "" {
		o.WebSocket = net.JoinHostPort("127.0.0.1", port)
	}
	if o.BarrierTimeout == 0 {
		o.BarrierTimeout = DefaultBarrierTimeout
	}
	if o.Instruments == nil {
		o.Instruments = admin.NewInstruments()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// Validate returns every problem of the options, joined.
func (o *Options) Validate() error {
	var problems []error
	for _, a := range []struct{ name, address string }{{"listen", o.Listen}, {"http", o.HTTP}} {
		if _, err := net.ResolveTCPAddr("tcp", a.address); err != nil {
			problems = append(problems, fmt.Errorf("%s address %q: give host:port", a.name, a.address))
		}
	}
	if _, err := net.ResolveTCPAddr("tcp", o.WebSocket); o.WebSocket != "" && err != nil {
		problems = append(problems, fmt.Errorf("websocket address %q: give host:port", o.WebSocket))
	}
	for _, origin := range o.Origins {
		if _, err := path.Match(origin, ""); err != nil || !strings.Contains(origin, "://") {
			problems = append(problems, fmt.Errorf("websocket origin %q: give scheme://host[:port], such as https://example.org", origin))
		}
	}
	if int(o.Delivery) >= len(deliveryNames) {
		problems = append(problems, errors.New("unknown delivery format: use headers, bare or envelope"))
	}
	if o.BarrierTimeout < 0 {
		problems = append(problems, errors.New("barrier timeout: give a positive duration"))
	}
	if o.MaxConnections < 0 || o.MaxSubscriptions < 0 || o.PingInterval < 0 || o.PingMax < 0 {
		problems = append(problems, errors.New("limits and pings: give no negative numbers"))
	}
	return errors.Join(problems...)
}
