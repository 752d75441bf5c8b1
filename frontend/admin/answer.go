package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/mq9-broker/broker/mq9"
)

// answer sends an object as JSON, or the refusal that err is, with its code as status.
func (s *Server) answer(w http.ResponseWriter, status int, result any, err error) {
	var body []byte
	if err == nil {
		body, err = json.Marshal(result)
	}
	if err != nil {
		refusal := mq9.AsError(err)
		if refusal.Code == mq9.CodeBug {
			s.log.Error("an admin request failed", "error", err)
		}
		status, body = refusal.Code, refusal.Encode()
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		s.log.Debug("answering an admin request", "error", err)
	}
}

// say answers in plain text.
func (s *Server) say(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := fmt.Fprintln(w, text); err != nil {
		s.log.Debug("answering a health check", "error", err)
	}
}

// Sizes of pages.
const (
	defaultPage = 100
	largestPage = 1000
)

// readPage reads limit and after of a request.
func readPage(r *http.Request) (Page, error) {
	q := r.URL.Query()
	page := Page{After: q.Get("after"), Limit: defaultPage}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > largestPage {
			return page, mq9.Errorf(mq9.CodeBadRequest, "limit must be a number from 1 to %d", largestPage)
		}
		page.Limit = n
	}
	return page, nil
}
