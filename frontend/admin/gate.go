package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/mq9-broker/broker/frontend/admin/page"
	"github.com/mq9-broker/broker/mq9"
)

// minToken is the least length of the token that opens the HTTP endpoints, bytes.
const minToken = 16

// Gate stands before the HTTP endpoints. /healthz and /readyz are open to everybody, and so are the files of the page, which say nothing of
// the broker and ask for the token themselves; the rest wants the bearer token if there is one. Without a token, which goes on the loopback only, it wants requests to be addressed to this machine: a web page whose name was made to
// point here is not answered. It is immutable and safe for concurrent use.
type Gate struct {
	sum    [sha256.Size]byte // of the token
	locked bool              // there is a token
}

// NewGate makes the gate of endpoints on address, host:port, with the token that the file holds; an empty name means none. It is an
// error to have none when the address can be reached from other machines.
func NewGate(address, tokenFile string) (*Gate, error) {
	if tokenFile == "" {
		if !isLoopback(address) {
			return nil, fmt.Errorf("%s can be reached from other machines: name a file that holds a token (http_token_file), or listen on 127.0.0.1", address)
		}
		return &Gate{}, nil
	}
	token, err := ReadToken(tokenFile)
	if err != nil {
		return nil, err
	}
	return &Gate{sum: sha256.Sum256([]byte(token)), locked: true}, nil
}

// ReadToken reads a bearer token out of a file; white space around it does not count.
func ReadToken(file string) (string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return "", fmt.Errorf("http token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("http token: %s must hold one word of at least %d characters, such as `openssl rand -hex 32` prints", file, minToken)
	}
	return token, nil
}

// Protect wraps the endpoints. A nil gate lets everything through.
func (g *Gate) Protect(endpoints http.Handler) http.Handler {
	if g == nil {
		return endpoints
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			endpoints.ServeHTTP(w, r)
			return
		}
		if err := g.check(r); err != nil {
			w.Header().Set("Content-Type", "application/json")
			status := http.StatusForbidden
			if g.locked {
				w.Header().Set("WWW-Authenticate", `Bearer realm="mq9"`)
				status = http.StatusUnauthorized
			}
			w.WriteHeader(status)
			_, _ = w.Write(append(mq9.Errorf(status, "%s", err.Error()).Encode(), '\n')) // it may have gone
			return
		}
		endpoints.ServeHTTP(w, r)
	})
}

// check says why a request is not let through, or nil.
func (g *Gate) check(r *http.Request) error {
	if g.locked && isPage(r) {
		return nil
	}
	if g.locked {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// Sums have one length, so that comparing them tells nothing of the token's.
		sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(sum[:], g.sum[:]) != 1 {
			return errors.New("send the token of http_token_file as Authorization: Bearer")
		}
		return nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if net.ParseIP(strings.Trim(host, "[]")) == nil && !strings.EqualFold(host, "localhost") {
		return fmt.Errorf("ask for localhost or an IP address, not for %q", host)
	}
	return nil
}

// isPage reports whether a request is for a file of the page.
func isPage(r *http.Request) bool {
	return r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, page.Prefix)
}

// isLoopback reports whether only programs on this machine can reach an address.
func isLoopback(address string) bool {
	at, err := net.ResolveTCPAddr("tcp", address)
	return err == nil && at.IP.IsLoopback()
}
