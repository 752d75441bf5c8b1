package main

import (
	"context"
	"time"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// row is one line of work, done by each of its sides.
type row struct {
	name  string // for -rows, and of the charts
	work  string // what is done
	peer  string // what it is compared with
	sides []side // the first is ours
	goals []goal // at least one
}

// side is one way to do a row's work.
type side struct {
	name string
	// start runs the server; nil if there is none.
	start starter
	// prepare does what comes before the measurement; nil if nothing does.
	prepare func(context.Context, *lab, *process) error
	// work takes a sample.
	work func(context.Context, *lab, *process) (sample, error)
	// lasting keeps one prepared process for all samples, where preparing takes long.
	lasting bool
}

// sample is what was seen once.
type sample struct {
	messages int
	elapsed  time.Duration
	cpu      time.Duration // that the server took; 0 without one
	latency  *load.Latency // nil where single messages have none
}

// task is the size of a side's work.
type task struct {
	full, quick int // messages
	size        int // bytes of a payload
	inFlight    int
	workers     int // subscribers
	rate        int // messages a second; 0 = as many as can be
}

// job is the task for the load generator.
func (t task) job(l *lab, p *process) load.Job {
	return load.Job{
		Dial: p.dial, Subject: plainSubject, Pattern: plainSubject, Messages: l.count(t.full, t.quick), Size: t.size,
		InFlight: max(t.inFlight, 1), Workers: max(t.workers, 1), Rate: t.rate,
	}
}

// workload is a function of the load generator.
type workload func(context.Context, load.Job) (load.Result, error)

// measure runs a workload and takes the time of the server's processors between its beginning and its end.
func (p *process) measure(ctx context.Context, work workload, job load.Job) (sample, error) {
	var begun, ended time.Duration
	var errs [2]error
	job.Began = func() { begun, errs[0] = p.cpu() }
	job.Ended = func() { ended, errs[1] = p.cpu() }
	r, err := work(ctx, job)
	for _, e := range append(errs[:], err) {
		if e != nil {
			return sample{}, e
		}
	}
	return sample{r.Messages, r.Elapsed, ended - begun, r.Latency}, nil
}

// starter runs a server for a side.
type starter func(context.Context, *lab) (*process, error)
