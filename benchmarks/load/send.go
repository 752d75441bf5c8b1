package load

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// Send sends requests with up to Job.InFlight of them unanswered, and measures each from its sending to its reply.
func Send(ctx context.Context, job Job) (Result, error) {
	r, err := start(ctx, job, false)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	nc, err := r.open()
	if err != nil {
		return Result{}, err
	}
	latency := NewLatency() // owned by the inbox's goroutine until all replies are in
	p, err := newPipeline(r, nc, latency)
	if err != nil {
		return Result{}, err
	}
	subject, payload := r.Subject, r.payload()
	r.restart()
	for i := range r.Messages {
		slot, err := p.next()
		if err != nil {
			return Result{}, err
		}
		if r.Each != nil {
			subject, payload = r.Each(i)
		}
		p.sent[slot].Store(r.now())
		if err := nc.PublishRequest(subject, p.replies[slot], payload); err != nil {
			return Result{}, err
		}
	}
	if err := r.await(r.Messages); err != nil {
		return Result{}, err
	}
	return r.result(latency), nil
}

// pipeline is one inbox with a reply subject for each request that may be in flight: whichever is answered first is used again first.
type pipeline struct {
	run     *run
	prefix  int            // length of the inbox's name and the dot behind it
	free    chan int       // slots whose request is answered
	replies []string       // of each slot: the reply subject
	sent    []atomic.Int64 // of each slot: when its request was sent, as run.now says
}

func newPipeline(r *run, nc *nats.Conn, latency *Latency) (*pipeline, error) {
	inbox := nc.NewInbox() + "."
	p := &pipeline{
		run: r, prefix: len(inbox), free: make(chan int, r.InFlight),
		replies: make([]string, r.InFlight), sent: make([]atomic.Int64, r.InFlight),
	}
	for slot := range r.InFlight {
		p.replies[slot] = inbox + strconv.Itoa(slot)
		p.free <- slot
	}
	sub, err := nc.Subscribe(inbox+"*", func(m *nats.Msg) { p.answered(m, latency) })
	if err != nil {
		return nil, err
	}
	return p, sub.SetPendingLimits(-1, -1)
}

// answered takes a reply. It runs in the goroutine of the subscription.
func (p *pipeline) answered(m *nats.Msg, latency *Latency) {
	slot, err := strconv.Atoi(m.Subject[p.prefix:])
	if err != nil || slot >= len(p.sent) {
		p.run.fail(fmt.Errorf("a reply to a request that was not sent: %q", m.Subject))
		return
	}
	Record(latency, p.run.now()-p.sent[slot].Load())
	if m.Header.Get("Status") == "503" {
		p.run.fail(nats.ErrNoResponders)
		return
	}
	if p.run.Check != nil {
		if err := p.run.Check(m.Data); err != nil {
			p.run.fail(err)
			return
		}
	}
	p.free <- slot
	p.run.did()
}

// next waits for a slot.
func (p *pipeline) next() (int, error) {
	select {
	case slot := <-p.free:
		return slot, nil
	case <-p.run.ctx.Done():
		return 0, context.Cause(p.run.ctx)
	}
}
