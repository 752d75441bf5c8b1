package admin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tokenFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestGate(t *testing.T) {
	const token = "0123456789abcdef"
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	open, err := NewGate("127.0.0.1:8222", "")
	if err != nil {
		t.Fatal(err)
	}
	locked, err := NewGate("0.0.0.0:8222", tokenFile(t, token+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gate              *Gate
		path, host, sends string
		status            int
	}{
		{open, "/metrics", "127.0.0.1:8222", "", http.StatusTeapot},
		{open, "/metrics", "localhost:8222", "", http.StatusTeapot},
		{open, "/metrics", "[::1]:8222", "", http.StatusTeapot},
		{open, "/metrics", "rebound.example.org:8222", "", http.StatusForbidden},
		{open, "/readyz", "anything", "", http.StatusTeapot},
		{locked, "/healthz", "anything", "", http.StatusTeapot},
		{locked, "/readyz", "anything", "", http.StatusTeapot},
		{locked, "/readyz/", "anything", "", http.StatusUnauthorized},
		{locked, "/", "broker", "", http.StatusTeapot},
		{locked, "/page/main.js", "broker", "", http.StatusTeapot},
		{locked, "/page", "broker", "", http.StatusUnauthorized},
		{locked, "/api/v1/status", "broker", "", http.StatusUnauthorized},
		{open, "/", "rebound.example.org:8222", "", http.StatusForbidden},
		{locked, "/metrics", "broker", "", http.StatusUnauthorized},
		{locked, "/metrics", "broker", token, http.StatusUnauthorized},
		{locked, "/metrics", "broker", "Basic " + token, http.StatusUnauthorized},
		{locked, "/metrics", "broker", "Bearer " + token[1:], http.StatusUnauthorized},
		{locked, "/metrics", "broker", "Bearer " + token + "0", http.StatusUnauthorized},
		{locked, "/metrics", "broker", "Bearer", http.StatusUnauthorized},
		{locked, "/metrics", "broker", "Bearer " + token, http.StatusTeapot},
		{locked, "/metrics", "broker", "bearer " + token, http.StatusTeapot},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Host = c.host
		if c.sends != "" {
			r.Header.Set("Authorization", c.sends)
		}
		w := httptest.NewRecorder()
		c.gate.Protect(inner).ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s of %s with %q: %d, want %d", c.path, c.host, c.sends, w.Code, c.status)
		}
		if w.Code != http.StatusTeapot && strings.Contains(w.Body.String(), token) {
			t.Errorf("the refusal shows the token: %s", w.Body)
		}
	}
}

func TestGateRefusesToStart(t *testing.T) {
	for _, c := range []struct{ address, file, want string }{
		{"0.0.0.0:8222", "", "can be reached from other machines"},
		{":8222", "", "can be reached from other machines"},
		{"192.0.2.1:8222", "", "can be reached from other machines"},
		{"127.0.0.1:8222", "/nonexistent", "http token"},
		{"0.0.0.0:8222", tokenFile(t, "short"), "at least 16 characters"},
		{"0.0.0.0:8222", tokenFile(t, "two words that are long"), "one word"},
	} {
		if _, err := NewGate(c.address, c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: %v, want %q", c.address, c.file, err, c.want)
		}
	}
}
