package load_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// plain runs a nats-server and returns how to connect to it: the workloads speak NATS, whoever is behind it.
func plain(t *testing.T) func() (*nats.Conn, error) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the nats-server is not ready")
	}
	return func() (*nats.Conn, error) { return nats.Connect(s.ClientURL()) }
}

// echo answers requests on a subject.
func echo(t *testing.T, dial func() (*nats.Conn, error), subject string) {
	t.Helper()
	nc, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if _, err := nc.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte("fine")) }); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestWorkloads(t *testing.T) {
	dial := plain(t)
	echo(t, dial, "echo")
	const n = 5000
	job := load.Job{Dial: dial, Subject: "x", Pattern: "x", Messages: n, Size: 64, InFlight: 100, Workers: 3}
	for name, run := range map[string]func(context.Context, load.Job) (load.Result, error){
		"send": load.Send, "publish": load.Publish, "live": load.Live, "workers": load.Workers,
	} {
		t.Run(name, func(t *testing.T) {
			job := job
			if name == "send" {
				job.Subject = "echo"
			}
			var shown []int
			job.Progress = func(done int) { shown = append(shown, done) }
			r, err := run(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if r.Messages != n || r.Elapsed <= 0 || r.PerSecond() <= 0 || !slices.IsSorted(shown) || shown[len(shown)-1] != n {
				t.Errorf("%+v, progress %v", r, shown)
			}
			if name == "publish" {
				if r.Latency != nil || r.Quantile(50) != 0 {
					t.Error("a publish has no latency")
				}
				return
			}
			if got := r.Latency.TotalCount(); got != n {
				t.Errorf("%d samples of %d messages", got, n)
			}
			if r.Quantile(50) <= 0 || r.Quantile(99) < r.Quantile(50) || r.Quantile(100) > r.Elapsed+time.Second {
				t.Errorf("p50 %v, p99 %v, max %v, in %v", r.Quantile(50), r.Quantile(99), r.Quantile(100), r.Elapsed)
			}
		})
	}
}

// A fan-out counts what each subscriber got.
func TestFanout(t *testing.T) {
	const n, subscribers = 300, 3
	r, err := load.Fanout(t.Context(), load.Job{
		Dial: plain(t), Subject: "x", Pattern: "x", Messages: n, Size: 64, InFlight: 100, Workers: subscribers,
	})
	if err != nil || r.Messages != n*subscribers || r.Latency.TotalCount() != n*subscribers {
		t.Errorf("%+v, %v", r, err)
	}
}

// What comparisons replace is used, and they are told when the measurement begins and ends.
func TestHooks(t *testing.T) {
	dial := plain(t)
	echo(t, dial, "echo.*")
	const n = 50
	var told []string
	job := load.Job{
		Dial: dial, Subject: "x", Pattern: "x", Messages: n, Size: 64, InFlight: 10, Reply: "elsewhere", Header: nats.Header{"K": {"v"}},
		Began: func() { told = append(told, "began") }, Ended: func() { told = append(told, "ended") },
	}
	var sent, finished int
	job.Publish = func(nc *nats.Conn) (func([]byte) error, error) {
		return func(p []byte) error { sent++; return nc.Publish("y", p) }, nil
	}
	job.Subscribe = func(nc *nats.Conn, take load.Take) error {
		_, err := nc.Subscribe("y", func(m *nats.Msg) { take(m.Data, func() error { finished++; return nil }) })
		return err
	}
	if r, err := load.Live(t.Context(), job); err != nil || r.Messages != n || sent != n || finished != n {
		t.Errorf("%+v, %v; %d sent, %d finished", r, err, sent, finished)
	}
	job.Publish, job.Subscribe = nil, func(nc *nats.Conn, take load.Take) error {
		_, err := nc.Subscribe("x", func(m *nats.Msg) {
			if m.Reply != job.Reply || m.Header.Get("K") != "v" {
				t.Errorf("arrived: %+v", m)
			}
			take(m.Data, nil)
		})
		return err
	}
	if _, err := load.Live(t.Context(), job); err != nil {
		t.Error(err)
	}
	subjects := map[string]bool{} // owned by Send, which asks for one after the other
	job.Each = func(i int) (string, []byte) {
		subject := "echo." + strconv.Itoa(i)
		subjects[subject] = true
		return subject, nil
	}
	if _, err := load.Send(t.Context(), job); err != nil || len(subjects) != n {
		t.Errorf("%d subjects, %v", len(subjects), err)
	}
	if !slices.Equal(told, []string{"began", "ended", "began", "ended", "began", "ended"}) {
		t.Error(told)
	}
}

// A rate is kept: not exceeded, whatever the timers do.
func TestRate(t *testing.T) {
	r, err := load.Live(t.Context(), load.Job{
		Dial: plain(t), Subject: "x", Pattern: "x", Messages: 200, Size: load.StampBytes, InFlight: 100, Rate: 1000,
	})
	if err != nil || r.Elapsed < 190*time.Millisecond {
		t.Errorf("200 messages at 1000/s took %v, %v", r.Elapsed, err)
	}
}

func TestEarlyEnds(t *testing.T) {
	dial := plain(t)
	echo(t, dial, "echo")
	job := load.Job{Dial: dial, Subject: "echo", Pattern: "nothing", Messages: 10, Size: 8, InFlight: 2}
	with := func(change func(*load.Job)) load.Job {
		j := job
		change(&j)
		return j
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	bad := errors.New("a bad reply")
	for _, c := range []struct {
		name string
		run  func(context.Context, load.Job) (load.Result, error)
		ctx  context.Context
		job  load.Job
		says string
	}{
		{"cancelled", load.Replay, ended, job, "context canceled"},
		{"nobody answers", load.Send, t.Context(), with(func(j *load.Job) { j.Subject = "nobody" }), "no responders"},
		{"bad reply", load.Send, t.Context(), with(func(j *load.Job) { j.Check = func([]byte) error { return bad } }), bad.Error()},
		{"no connection", load.Send, t.Context(), with(func(j *load.Job) { j.Dial = func() (*nats.Conn, error) { return nil, bad } }), bad.Error()},
		{"no way to connect", load.Send, t.Context(), with(func(j *load.Job) { j.Dial = nil }), "way to connect"},
		{"no messages", load.Send, t.Context(), with(func(j *load.Job) { j.Messages = 0 }), "at least one message"},
		{"none in flight", load.Live, t.Context(), with(func(j *load.Job) { j.InFlight = 0 }), "in flight"},
		{"no room", load.Live, t.Context(), with(func(j *load.Job) { j.Size = 7 }), "too small"},
		{"no workers", load.Workers, t.Context(), job, "one worker"},
		{"negative rate", load.Live, t.Context(), with(func(j *load.Job) { j.Rate = -1 }), "rate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.run(c.ctx, c.job); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
