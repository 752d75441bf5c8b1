package frontend

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
)

// globalAccount is where connections are when no accounts are configured.
const globalAccount = "$G"

// startWait is how long the embedded server may take to start. JetStream recovers its streams in it.
const startWait = 60 * time.Second

// embedded is the nats-server behind the front. It is safe for concurrent use once started.
type embedded struct {
	// immutable after newEmbedded
	options *Options
	addr    *net.TCPAddr // where the front listens
	server  *server.Server
	log     *natsLog
	maxSubs int   // of one connection, for plain subjects; a reload cannot change it
	door    *door // the way in; nil = in-process

	settings   atomic.Pointer[settings] // replaced by reload
	generation atomic.Int64             // of settings; grows when the embedded server goes by the new ones
}

// newEmbedded makes the embedded server for a front that listens on addr.
func newEmbedded(options *Options, addr *net.TCPAddr, log *slog.Logger) (*embedded, error) {
	e := &embedded{options: options, addr: addr, log: &natsLog{log: log, fatal: make(chan error, 1)}}
	o, settings, err := e.configure(options.Tunables)
	if err != nil {
		return nil, err
	}
	e.maxSubs = o.MaxSubs
	if e.server, err = server.NewServer(o); err != nil {
		return nil, fmt.Errorf("embedded nats-server: %w", err)
	}
	e.settings.Store(settings)
	e.server.SetLoggerV2(e.log, o.Debug, o.Trace, false)
	warnOfListeners(o, log)
	return e, nil
}

// hurryPings shortens the interval of PINGs. nats-server sends none within an interval of what it heard last, so it needs
// up to ping_max + 2 of its intervals to find that a client is gone, and ping_max + 1 of ours are promised (protocol section 6).
func hurryPings(o *server.Options) {
	interval, most := o.PingInterval, o.MaxPingsOut
	if interval == 0 {
		interval = server.DEFAULT_PING_INTERVAL
	}
	if most == 0 {
		most = server.DEFAULT_PING_MAX_OUT
	}
	o.PingInterval = interval * time.Duration(most+1) / time.Duration(most+2)
}

// oneLine renders an error of nats-server's configuration parser, which names the file, in one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// admitInProcess lets users that are restricted to standard connections come through the front, whose connections are
// of the in-process kind.
func admitInProcess(o *server.Options) {
	admit := func(types map[string]struct{}) {
		if _, ok := types[jwt.ConnectionTypeStandard]; ok {
			types[jwt.ConnectionTypeInProcess] = struct{}{}
		}
	}
	for _, u := range o.Users {
		admit(u.AllowedConnectionTypes)
	}
	for _, u := range o.Nkeys {
		admit(u.AllowedConnectionTypes)
	}
}

// warnOfListeners says where mailboxes are not.
func warnOfListeners(o *server.Options, log *slog.Logger) {
	for _, l := range []struct {
		name string
		port int
	}{
		{"websocket", o.Websocket.Port},
		{"leafnodes", o.LeafNode.Port},
		{"cluster", o.Cluster.Port},
		{"gateway", o.Gateway.Port},
		{"mqtt", o.MQTT.Port},
	} {
		if l.port != 0 {
			log.Warn("mq9 subjects are spoken on the client listener only, not here", "listener", l.name)
		}
	}
}

// start runs the server and returns when it takes connections.
func (e *embedded) start() error {
	started := make(chan struct{})
	go func() { // ends with Start, which blocks for a cluster's client listener at most until Shutdown
		defer close(started)
		e.server.Start()
	}()
	ready := make(chan bool, 1)
	go func() { ready <- e.server.ReadyForConnections(startWait) }()
	select {
	case err := <-e.log.fatal:
		return fmt.Errorf("embedded nats-server: %w", err)
	case ok := <-ready:
		if !ok {
			return errors.New("embedded nats-server: it did not become ready; see the log")
		}
	}
	return nil
}

// err reports why the server does not work, or nil.
func (e *embedded) err() error {
	if err := e.log.failure(); err != nil {
		return err
	}
	if !e.server.Running() {
		return errors.New("the embedded nats-server is not running")
	}
	return nil
}

// stop ends the server. Connections should be closed by then.
func (e *embedded) stop() {
	e.server.Shutdown()
	e.server.WaitForShutdown()
}

// listen says how the front gets to the embedded server: through a door, or in-process. patience is how long a client's own
// TLS may take, which comes first.
func (e *embedded) listen(o *server.Options, through bool, patience time.Duration) (err error) {
	o.ProxyProtocol = through // the front tells it each client's address that way
	if !through {
		o.DontListen = true
		admitInProcess(o)
		return nil
	}
	if e.door == nil {
		if e.door, err = newDoor(o.TLSMap); err != nil {
			return err
		}
	}
	if o.ClientAdvertise == "" {
		o.ClientAdvertise = e.addr.String() // nobody is told of the door
	}
	o.Host, o.Port = "127.0.0.1", server.RANDOM_PORT
	o.TLSConfig, o.TLSTimeout = e.door.inside, (helloWait + patience).Seconds()
	return nil
}

// clientTLS is the TLS that clients get.
type clientTLS struct {
	config    *tls.Config
	optional  bool          // clients without TLS are taken too
	first     bool          // the handshake comes before INFO
	fallback  time.Duration // with first: INFO is sent to a client that says nothing for so long; 0 = never
	timeout   time.Duration // of the handshake
	pinned    server.PinnedCertSet
	mustBring bool // clients must bring a certificate
}
