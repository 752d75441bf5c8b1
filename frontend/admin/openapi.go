package admin

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var openAPI []byte

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, err := w.Write(openAPI); err != nil {
		s.log.Debug("answering an admin request", "error", err)
	}
}
