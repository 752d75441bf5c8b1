package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// flushWait bounds a flush: the broker answers it when everything before it is stored.
const flushWait = time.Minute

// run is one execution of a workload: it counts what is done, shows it, and ends what has come to a standstill.
type run struct {
	Job
	ctx   context.Context         // ends when the run has failed, with the reason as its cause
	fail  context.CancelCauseFunc // the first reason stays
	epoch time.Time               // where now counts from; immutable
	begun int64                   // when the measurement began; owned by the workload's goroutine
	heads int                     // how often each message is to come back; owned by the workload's goroutine
	done  atomic.Int64            // messages that have come back
	moved chan struct{}           // holds a token when done has grown since the last look

	conns   []*nats.Conn   // owned by the workload's goroutine
	watcher sync.WaitGroup // the goroutine of watch
}

// start checks the job and begins to watch over it. The caller ends the run.
func start(ctx context.Context, job Job, stamped bool) (*run, error) {
	if err := job.check(stamped); err != nil {
		return nil, err
	}
	r := &run{Job: job, epoch: time.Now(), heads: 1, moved: make(chan struct{}, 1)}
	r.ctx, r.fail = context.WithCancelCause(ctx)
	r.watcher.Go(r.watch)
	return r, nil
}

// end closes the connections and stops the watching.
func (r *run) end() {
	r.fail(context.Canceled)
	r.watcher.Wait()
	for _, nc := range r.conns {
		nc.Close()
	}
}

// watch shows progress and notices a standstill.
func (r *run) watch() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last, since := int64(-1), time.Now()
	for {
		select {
		case <-r.ctx.Done():
			return
		case now := <-tick.C:
			done := r.done.Load()
			if done != last {
				last, since = done, now
			} else if now.Sub(since) > Standstill {
				r.fail(errStandstill)
			}
			if r.Progress != nil {
				r.Progress(int(done))
			}
		}
	}
}

// open connects once more. Whatever happens to the connection afterwards ends the run: a measurement over a reconnect is none.
func (r *run) open() (*nats.Conn, error) {
	nc, err := r.Dial()
	if err != nil {
		return nil, err
	}
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.fail(err) })
	nc.SetDisconnectErrHandler(func(_ *nats.Conn, err error) {
		if err != nil {
			r.fail(fmt.Errorf("the connection was lost: %w", err))
		}
	})
	r.conns = append(r.conns, nc)
	return nc, nil
}

// subscribe receives all that Pattern matches, and replies to it if asked to. The limits of the client library's own queue
// are lifted, since it would drop what lies beyond them.
func (r *run) subscribe(nc *nats.Conn, queue string, reply bool, take Take) error {
	if r.Subscribe != nil {
		return r.Subscribe(nc, take)
	}
	sub, err := nc.QueueSubscribe(r.Pattern, queue, func(m *nats.Msg) {
		if !reply || m.Reply == "" { // plain NATS expects nothing
			take(m.Data, nil)
			return
		}
		take(m.Data, func() error { return m.Respond(nil) })
	})
	if err != nil {
		return err
	}
	return sub.SetPendingLimits(-1, -1)
}

// did notes that one more message has come back. It may be called from any goroutine.
func (r *run) did() {
	r.done.Add(1)
	select {
	case r.moved <- struct{}{}:
	default:
	}
}

// await returns when n messages have come back, or with the reason why they will not. One goroutine of a run calls it.
func (r *run) await(n int) error {
	for r.done.Load() < int64(n) {
		select {
		case <-r.moved:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
	return nil
}

// pour publishes all messages with the time of their sending in them, as InFlight and Rate allow.
func (r *run) pour(nc *nats.Conn) error {
	send, err := r.sender(nc)
	if err != nil {
		return err
	}
	payload := r.payload()
	r.restart()
	for i := range r.Messages {
		if err := r.await((i - r.InFlight + 1) * r.heads); err != nil {
			return err
		}
		if r.Rate > 0 {
			if err := r.pause(r.due(i) - time.Duration(r.now()-r.begun)); err != nil {
				return err
			}
		}
		binary.LittleEndian.PutUint64(payload, uint64(r.now())) // sending copies it
		if err := send(payload); err != nil {
			return err
		}
	}
	return nil
}

// sender is how a message is published.
func (r *run) sender(nc *nats.Conn) (func(payload []byte) error, error) {
	switch {
	case r.Publish != nil:
		return r.Publish(nc)
	case r.Reply == "" && r.Header == nil:
		return func(payload []byte) error { return nc.Publish(r.Subject, payload) }, nil
	default:
		m := &nats.Msg{Subject: r.Subject, Reply: r.Reply, Header: r.Header}
		return func(payload []byte) error {
			m.Data = payload
			return nc.PublishMsg(m)
		}, nil
	}
}

// pause waits for a while. Timers are too coarse for much less than a millisecond: what is due sooner goes at once, and
// the pace is kept by those that follow.
func (r *run) pause(d time.Duration) error {
	const finest = time.Millisecond / 2
	if d < finest {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// age is how long ago a message was sent by pour. The payload must be one of pour's.
func (r *run) age(payload []byte) int64 {
	return r.now() - int64(binary.LittleEndian.Uint64(payload))
}

// restart begins the measurement, after the preparations.
func (r *run) restart() {
	if r.Began != nil {
		r.Began()
	}
	r.begun = r.now()
}

// now is the time since the run was started, in nanoseconds. It may be called from any goroutine.
func (r *run) now() int64 { return int64(time.Since(r.epoch)) }

// result sums the run up; it is called when the last message has come back.
func (r *run) result(latency *Latency) Result {
	elapsed := time.Duration(r.now() - r.begun)
	if r.Ended != nil {
		r.Ended()
	}
	if r.Progress != nil {
		r.fail(context.Canceled)
		r.watcher.Wait() // Progress is told from one goroutine
		r.Progress(r.Messages * r.heads)
	}
	return Result{Messages: r.Messages * r.heads, Size: r.Size, Elapsed: elapsed, Latency: latency}
}
