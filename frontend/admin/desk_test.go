package admin

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The desk is for the broker's own page and for programs: no other page makes a browser use it, not even one whose name leads here.
func TestDeskGuard(t *testing.T) {
	gate := &Gate{}
	s := New(Options{Broker: quiet{}, Desk: bareDesk{}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"a program": {func(*http.Request) {}, 201},
		"the page": {func(r *http.Request) {
			r.Header.Set("Origin", "http://127.0.0.1:8222")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, 201},
		"the page, IPv6":  {func(r *http.Request) { r.Host = "[::1]:8222"; r.Header.Set("Origin", "http://[::1]:8222") }, 201},
		"localhost":       {func(r *http.Request) { r.Host = "localhost:8222" }, 201},
		"another page":    {func(r *http.Request) { r.Header.Set("Origin", "http://other.example") }, 403},
		"a newer browser": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"a name that lies": {func(r *http.Request) {
			r.Host = "other.example:8222"
			r.Header.Set("Origin", "http://other.example:8222")
		}, 403},
		"a form": {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, SendPath, strings.NewReader(`{"mail_id":"a.b","text":"x"}`))
			r.Host = "127.0.0.1:8222"
			r.Header.Set("Content-Type", "application/json")
			c.change(r)
			w := httptest.NewRecorder()
			gate.Protect(s).ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}
