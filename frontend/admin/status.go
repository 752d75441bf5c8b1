package admin

import (
	"net/http"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	release, refusal := s.takeStream()
	if refusal != nil {
		s.answer(w, 0, nil, refusal)
		return
	}
	defer release()
	out := newStream(w)
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for out.send("status", s.Status()) == nil {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.stopping:
			return
		}
	}
}
