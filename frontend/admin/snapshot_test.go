package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

func TestSnapshotRequest(t *testing.T) {
	const good = `{"dir":"/backups/monday"}`
	refuse := func(err error) func(string) error { return func(string) error { return err } }
	asked := ""
	accept := func(dir string) error { asked = dir; return nil }
	for name, c := range map[string]struct {
		take   func(string) error
		method string
		change func(*http.Request)
		body   string
		status int
		says   string
	}{
		"made":                  {take: accept, body: good, status: http.StatusCreated, says: good},
		"refused by the store":  {take: refuse(mq9.Errorf(mq9.CodeConflict, "it exists")), body: good, status: 409, says: `{"error":"it exists","code":409}`},
		"a failing disk":        {take: refuse(mq9.ErrUnavailable), body: good, status: 503, says: "storage unavailable"},
		"a fault of ours":       {take: refuse(errors.New("inner detail")), body: good, status: 500, says: "internal error"},
		"no body":               {take: accept, status: 400, says: "JSON"},
		"no JSON":               {take: accept, body: "dir=/x", status: 400, says: "JSON"},
		"an unknown key":        {take: accept, body: `{"path":"/x"}`, status: 400, says: "path"},
		"a body without end":    {take: accept, body: `{"dir":"` + strings.Repeat("x", maxBody) + `"}`, status: 400, says: "too large"},
		"another method":        {take: accept, method: http.MethodGet, status: http.StatusMethodNotAllowed, says: "takes POST"},
		"from another machine":  {take: accept, body: good, change: func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1234" }, status: 403, says: "own machine"},
		"from the same machine": {take: accept, body: good, change: func(r *http.Request) { r.RemoteAddr = "[::1]:1234" }, status: http.StatusCreated, says: good},
		"from a form":           {take: accept, body: good, change: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, status: 403, says: "web pages"},
		"from a web page":       {take: accept, body: good, change: func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:8222") }, status: 403, says: "web pages"},
		"without a store":       {body: good, status: http.StatusNotFound, says: "no such request"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Broker: quiet{}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
			if c.take != nil {
				o.Store = &shelf{take: c.take}
			}
			s := New(o)
			method := http.MethodPost
			if c.method != "" {
				method = c.method
			}
			r := httptest.NewRequest(method, SnapshotPath, strings.NewReader(c.body))
			r.RemoteAddr = "127.0.0.1:1234"
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
			if c.change != nil {
				c.change(r)
			}
			asked = ""
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if (asked != "") != (c.status == http.StatusCreated) {
				t.Errorf("the store was asked for %q", asked)
			}
		})
	}
}
