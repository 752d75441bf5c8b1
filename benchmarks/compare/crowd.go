package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mq9-broker/broker/benchmarks/load"
	"github.com/mq9-broker/broker/mq9"
)

// How many there are in a crowd.
var (
	many     = task{full: 10_000, quick: 1_000, inFlight: 1_000}
	million  = task{full: 1_000_000, quick: 50_000, inFlight: 1_000}
	idlers   = task{full: 5_000, quick: 500}
	watching = task{full: 8, quick: 2} // seconds
)

// crowdRow compares what a message costs in brokers with few and many mailboxes alive. The brokers run side by side: what the idle ones
// take is little, and the pairs alternate all the same.
func crowdRow() row {
	few := amid(task{full: 1, quick: 1, inFlight: 1})
	few.name = "1 mailbox"
	some, most := amid(many), amid(million)
	some.name, most.name = "many mailboxes", "most mailboxes"
	return row{
		"crowd", "live, 1 → 1, 128 B, normal, with 10⁶ mailboxes alive (quick: 50,000)", "itself with 1 and with 10⁴ (quick: 1,000)",
		[]side{most, few, some},
		[]goal{atMost(cpuTime, 1.3), atMost(timeEach, 1.3), {cpuTime, 2, 1, false, 1.3}},
	}
}

// amid is a side that does its work with one mailbox while so many others are alive.
func amid(others task) side {
	work := live.of(300_000, 30_000)
	return side{
		start: startMQ9(), lasting: true,
		prepare: func(ctx context.Context, l *lab, p *process) error { return createAll(ctx, l, p, others) },
		work: func(ctx context.Context, l *lab, p *process) (sample, error) {
			if err := makeMailbox(ctx, l, p); err != nil { // a new one, which stores nothing yet
				return sample{}, err
			}
			s, err := p.measure(ctx, load.Live, boxJob(work, l, p, mq9.Normal))
			if err != nil {
				return sample{}, err
			}
			nc, err := p.dial()
			if err != nil {
				return sample{}, err
			}
			defer nc.Close()
			return s, p.box.Clear(nc)
		},
	}
}

func createAll(ctx context.Context, l *lab, p *process, t task) error {
	_, err := load.Send(ctx, createJob(t, l, p))
	return err
}

// idleRow measures what a broker takes that has nothing to do.
func idleRow() row {
	return row{
		"idle", "10⁶ idle mailboxes and 5,000 idle connections (quick: 50,000 and 500)", "nothing",
		[]side{{
			name: "mq9", start: startMQ9(), prepare: crowd, lasting: true,
			work: func(ctx context.Context, l *lab, p *process) (sample, error) {
				return p.watch(ctx, time.Duration(l.count(watching.full, watching.quick))*time.Second)
			},
		}},
		[]goal{{usage, 0, alone, false, 0.02}},
	}
}

// crowd makes the mailboxes and the connections.
func crowd(ctx context.Context, l *lab, p *process) error {
	if err := createAll(ctx, l, p, million); err != nil {
		return err
	}
	for i := range l.count(idlers.full, idlers.quick) {
		nc, err := p.dial()
		if err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
		p.idle = append(p.idle, nc)
	}
	_, err := p.watch(ctx, settle)
	return err
}

// settle is how long a broker is left alone before it counts as idle: until its garbage is collected and its tables are written.
const settle = 5 * time.Second

// watch takes the server's CPU time over a while in which nobody asks anything of it.
func (p *process) watch(ctx context.Context, d time.Duration) (sample, error) {
	begun, err := p.cpu()
	if err != nil {
		return sample{}, err
	}
	since, timer := time.Now(), time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return sample{}, context.Cause(ctx)
	}
	ended, err := p.cpu()
	return sample{elapsed: time.Since(since), cpu: ended - begun}, err
}
