package frontend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats-server/v2/server"
)

const (
	// webHandshake bounds the TLS handshake and the request that opens a WebSocket.
	webHandshake = 5 * time.Second

	// webHeader bounds that request's header, bytes.
	webHeader = 16 << 10

	// webBatch is how much a client may put into one WebSocket message beside one NATS message of full size, bytes: nats.js sends
	// what its application published in one go as one message.
	webBatch = 1 << 20
)

// web is the listener for clients that speak NATS inside WebSocket messages, as browsers must.
type web struct {
	// immutable
	settings webSettings
	listener net.Listener
	server   *http.Server
	log      *slog.Logger
	take     func(net.Conn)    // serves a connection
	limit    func() int64      // of a message, bytes
	secure   func() *clientTLS // nil without TLS

	ended chan struct{} // closed when the serving goroutine is
}

// webSettings say where a web listens and whom it serves.
type webSettings struct {
	address   string
	origins   []string // besides the listener's own; "*" = any
	handshake time.Duration
	tls       *clientTLS // of its own; nil = as other clients have it
	plain     bool       // no TLS, whatever other clients have
}

// takeWebSocket moves a websocket block out of the embedded server's options. It leaves it there, and returns nil, if the block asks for what
// only nats-server can do: cookies, or credentials of its own.
func takeWebSocket(o *server.Options) *webSettings {
	w := &o.Websocket
	if w.Port == 0 || w.NoAuthUser != "" || w.Username != "" || w.Token != "" || w.TLSMap ||
		w.JWTCookie != "" || w.UsernameCookie != "" || w.PasswordCookie != "" || w.TokenCookie != "" {
		return nil
	}
	s := &webSettings{
		address: net.JoinHostPort(w.Host, strconv.Itoa(max(w.Port, 0))), origins: w.AllowedOrigins,
		handshake: w.HandshakeTimeout, plain: w.NoTLS,
	}
	if !w.SameOrigin && len(w.AllowedOrigins) == 0 {
		s.origins = []string{"*"} // as nats-server has it
	}
	if w.TLSConfig != nil {
		s.tls = &clientTLS{config: w.TLSConfig, pinned: w.TLSPinnedCerts}
	}
	o.Websocket = server.WebsocketOpts{}
	return s
}

// startWeb listens.
func startWeb(w *web) (*web, error) {
	if w.settings.handshake <= 0 {
		w.settings.handshake = webHandshake
	}
	var err error
	if w.listener, err = net.Listen("tcp", w.settings.address); err != nil {
		return nil, fmt.Errorf("cannot listen for WebSocket clients: %w", err)
	}
	w.ended = make(chan struct{})
	w.server = &http.Server{
		Handler:           http.HandlerFunc(w.open),
		ReadHeaderTimeout: w.settings.handshake,
		ReadTimeout:       w.settings.handshake,
		IdleTimeout:       w.settings.handshake,
		MaxHeaderBytes:    webHeader,
		ErrorLog:          slog.NewLogLogger(w.log.Handler(), slog.LevelDebug),
	}
	listener := w.listener
	if w.secure() != nil {
		listener = tls.NewListener(listener, &tls.Config{
			MinVersion: tls.VersionTLS12,
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				config := w.secure().config.Clone()
				config.NextProtos = []string{"http/1.1"} // WebSockets are opened in it
				return config, nil
			},
		})
	}
	go func() {
		defer close(w.ended)
		if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("serving WebSocket clients", "error", err)
		}
	}()
	return w, nil
}

// open turns a request into a connection like any other. Messages are not compressed, so that none can grow on the way in, and
// they are read as they come, so that a big one, or one of many fragments, is nowhere held whole.
func (w *web) open(response http.ResponseWriter, request *http.Request) {
	if clients := w.secure(); clients != nil {
		if err := clients.checkPinned(*request.TLS); err != nil {
			http.Error(response, err.Error(), http.StatusForbidden)
			return
		}
	}
	accept := &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled, OriginPatterns: w.settings.origins}
	for _, origin := range w.settings.origins {
		accept.InsecureSkipVerify = accept.InsecureSkipVerify || origin == "*"
	}
	socket, err := websocket.Accept(response, request, accept)
	if err != nil {
		w.log.Debug("a WebSocket was not opened", "client", request.RemoteAddr, "error", err)
		return // the client has been told
	}
	socket.SetReadLimit(w.limit())
	from, err := net.ResolveTCPAddr("tcp", request.RemoteAddr)
	to, ok := request.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if err != nil || !ok {
		w.log.Error("a WebSocket has no address", "client", request.RemoteAddr, "error", err)
		_ = socket.CloseNow() // it is of no use
		return
	}
	// The connection outlives the request; closing it ends what it needs.
	w.take(&webConn{websocket.NetConn(context.Background(), socket, websocket.MessageBinary), socket, from, to})
}

// stop ends the listening. Connections that are open do not belong to it any more.
func (w *web) stop() {
	if w == nil {
		return
	}
	_ = w.server.Close() // only requests that opened no WebSocket yet are cut off
	<-w.ended
}

// webConn is a WebSocket as a stream of bytes.
type webConn struct {
	net.Conn
	socket   *websocket.Conn
	from, to net.Addr
}

// RemoteAddr is the client's address.
func (c *webConn) RemoteAddr() net.Addr { return c.from }

// LocalAddr is the address that it came to.
func (c *webConn) LocalAddr() net.Addr { return c.to }

// Close closes at once: the NATS protocol has said what there is to say.
func (c *webConn) Close() error {
	err := c.socket.CloseNow()
	_ = c.Conn.Close() // releases its timers; the socket is closed
	return err
}
