package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/nats-io/nats.go"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/benchmarks/load"
	"github.com/mq9-broker/broker/mq9"
)

// benchLife is how long a mailbox of a benchmark lives at most: longer than any run, and soon over when a run was killed.
const benchLife = 15 * time.Minute

// workload is one of the benchmarks.
type workload struct {
	name, short, long string
	latency           string // what is measured of a single message
	run               func(ctx context.Context, b *benchFlags, job load.Job) (load.Result, error)
	flags             func(b *benchFlags, cmd *cobra.Command) // its own, besides those that all have
}

// benchFlags is what `mq9 bench` is told.
type benchFlags struct {
	priority priority
	messages int
	size     int
	inFlight int
	rate     int
	workers  int
	publish  bool
}

func newBench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a broker: sending, replay, live delivery, workers",
		Long: "Measure what a broker does, with a private mailbox that is made for it and emptied afterwards. Figures hold for this machine, this\n" +
			"broker and the load that both have beside it: compare runs that were made one after the other.",
		Example: `  mq9 bench send --priority critical --messages 20000
  mq9 bench live --rate 5000 --json`,
		SuggestFor: []string{"benchmark", "perf", "load", "stress", "measure"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SetUsageFunc(usage)
	for _, w := range workloads {
		cmd.AddCommand(w.command())
	}
	return cmd
}

var workloads = []*workload{
	{
		name: "send", short: "send messages, many in flight", latency: "request to msg_id",
		long: "Send messages as requests and wait for each msg_id, many at a time. With --publish, publish them and flush once at the end: the\n" +
			"broker answers that when all are stored, and single messages have no latency.",
		run: func(ctx context.Context, b *benchFlags, job load.Job) (load.Result, error) {
			if b.publish {
				return load.Publish(ctx, job)
			}
			return load.Send(ctx, job)
		},
		flags: func(b *benchFlags, cmd *cobra.Command) {
			cmd.Flags().BoolVar(&b.publish, "publish", false, "publish and flush instead of sending requests")
		},
	},
	{
		name: "watch", short: "subscribe to what is stored already", latency: "subscription to arrival",
		long: "Store messages, which is not measured, then subscribe and receive them all. The latencies say how long after the subscription\n" +
			"half of them, 90 %, 99 % and 99.9 % of them had arrived.",
		run: func(ctx context.Context, _ *benchFlags, job load.Job) (load.Result, error) {
			fill := job
			fill.Progress = nil
			if _, err := load.Publish(ctx, fill); err != nil {
				return load.Result{}, err
			}
			return load.Replay(ctx, job)
		},
	},
	{
		name: "live", short: "publish while somebody is subscribed", latency: "publish to push",
		long: "Publish messages on one connection and receive them on another. Without --rate the latencies are those of a full pipe: less in\n" +
			"flight shortens them.",
		run: func(ctx context.Context, _ *benchFlags, job load.Job) (load.Result, error) {
			return load.Live(ctx, job)
		},
		flags: rateFlag,
	},
	{
		name: "workers", short: "publish for a queue group that deletes", latency: "publish to hand-over",
		long: "Publish messages for workers in a queue group, each on a connection of its own, that delete what they are handed. The time ends\n" +
			"when everything is deleted.",
		run: func(ctx context.Context, _ *benchFlags, job load.Job) (load.Result, error) {
			return load.Workers(ctx, job)
		},
		flags: func(b *benchFlags, cmd *cobra.Command) {
			cmd.Flags().IntVar(&b.workers, "workers", 8, "members of the queue group")
			rateFlag(b, cmd)
		},
	},
}

func rateFlag(b *benchFlags, cmd *cobra.Command) {
	cmd.Flags().IntVar(&b.rate, "rate", 0, "messages a second; 0 = as fast as it goes")
}

// command makes the command of a workload.
func (w *workload) command() *cobra.Command {
	b := &benchFlags{priority: priority{mq9.Normal, true}}
	cmd := &cobra.Command{Use: w.name, Short: strings.ToUpper(w.short[:1]) + w.short[1:], Long: w.long, Args: exactly()}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVarP(&b.messages, "messages", "n", 100_000, "how many messages")
	f.IntVar(&b.size, "size", 128, "bytes of a payload")
	f.VarP(&b.priority, "priority", "p", "critical, urgent or normal")
	f.IntVar(&b.inFlight, "in-flight", 500, "messages under way at a time")
	if w.flags != nil {
		w.flags(b, cmd)
	}
	finish(cmd, func(s *session, _ []string) error { return s.bench(w, b) })
	completes(cmd, "priority", completePriorities)
	return cmd
}

