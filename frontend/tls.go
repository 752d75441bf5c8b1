package frontend

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// takeTLS moves TLS for clients out of the embedded server's options: the front's connections to it are in-process. It refuses
// settings for which nats-server would have to see the client's certificate or the client's own bytes.
func takeTLS(o *server.Options) (*clientTLS, error) {
	if o.ProxyProtocol {
		return nil, errors.New("proxy_protocol is not supported: remove it")
	}
	if o.TLSConfig == nil {
		return nil, nil
	}
	switch {
	case o.TLSRateLimit > 0:
		return nil, errors.New("tls: connection_rate_limit is not supported: remove it")
	case o.OCSPConfig != nil && o.OCSPConfig.Mode != server.OCSPModeNever:
		return nil, errors.New("ocsp is not supported: remove it")
	}
	t := &clientTLS{
		config:    o.TLSConfig,
		optional:  o.AllowNonTLS,
		first:     o.TLSHandshakeFirst,
		fallback:  o.TLSHandshakeFirstFallback,
		timeout:   time.Duration(o.TLSTimeout * float64(time.Second)),
		pinned:    o.TLSPinnedCerts,
		mustBring: o.TLSConfig.ClientAuth == tls.RequireAndVerifyClientCert,
	}
	if t.timeout <= 0 {
		t.timeout = server.TLS_TIMEOUT
	}
	o.TLS, o.TLSVerify, o.TLSConfig, o.TLSPinnedCerts = false, false, nil, nil
	o.AllowNonTLS, o.TLSHandshakeFirst, o.TLSHandshakeFirstFallback = false, false, 0
	return t, nil
}

// patience is how long a client's handshake may take. t may be nil.
func (t *clientTLS) patience() time.Duration {
	if t == nil {
		return 0
	}
	return t.timeout
}

// fields are the members of INFO that tell clients about TLS.
func (t *clientTLS) fields(into infoFields) {
	if t.optional {
		into["tls_available"] = true
	} else {
		into["tls_required"] = true
	}
	if t.mustBring {
		into["tls_verify"] = true
	}
}

// greet sends the first INFO and makes the connection that the client wants, in the order that the
// configuration says. t is nil without TLS.
func (t *clientTLS) greet(ctx context.Context, conn net.Conn, info []byte) (net.Conn, error) {
	switch {
	case t == nil:
		return conn, send(conn, info)
	case t.first:
		head, err := peek(conn, t.fallback, t.timeout)
		if err != nil {
			return nil, err
		}
		if len(head) > 0 {
			secured, err := t.handshake(ctx, &headedConn{conn, head})
			if err != nil {
				return nil, err
			}
			return secured, send(secured, info)
		}
	}
	if err := send(conn, info); err != nil {
		return nil, err
	}
	if t.optional {
		head, err := peek(conn, t.timeout, t.timeout)
		if err != nil {
			return nil, err
		}
		const handshakeRecord = 0x16
		if conn = (&headedConn{conn, head}); !bytes.HasPrefix(head, []byte{handshakeRecord}) {
			return conn, nil
		}
	}
	return t.handshake(ctx, conn)
}

// handshake secures a connection.
func (t *clientTLS) handshake(ctx context.Context, conn net.Conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	secured := tls.Server(conn, t.config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	if err := t.checkPinned(secured.ConnectionState()); err != nil {
		return nil, err
	}
	return secured, nil
}

// checkPinned compares the client's certificate with those that are pinned, if any.
func (t *clientTLS) checkPinned(state tls.ConnectionState) error {
	if len(t.pinned) == 0 {
		return nil
	}
	if len(state.PeerCertificates) == 0 {
		return errors.New("TLS handshake: the client brought no certificate to compare with the pinned ones")
	}
	sum := sha256.Sum256(state.PeerCertificates[0].RawSubjectPublicKeyInfo)
	if _, ok := t.pinned[hex.EncodeToString(sum[:])]; !ok {
		return errors.New("TLS handshake: the client's certificate is not pinned")
	}
	return nil
}

// peek waits for a client's first byte, for so long (0 = no longer than the limit), and returns it, or nothing.
func peek(conn net.Conn, wait, limit time.Duration) ([]byte, error) {
	patient := wait == 0
	if patient {
		wait = limit
	}
	if err := conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return nil, err
	}
	head := make([]byte, 1)
	n, err := conn.Read(head)
	if n > 0 || !patient && isTimeout(err) {
		err = conn.SetReadDeadline(time.Time{})
	}
	return head[:n], err
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// send writes the first bytes to a client, which must take them in good time.
func send(conn net.Conn, bytes []byte) error {
	if err := conn.SetWriteDeadline(time.Now().Add(flushWait)); err != nil {
		return err
	}
	if _, err := conn.Write(bytes); err != nil {
		return err
	}
	return conn.SetWriteDeadline(time.Time{})
}

// headedConn is a connection of which some bytes were read already.
type headedConn struct {
	net.Conn
	head []byte // owned by the one reader
}

// Read returns the bytes that were read already, then those to come.
func (c *headedConn) Read(p []byte) (int, error) {
	if len(c.head) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.head)
	c.head = c.head[n:]
	return n, nil
}
