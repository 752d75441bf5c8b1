package admin

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/mq9-broker/broker/mq9"
)

// snapshot has a snapshot made.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	var ask Snapshot
	if refusal := readBody(w, r, &ask); refusal != nil {
		s.answer(w, 0, nil, refusal)
		return
	}
	err := s.options.Store.Snapshot(ask.Dir)
	if err != nil {
		s.log.Error("no snapshot was made", "dir", ask.Dir, "error", err)
	} else {
		s.log.Info("snapshot made", "dir", ask.Dir)
	}
	s.answer(w, http.StatusCreated, ask, err)
}

func (s *Server) limits(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, http.StatusOK, LimitSet{s.options.Broker.Limits()}, nil)
}

// setLimits puts the limits that are named in force; the others stay.
func (s *Server) setLimits(w http.ResponseWriter, r *http.Request) {
	var ask map[string]int64
	if refusal := readBody(w, r, &ask); refusal != nil {
		s.answer(w, 0, nil, refusal)
		return
	}
	known := s.options.Broker.Limits()
	for name, value := range ask {
		if _, ok := known[name]; !ok {
			s.answer(w, 0, nil, mq9.Errorf(mq9.CodeBadRequest, "there is no limit %q: see GET %s for their names", name, LimitsPath))
			return
		}
		if value < 0 {
			s.answer(w, 0, nil, mq9.Errorf(mq9.CodeBadRequest, "limit %s: %d is negative: give a number, or 0 for no limit", name, value))
			return
		}
	}
	if err := s.options.Broker.SetLimits(ask); err != nil {
		s.answer(w, 0, nil, err)
		return
	}
	s.log.Info("limits changed", "to", fmt.Sprint(ask))
	s.limits(w, r)
}

// levels are those that the log knows, by name.
var levels = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

func (s *Server) logLevel(w http.ResponseWriter, _ *http.Request) {
	if s.options.Level == nil {
		s.answer(w, 0, nil, errNoLevel)
		return
	}
	s.answer(w, http.StatusOK, LogLevel{strings.ToLower(s.options.Level.Level().String())}, nil)
}

var errNoLevel = mq9.Errorf(mq9.CodeNotFound, "the log level of this broker is not known here")

func (s *Server) setLogLevel(w http.ResponseWriter, r *http.Request) {
	var ask LogLevel
	if refusal := readBody(w, r, &ask); refusal != nil {
		s.answer(w, 0, nil, refusal)
		return
	}
	if s.options.Level == nil {
		s.answer(w, 0, nil, errNoLevel)
		return
	}
	i := slices.IndexFunc(levels, func(l slog.Level) bool { return strings.ToLower(l.String()) == ask.Level })
	if i < 0 {
		s.answer(w, 0, nil, mq9.Errorf(mq9.CodeBadRequest, "unknown level %q: use debug, info, warn or error", ask.Level))
		return
	}
	s.options.Level.Set(levels[i])
	s.log.Info("log level changed", "to", ask.Level)
	s.answer(w, http.StatusOK, ask, nil)
}
