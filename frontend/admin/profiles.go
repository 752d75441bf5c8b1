package admin

import (
	"net/http"
	"net/http/pprof"

	"github.com/mq9-broker/broker/mq9"
)

// mountProfiles serves Go's profiles, if they are wanted, to programs on this machine: they tell what the broker's memory holds.
func (s *Server) mountProfiles() {
	if !s.options.Pprof {
		return
	}
	local := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !fromLoopback(r) {
				s.answer(w, 0, nil, mq9.Errorf(mq9.CodeForbidden, "profiles are taken from the broker's own machine only"))
				return
			}
			h(w, r)
		}
	}
	for path, h := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		s.mux.HandleFunc("GET /debug/pprof/"+path, local(h))
	}
}
