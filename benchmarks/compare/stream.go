package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// How JetStream is configured. %s is the directory of its files.
const (
	streams       = "jetstream { store_dir: %q, max_mem: 8G, max_file: 64G }\n"
	syncedStreams = "jetstream { store_dir: %q, max_mem: 8G, max_file: 64G, sync_interval: always }\n"
)

// streamName is the stream of a side, and subjectName what it listens to.
const streamName = "compare"

// pendingAcks is how many asynchronous publishes may be unacknowledged; prefetch is how many messages a consumer asks for at once. Seen with 256 to 4,000 and
// 500 to 10,000: these are at least as fast as the defaults, and much more is slower.
const (
	pendingAcks = 1000
	prefetch    = 2000
)

// apiWait bounds a request to JetStream.
const apiWait = 30 * time.Second

// onStream is a side that does its work with a stream. change may be nil.
func onStream(t task, work workload, server string, config jetstream.StreamConfig, change func(*load.Job)) side {
	return side{
		name: "JetStream", start: startNATS(server),
		prepare: func(ctx context.Context, _ *lab, p *process) error { return makeStream(ctx, p, config) },
		work: func(ctx context.Context, l *lab, p *process) (sample, error) {
			return p.measure(ctx, work, streamJob(t, l, p, change))
		},
	}
}

func streamJob(t task, l *lab, p *process, change func(*load.Job)) load.Job {
	job := t.job(l, p)
	job.Check = checkAck
	if change != nil {
		change(&job)
	}
	return job
}

func makeStream(ctx context.Context, p *process, config jetstream.StreamConfig) error {
	nc, err := p.dial()
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	config.Name, config.Subjects = streamName, []string{plainSubject}
	if _, err = js.CreateStream(ctx, config); err != nil || config.Retention != jetstream.WorkQueuePolicy {
		return err
	}
	_, err = js.CreateConsumer(ctx, streamName, jetstream.ConsumerConfig{
		Durable: streamName, AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1,
	})
	return err
}

// fromStream is a side that replays what a stream stores.
func fromStream(t task, from cache, config jetstream.StreamConfig) side {
	s := onStream(t, from.replay, streams, config, ordered)
	s.prepare = func(ctx context.Context, l *lab, p *process) error {
		if err := makeStream(ctx, p, config); err != nil {
			return err
		}
		return from.fill(ctx, p, streamJob(t, l, p, nil))
	}
	return s
}

// checkAck reads what JetStream answers to a publish or an API request.
func checkAck(reply []byte) error {
	var ack struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(reply, &ack); err != nil {
		return err
	}
	if ack.Error != nil {
		return ack.Error
	}
	return nil
}

// ordered receives with an ordered consumer.
func ordered(job *load.Job) {
	job.Subscribe = func(nc *nats.Conn, take load.Take) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), apiWait)
		defer cancel()
		c, err := js.OrderedConsumer(ctx, streamName, jetstream.OrderedConsumerConfig{})
		if err != nil {
			return err
		}
		_, err = c.Consume(func(m jetstream.Msg) { take(m.Data(), nil) }, jetstream.PullMaxMessages(prefetch))
		return err // the consumer ends with the connection
	}
}

// asynchronous publishes without waiting for each acknowledgement, and receives with an ordered consumer.
func asynchronous(job *load.Job) {
	ordered(job)
	publishAsync(job)
}

func publishAsync(job *load.Job) {
	subject := job.Subject
	job.Publish = func(nc *nats.Conn) (func([]byte) error, error) {
		js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(pendingAcks))
		if err != nil {
			return nil, err
		}
		return func(payload []byte) error {
			_, err := js.PublishAsync(subject, payload, jetstream.WithStallWait(apiWait)) // the default gives up after 200 ms
			return err
		}, nil
	}
}

// working is a work queue: each worker acknowledges what it has been given, which removes it.
func working(job *load.Job) {
	publishAsync(job)
	job.Subscribe = func(nc *nats.Conn, take load.Take) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), apiWait)
		defer cancel()
		c, err := js.Consumer(ctx, streamName, streamName)
		if err != nil {
			return err
		}
		_, err = c.Consume(func(m jetstream.Msg) { take(m.Data(), m.Ack) })
		return err
	}
}

// creatingStreams is a side that creates streams on disk.
func creatingStreams(t task) side {
	return side{
		name: "JetStream", start: startNATS(streams),
		work: func(ctx context.Context, l *lab, p *process) (sample, error) {
			job := t.job(l, p)
			job.Check = checkAck
			job.Each = func(i int) (string, []byte) {
				name := "S" + strconv.Itoa(i)
				return "$JS.API.STREAM.CREATE." + name, fmt.Appendf(nil, `{"name":%q,"subjects":["%s.x"],"storage":"file"}`, name, name)
			}
			return p.measure(ctx, load.Send, job)
		},
	}
}
