package frontend

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// settings is what the front goes by of the embedded server's configuration. A connection takes what holds when it is made. It is immutable.
type settings struct {
	tls        *clientTLS   // what it says of TLS for clients, which is the front's business; nil without
	mapped     bool         // certificates say who clients are
	web        *webSettings // what it says of WebSocket clients, which is the front's business too; nil without
	directory  *directory
	clustered  bool // there are other servers that clients may go to
	headers    bool // messages may have headers
	maxConns   int  // client connections
	maxSubs    int  // mailbox subscriptions of one connection; 0 = no limit
	maxLine    int  // bytes of a protocol line
	maxPayload int  // bytes of a message
}

// Reload reads the embedded server's configuration file again, certificates included, and applies it with the tunables given. New connections go
// by it; nats-server closes those that it does not permit any more: of users who are gone, and beyond a lowered limit of connections.
// Permissions change for all: what a user may no longer subscribe to ends.
// An error says what is wrong with the file, or what cannot be changed while the server runs; then nothing has changed.
// It may be called between Start and Shutdown, by one goroutine at a time.
func (s *Server) Reload(t Tunables) error {
	if err := s.nats.reload(t); err != nil {
		return err
	}
	s.mu.Lock()
	sessions := make([]*session, 0, len(s.mu.sessions))
	for session := range s.mu.sessions {
		sessions = append(sessions, session)
	}
	s.mu.Unlock()
	for _, session := range sessions {
		session.revoke()
	}
	return nil
}

// reload implements Reload.
func (e *embedded) reload(t Tunables) error {
	o, settings, err := e.configure(t)
	if err != nil {
		return err
	}
	if err := settings.follows(e.settings.Load()); err != nil {
		return err
	}
	if o.MaxSubs != e.maxSubs {
		e.log.log.Warn("the limit of subscriptions changes for mailboxes; for other subjects a restart is needed", "is", e.maxSubs, "will_be", o.MaxSubs)
		o.MaxSubs = e.maxSubs // nats-server cannot change it
	}
	if err := e.server.ReloadOptions(o); err != nil {
		why, _, _ := strings.Cut(oneLine(err), ": old=") // the values behind it may be secrets
		return fmt.Errorf("embedded nats-server: %s", why)
	}
	e.server.SetLoggerV2(e.log, o.Debug, o.Trace, false) // it may have made one of its own
	e.settings.Store(settings)
	e.generation.Add(1)
	return nil
}

// follows says what would have to be switched on or off that cannot be while the broker runs.
func (s *settings) follows(old *settings) error {
	for _, fixed := range []struct {
		name    string
		changed bool
	}{
		{"tls", (s.tls == nil) != (old.tls == nil)},
		{"tls verify_and_map", s.mapped != old.mapped},
		{"websocket", (s.web == nil) != (old.web == nil) || s.web != nil && (s.web.address != old.web.address || (s.web.tls == nil) != (old.web.tls == nil))},
	} {
		if fixed.changed {
			return fmt.Errorf("nats configuration: %s cannot be switched while the broker runs: restart it", fixed.name)
		}
	}
	return nil
}

// CheckNATSConfig says what is wrong with a nats-server configuration file, or nothing. Files that it names, such as certificates, are read too.
func CheckNATSConfig(path string) error {
	e := &embedded{options: &Options{NATSConfig: path}, addr: &net.TCPAddr{}}
	_, _, err := e.configure(Tunables{})
	return err
}

// configure reads the configuration file, if there is one, and makes the server's options of it, and the front's settings.
func (e *embedded) configure(t Tunables) (*server.Options, *settings, error) {
	o := &server.Options{}
	if config := e.options.NATSConfig; config != "" {
		var err error
		if o, err = server.ProcessConfigFile(config); err != nil {
			why := oneLine(err)
			if !strings.Contains(why, config) { // it names the file in some cases only
				why = config + ": " + why
			}
			return nil, nil, fmt.Errorf("nats configuration: %s", why)
		}
	}
	t.apply(o)
	hurryPings(o)
	clients, err := takeTLS(o)
	if err != nil {
		return nil, nil, fmt.Errorf("nats configuration %s: %w", e.options.NATSConfig, err)
	}
	o.NoSigs, o.NoLog = true, false
	o.Host, o.Port = e.addr.IP.String(), e.addr.Port
	s := &settings{
		tls:        clients,
		mapped:     o.TLSMap,
		web:        takeWebSocket(o),
		directory:  newDirectory(o),
		clustered:  o.Cluster.Port != 0,
		headers:    !o.NoHeaderSupport,
		maxConns:   cmp.Or(o.MaxConn, server.DEFAULT_MAX_CONNECTIONS),
		maxSubs:    o.MaxSubs,
		maxLine:    int(o.MaxControlLine),
		maxPayload: cmp.Or(int(o.MaxPayload), server.MAX_PAYLOAD_SIZE),
	}
	// nats-server starts its routes only after a client listener of its own; the other two are said at door.
	if err := e.listen(o, s.clustered || s.directory.jwts || s.mapped, clients.patience()); err != nil {
		return nil, nil, err
	}
	if s.maxLine == 0 {
		s.maxLine = server.MAX_CONTROL_LINE_SIZE
	}
	return o, s, nil
}

// apply puts what is set in place of what the file says.
func (t Tunables) apply(o *server.Options) {
	if t.MaxConnections > 0 {
		o.MaxConn = t.MaxConnections
	}
	if t.MaxSubscriptions > 0 {
		o.MaxSubs = t.MaxSubscriptions
	}
	if t.PingInterval > 0 {
		o.PingInterval = t.PingInterval
	}
	if t.PingMax > 0 {
		o.MaxPingsOut = t.PingMax
	}
}
