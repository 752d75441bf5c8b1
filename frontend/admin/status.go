package admin

import (
	"encoding/json"
	"net/http"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// Status is what the broker does now.
func (s *Server) Status() Status {
	now := time.Now()
	status := Status{
		Version: s.options.Version, Now: now.UTC(), StartedAt: s.started.UTC(), Uptime: now.Sub(s.started).Seconds(),
		Process: process(),
	}
	err := s.options.Broker.Ready()
	if status.Ready = err == nil; err != nil {
		status.Reason = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	s.options.Broker.Activity(&status)
	status.Limits = s.options.Broker.Limits()
	if s.options.Store != nil {
		status.Store = s.options.Store.State()
	}
	s.instruments.fill(&status)
	return status
}

// process asks the runtime and the system what the process takes.
func process() Process {
	samples := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	p := Process{Goroutines: int(samples[0].Value.Uint64()), Heap: samples[1].Value.Uint64()}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		p.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseUint(fields[1], 10, 64) // the kernel writes numbers
			p.Resident = pages * uint64(os.Getpagesize())
		}
	}
	return p
}

// eventEvery is the time between two statuses on the events stream.
const eventEvery = time.Second

// events sends a status at once and then each second, as Server-Sent Events, until the client goes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		s.answer(w, 0, nil, mq9.Errorf(mq9.CodeUnavailable, "%d clients follow events already: close one, or ask for %s now and then", mostStreams, StatusPath))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	out := http.NewResponseController(w)
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for {
		body, err := json.Marshal(s.Status())
		if err != nil {
			s.log.Error("rendering a status", "error", err)
			return
		}
		_ = out.SetWriteDeadline(time.Now().Add(10 * eventEvery)) // a server without deadlines has no slow clients
		if _, err := w.Write([]byte("event: status\ndata: " + string(body) + "\n\n")); err != nil {
			return // it is gone
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.stopping:
			return
		}
	}
}
