package main

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/benchmarks/load"
	"github.com/mq9-broker/broker/mq9"
)

// plainSubject is as long as the subject of a private mailbox, in as many tokens.
var plainSubject = "plain.it.is.too." + strings.Repeat("x", len(mq9.SendSubject(mq9.NewMailID(), mq9.Normal))-len("plain.it.is.too."))

// What core NATS carries to be as heavy as a delivery of mq9: a reply subject as long as the one that deletes, and
// headers as long as the broker's own.
var (
	heavyReply  = strings.Repeat("x", len(mq9.DeleteSubject(mq9.NewMailID(), mq9.NewMsgID(1, mq9.Normal))))
	heavyHeader = nats.Header{
		"Mq9-Msg-Id":    {mq9.NewMsgID(1, mq9.Normal).String()},
		"Mq9-Timestamp": {"2006-01-02T15:04:05.999999999Z"},
	}
)

// onNATS is a side that does its work with plain NATS on a nats-server. change may be nil.
func onNATS(t task, work workload, change func(*load.Job)) side {
	return plainOn("core NATS", startNATS(""), t, work, change)
}

// throughMQ9 is a side that does its work with plain NATS on the broker.
func throughMQ9(t task, work workload) side { return plainOn("mq9", startMQ9(), t, work, nil) }

func plainOn(name string, start starter, t task, work workload, change func(*load.Job)) side {
	return side{
		name: name, start: start,
		work: func(ctx context.Context, l *lab, p *process) (sample, error) {
			job := t.job(l, p)
			if change != nil {
				change(&job)
			}
			return p.measure(ctx, work, job)
		},
	}
}

// withReply and withHeaders make plain messages as heavy as deliveries in the formats bare and headers.
func withReply(j *load.Job) { j.Reply = heavyReply }

func withHeaders(j *load.Job) { j.Reply, j.Header = heavyReply, heavyHeader }

// thenPaced adds to a side's samples, which have its throughput, the latency of the same work at a pace that does not fill any queue.
func thenPaced(s, paced side) side {
	first := s.work
	s.work = func(ctx context.Context, l *lab, p *process) (sample, error) {
		seen, err := first(ctx, l, p)
		if err != nil {
			return sample{}, err
		}
		later, err := paced.work(ctx, l, p)
		seen.latency = later.latency
		return seen, err
	}
	return s
}