// check finds what cannot be run.
func (b *benchFlags) check(w *workload) error {
	const most = 100_000_000
	switch {
	case b.messages < 1 || b.messages > most:
		return usagef("--messages: give 1 to %d", most)
	case b.size < 0 || b.size < load.StampBytes && (w.name == "live" || w.name == "workers"):
		return usagef("--size: give at least %d bytes, which the time of sending takes", load.StampBytes)
	case b.inFlight < 1 || b.inFlight > 1_000_000:
		return usagef("--in-flight: give 1 to 1000000")
	case b.rate < 0:
		return usagef("--rate: give messages a second, or 0 for as many as possible")
	case w.name == "workers" && (b.workers < 1 || b.workers > 10_000):
		return usagef("--workers: give 1 to 10000")
	}
	return nil
}

// bench runs a workload in a mailbox of its own and leaves that empty.
func (s *session) bench(w *workload, b *benchFlags) (err error) {
	if err := b.check(w); err != nil {
		return err
	}
	nc, err := s.dial("mq9 bench", nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	box, err := load.NewMailbox(nc, benchLife)
	if err != nil {
		return explain(err, s.connection)
	}
	defer func() { err = errors.Join(err, explain(box.Clear(nc), s.connection)) }()
	job := load.Job{
		Dial:    func() (*nats.Conn, error) { return s.dial("mq9 bench", nats.NoReconnect()) },
		Subject: box.Subject(b.priority.value), Pattern: box.Pattern(),
		Messages: b.messages, Size: b.size, InFlight: b.inFlight, Rate: b.rate, Workers: b.workers, Check: load.Check,
	}
	over := s.progress(w, &job)
	result, err := w.run(s.ctx, b, job)
	over()
	if err != nil {
		return explain(err, s.connection)
	}
	return s.report(w, b, result)
}

// progress shows a bar while somebody looks. The returned function takes it away.
func (s *session) progress(w *workload, job *load.Job) (over func()) {
	if !isTerminal(s.notes) {
		return func() {}
	}
	bar := progressbar.NewOptions(job.Messages,
		progressbar.OptionSetWriter(s.notes), progressbar.OptionSetDescription(w.name), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("msg"), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	job.Progress = func(done int) { _ = bar.Set(done) } // a bar that cannot be drawn is no reason to stop
	return func() { _ = bar.Clear() }
}

// measured is a result as JSON.
type measured struct {
	Workload   string   `json:"workload"`
	Priority   string   `json:"priority"`
	Messages   int      `json:"messages"`
	Size       int      `json:"size"` // bytes of a payload
	InFlight   int      `json:"in_flight,omitempty"`
	Rate       int      `json:"rate,omitempty"`
	Workers    int      `json:"workers,omitempty"`
	Seconds    float64  `json:"seconds"`
	PerSecond  float64  `json:"messages_per_second"`
	BytesSpeed float64  `json:"bytes_per_second"`
	Latency    *latency `json:"latency_us,omitempty"` // not with --publish
}

// latency is in microseconds.
type latency struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

func (s *session) report(w *workload, b *benchFlags, r load.Result) error {
	if !s.json {
		return s.table(w, b, r)
	}
	m := measured{
		Workload: w.name, Priority: b.priority.String(), Messages: r.Messages, Size: r.Size, Rate: b.rate, Workers: b.workers,
		Seconds: r.Elapsed.Seconds(), PerSecond: r.PerSecond(), BytesSpeed: r.BytesPerSecond(),
	}
	if !b.publish && w.name != "watch" {
		m.InFlight = b.inFlight
	}
	if r.Latency != nil {
		us := func(q float64) float64 { return float64(r.Quantile(q)) / float64(time.Microsecond) }
		m.Latency = &latency{us(50), us(90), us(99), us(99.9), us(100)}
	}
	return s.object(m)
}

func (s *session) table(w *workload, b *benchFlags, r load.Result) error {
	t := tabwriter.NewWriter(s, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") } // a tabwriter fails at its Flush
	row("", "messages", "bytes", "time", "msg/s", "MB/s", "p50", "p90", "p99", "p99.9", "max")
	const million = 1e6
	cells := []string{
		w.name + " " + b.priority.String(), humanize.Comma(int64(r.Messages)), humanize.Comma(int64(r.Size)), rounded(r.Elapsed),
		humanize.Comma(int64(r.PerSecond())), fmt.Sprintf("%.1f", r.BytesPerSecond()/million),
	}
	for _, q := range []float64{50, 90, 99, 99.9, 100} {
		if r.Latency == nil {
			cells = append(cells, "-")
		} else {
			cells = append(cells, rounded(r.Quantile(q)))
		}
	}
	row(cells...)
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Latency == nil {
		return nil
	}
	_, err := fmt.Fprintln(s, s.paint(dim, "latency: "+w.latency))
	return err
}

// rounded shows a time with three digits.
func rounded(d time.Duration) string {
	unit := time.Duration(1)
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}
