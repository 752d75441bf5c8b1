package load

import (
	"context"
	"errors"
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
	latency := NewLatency() // owned by the subscription's goroutine until all have come
	r.restart()
	begun := r.begun
	err = r.subscribe(nc, "", false, func([]byte, func() error) {
		Record(latency, r.now()-begun)
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
	return deliver(ctx, job, "", false)
}

// Fanout publishes on one connection what Job.Workers others are subscribed to. The Result counts deliveries.
func Fanout(ctx context.Context, job Job) (Result, error) { return deliver(ctx, job, "", false) }

// Workers publishes on one connection for a queue group of Job.Workers members on connections of their own. Each replies to
// what it is handed, which deletes a message of mq9 and acknowledges one of JetStream.
func Workers(ctx context.Context, job Job) (Result, error) {
	return deliver(ctx, job, group, true)
}

// deliver publishes to a number of subscribers and measures what reaches them.
func deliver(ctx context.Context, job Job, queue string, reply bool) (Result, error) {
	if job.Workers < 1 {
		return Result{}, errors.New("at least one worker is needed")
	}
	r, err := start(ctx, job, true)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	if queue == "" {
		r.heads = job.Workers
	}
	latencies := make([]*Latency, job.Workers) // each owned by the goroutine of its subscription until all have come
	for i := range latencies {
		latency := NewLatency()
		latencies[i] = latency
		nc, err := r.open()
		if err != nil {
			return Result{}, err
		}
		err = r.subscribe(nc, queue, reply, func(payload []byte, finish func() error) {
			Record(latency, r.age(payload))
			if finish != nil {
				if err := finish(); err != nil {
					r.fail(err)
				}
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
	if err := r.await(r.Messages * r.heads); err != nil {
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
