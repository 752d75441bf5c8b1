package main

import (
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mq9-broker/broker/benchmarks/load"
	"github.com/mq9-broker/broker/mq9"
)

// The sizes of the work. Where a peer is much slower than we are it gets less of it, so that no side's sample takes long.
var (
	live    = task{full: 600_000, quick: 60_000, size: 128, inFlight: 32_000}
	acked   = task{full: 300_000, quick: 20_000, size: 256, inFlight: 500}
	single  = task{full: 3_000, quick: 300, size: 256, inFlight: 1}
	flushed = task{full: 300_000, quick: 20_000, size: 256}
	stored  = task{full: 300_000, quick: 30_000, size: 256}
	fan     = task{full: 15_000, quick: 1_000, size: 128, inFlight: 1_000, workers: 100}
	queued  = task{full: 200_000, quick: 20_000, size: 128, inFlight: 4_000, workers: 8}
	paced   = task{full: 15_000, quick: 2_500, size: 128, inFlight: 32_000, rate: 5_000}
)

// of is the task with other numbers of messages.
func (t task) of(full, quick int) task {
	t.full, t.quick = full, quick
	return t
}

var (
	inMemory = jetstream.StreamConfig{Storage: jetstream.MemoryStorage}
	inFiles  = jetstream.StreamConfig{Storage: jetstream.FileStorage}
	asQueue  = jetstream.StreamConfig{Storage: jetstream.MemoryStorage, Retention: jetstream.WorkQueuePolicy}
)

// bare is the broker's delivery format that puts the id into the reply subject alone, as JetStream does.
const bare = "--delivery=bare"

// allRows is what is compared, with the goals of the project.
func allRows() []row {
	return []row{
		{
			"live-bare", "live, 1 → 1, 128 B, normal, delivery `bare`", "core NATS with the same reply subject",
			[]side{onMailbox(live, load.Live, mq9.Normal, bare), onNATS(live, load.Live, withReply)},
			[]goal{atLeast(throughput, 0.8)},
		},
		{
			"live-headers", "live, 1 → 1, 128 B, normal, delivery `headers`", "core NATS with the same reply subject and two headers",
			[]side{onMailbox(live, load.Live, mq9.Normal), onNATS(live, load.Live, withHeaders)},
			[]goal{atLeast(throughput, 0.8)},
		},
		{
			"live-stream", "live, 1 → 1, 128 B, normal, delivery `headers`", "JetStream memory, asynchronous publish, ordered consumer",
			[]side{onMailbox(live, load.Live, mq9.Normal), onStream(live.of(200_000, 20_000), load.Live, streams, inMemory, asynchronous)},
			[]goal{atLeast(throughput, 4)},
		},
		{
			"durable-synced", "critical, acknowledged after sync, 500 in flight, 256 B", "JetStream file, sync_interval: always",
			[]side{onMailbox(acked, load.Send, mq9.Critical), onStream(acked.of(12_000, 1_500), load.Send, syncedStreams, inFiles, nil)},
			[]goal{atLeast(throughput, 30)},
		},
		{
			"durable-default", "critical, acknowledged after sync, 500 in flight, 256 B", "JetStream file, default (not synced)",
			[]side{onMailbox(acked, load.Send, mq9.Critical), onStream(acked, load.Send, streams, inFiles, nil)},
			[]goal{atLeast(throughput, 1)},
		},
		{
			"durable-single", "critical, one at a time, 256 B", "JetStream file, sync_interval: always; bare fdatasync",
			[]side{onMailbox(single, load.Send, mq9.Critical), onStream(single, load.Send, syncedStreams, inFiles, nil), onDisk(single)},
			[]goal{atMost(median, 0.8), {median, 0, 2, false, 1.5}},
		},
		{
			"durable-flush", "critical, publish and one flush at the end, 256 B", "Redis Streams, appendfsync always, pipelined",
			[]side{onMailbox(flushed, load.Publish, mq9.Critical), onRedis(flushed)},
			[]goal{atLeast(throughput, 1)},
		},
		{
			"replay-memory", "replay to a new subscriber, 256 B, normal, delivery `bare`", "JetStream memory, ordered consumer",
			[]side{fromMailbox(stored, asStored, mq9.Normal, bare), fromStream(stored, asStored, inMemory)},
			[]goal{atLeast(throughput, 1), atMost(cpuTime, 0.5)},
		},
		{
			"replay-cold", "replay to a new subscriber, 256 B, critical, delivery `bare`, cold cache", "JetStream file, ordered consumer",
			[]side{fromMailbox(stored, cold, mq9.Critical, bare), fromStream(stored, cold, inFiles)},
			[]goal{atLeast(throughput, 1), atMost(cpuTime, 0.7)},
		},
		{
			"replay-warm", "replay to a new subscriber, 256 B, critical, delivery `bare`, warm cache", "JetStream file, ordered consumer",
			[]side{fromMailbox(stored, warm, mq9.Critical, bare), fromStream(stored, warm, inFiles)},
			[]goal{atLeast(throughput, 1), atMost(cpuTime, 0.7)},
		},
		{
			"fan-out", "1 → 100 subscribers, 128 B, normal", "core NATS",
			[]side{onMailbox(fan, load.Fanout, mq9.Normal), onNATS(fan, load.Fanout, nil)},
			[]goal{atLeast(throughput, 0.7)},
		},
		{
			"queue-group", "8 workers that delete each message, 128 B, normal", "JetStream memory, work queue, explicit ack, 8 workers",
			[]side{onMailbox(queued, load.Workers, mq9.Normal), onStream(queued.of(60_000, 6_000), load.Workers, streams, asQueue, working)},
			[]goal{atLeast(throughput, 3)},
		},
		{
			"creating", "creating durable mailboxes, pipelined", "creating JetStream streams (file)",
			[]side{creating(task{full: 40_000, quick: 4_000, inFlight: 500}), creatingStreams(task{full: 1_000, quick: 150, inFlight: 500})},
			[]goal{atLeast(throughput, 20)},
		},
		{
			"latency", "publish → push at 5,000/s, 128 B, normal", "core NATS",
			[]side{onMailbox(paced, load.Live, mq9.Normal), onNATS(paced, load.Live, nil)},
			[]goal{atMost(p99, 1.4)},
		},
		{
			"plain", "plain NATS through the broker, 1 → 1, 128 B; latency at 5,000/s", "nats-server",
			[]side{
				thenPaced(throughMQ9(live, load.Live), throughMQ9(paced, load.Live)),
				thenPaced(onNATS(live, load.Live, nil), onNATS(paced, load.Live, nil)),
			},
			[]goal{atLeast(throughput, 0.85), atMost(p99, 1.3)},
		},
		crowdRow(),
		idleRow(),
	}
}
