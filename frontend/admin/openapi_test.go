package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Every path of the document is served, and every path served is in the document. (That the answers are as it says is checked against
// a running broker in the specs.)
func TestOpenAPIPaths(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Broker: quiet{}, Desk: bareDesk{}, Store: &shelf{take: func(string) error { return nil }}})
	served := []string{
		StatusPath, EventsPath, MailboxesPath, ConnectionsPath, GroupsPath, LimitsPath, LogLevelPath, SnapshotPath, OpenAPIPath,
		SendPath, WatchPath,
	}
	if len(served) != len(doc.Paths) {
		t.Errorf("%d paths are served, %d documented", len(served), len(doc.Paths))
	}
	for _, path := range served {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPatch, path, nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		var methods []string
		for method := range doc.Paths[path] {
			methods = append(methods, strings.ToUpper(method))
		}
		for method := range strings.SplitSeq(w.Header().Get("Allow"), ", ") {
			if !strings.Contains(strings.Join(methods, " "), method) {
				t.Errorf("%s %s is not documented", method, path)
			}
		}
		if got := strings.Count(w.Header().Get("Allow"), ",") + 1; got != len(methods) {
			t.Errorf("%s serves %d methods and documents %v", path, got, methods)
		}
	}
}
