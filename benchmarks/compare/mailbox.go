package main

import (
	"context"
	"time"

	"github.com/mq9-broker/broker/benchmarks/load"
	"github.com/mq9-broker/broker/mq9"
)

// boxLife is the life of a mailbox: longer than any run.
const boxLife = time.Hour

// onMailbox is a side that does its work with a private mailbox, at one priority.
func onMailbox(t task, work workload, priority mq9.Priority, flags ...string) side {
	return side{
		name: "mq9", start: startMQ9(flags...), prepare: makeMailbox,
		work: func(ctx context.Context, l *lab, p *process) (sample, error) {
			return p.measure(ctx, work, boxJob(t, l, p, priority))
		},
	}
}

// boxJob is a task for the process's mailbox.
func boxJob(t task, l *lab, p *process, priority mq9.Priority) load.Job {
	job := t.job(l, p)
	job.Subject, job.Pattern, job.Check = p.box.Subject(priority), p.box.Pattern(), load.Check
	return job
}

func makeMailbox(_ context.Context, _ *lab, p *process) error {
	nc, err := p.dial()
	if err != nil {
		return err
	}
	defer nc.Close()
	p.box, err = load.NewMailbox(nc, boxLife)
	return err
}

// fromMailbox is a side that replays what a mailbox stores.
func fromMailbox(t task, from cache, priority mq9.Priority, flags ...string) side {
	s := onMailbox(t, from.replay, priority, flags...)
	s.prepare = func(ctx context.Context, l *lab, p *process) error {
		if err := makeMailbox(ctx, l, p); err != nil {
			return err
		}
		return from.fill(ctx, p, boxJob(t, l, p, priority))
	}
	return s
}

// cache is what of the stored messages is in memory when a replay begins.
type cache int

const (
	asStored cache = iota // whatever is there when they have just been stored
	cold                  // nothing: the server is new and the system has forgotten its files
	warm                  // they have been replayed before
)

// fillers is how many messages are on their way to be stored at a time.
const fillers = 1000

// fill stores what will be replayed.
func (c cache) fill(ctx context.Context, p *process, job load.Job) error {
	job.InFlight, job.Subscribe = fillers, nil
	if _, err := load.Send(ctx, job); err != nil {
		return err
	}
	if c == cold {
		return p.restart(ctx)
	}
	return nil
}

// replay is load.Replay in that state.
func (c cache) replay(ctx context.Context, job load.Job) (load.Result, error) {
	if c == warm {
		first := job
		first.Began, first.Ended = nil, nil
		if _, err := load.Replay(ctx, first); err != nil {
			return load.Result{}, err
		}
	}
	return load.Replay(ctx, job)
}

// creating is a side that creates private, durable mailboxes.
func creating(t task) side {
	return side{
		name: "mq9", start: startMQ9(),
		work: func(ctx context.Context, l *lab, p *process) (sample, error) {
			return p.measure(ctx, load.Send, createJob(t, l, p))
		},
	}
}

func createJob(t task, l *lab, p *process) load.Job {
	job := t.job(l, p)
	body := mq9.CreateRequest{TTL: int64(boxLife / time.Second)}.Encode()
	job.Each = func(int) (string, []byte) { return mq9.SubjectCreate, body }
	job.Check = func(reply []byte) error { return mq9.ReadReply(reply, &mq9.CreateReply{}) }
	return job
}
