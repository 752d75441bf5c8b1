package load

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
)

// group is the name of the queue group that Workers makes.
const group = "load"

// Replay subscribes to Job.Pattern, where Job.Messages must be stored already, and measures for each how long after the SUB it arrived.
func Replay(ctx context.Context, job Job) (Result, error) {
	r, err := start(ctx, job, false)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	nc, err := r.open()
	if err != nil {
		return Result{}, err
	}
	latency := newLatency() // owned by the subscription's goroutine until all have come
	r.restart()
	begun := r.begun
	err = r.subscribe(nc, "", func(*nats.Msg) {
		record(latency, r.now()-begun)
		r.did()
	})
	if err != nil {
		return Result{}, err
	}
	if err := r.await(r.Messages); err != nil {
		return Result{}, err
	}
	return r.result(latency), nil
}

// Live publishes on one connection what another is subscribed to, and measures each message from one to the other.
func Live(ctx context.Context, job Job) (Result, error) {
	job.Workers = 1
	return deliver(ctx, job, "", func(*nats.Msg) error { return nil })
}

// Workers publishes on one connection for a queue group of Job.Workers members on connections of their own. Each replies to
// what it is handed, which deletes a message of mq9 and acknowledges one of JetStream.
func Workers(ctx context.Context, job Job) (Result, error) {
	return deliver(ctx, job, group, func(m *nats.Msg) error {
		if m.Reply == "" {
			return nil // plain NATS expects nothing
		}
		return m.Respond(nil)
	})
}

// deliver publishes to a number of subscribers and measures what reaches them.
func deliver(ctx context.Context, job Job, queue string, finish func(*nats.Msg) error) (Result, error) {
	if job.Workers < 1 {
		return Result{}, errors.New("at least one worker is needed")
	}
	r, err := start(ctx, job, true)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	latencies := make([]*Latency, job.Workers) // each owned by the goroutine of its subscription until all have come
	for i := range latencies {
		latency := newLatency()
		latencies[i] = latency
		nc, err := r.open()
		if err != nil {
			return Result{}, err
		}
		err = r.subscribe(nc, queue, func(m *nats.Msg) {
			record(latency, r.age(m.Data))
			if err := finish(m); err != nil {
				r.fail(err)
			}
			r.did()
		})
		if err != nil {
			return Result{}, err
		}
		if err := nc.FlushTimeout(flushWait); err != nil { // it is served from now on
			return Result{}, err
		}
	}
	publisher, err := r.open()
	if err != nil {
		return Result{}, err
	}
	if err := r.pour(publisher); err != nil {
		return Result{}, err
	}
	if err := r.await(r.Messages); err != nil {
		return Result{}, err
	}
	for _, nc := range r.conns { // what they replied is part of the work
		if err := nc.FlushTimeout(flushWait); err != nil {
			return Result{}, err
		}
	}
	for _, latency := range latencies[1:] {
		latencies[0].Merge(latency)
	}
	return r.result(latencies[0]), nil
}
