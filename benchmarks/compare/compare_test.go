package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// Every row has a name of its own, goals about sides that it has, and a note on what bounds it; and every note has a row.
func TestRows(t *testing.T) {
	texts := bounds(notes)
	seen := map[string]bool{"": true} // the notes' introduction
	for _, r := range allRows() {
		if seen[r.name] {
			t.Errorf("two rows are called %q", r.name)
		}
		seen[r.name] = true
		if texts[r.name] == "" {
			t.Errorf("no note says what bounds %q", r.name)
		}
		if len(r.goals) == 0 || len(r.sides) == 0 || r.work == "" || r.peer == "" {
			t.Errorf("%q is incomplete", r.name)
		}
		for _, g := range r.goals {
			if g.of < 0 || g.of >= len(r.sides) || g.against < alone || g.against >= len(r.sides) || g.of == g.against {
				t.Errorf("%q has a goal about sides that it does not have", r.name)
			}
		}
	}
	for name := range texts {
		if !seen[name] {
			t.Errorf("a note is about %q, which is no row", name)
		}
	}
}

func TestChoose(t *testing.T) {
	rows, err := choose(allRows(), "plain,idle")
	if err != nil || len(rows) != 2 || rows[0].name != "plain" || rows[1].name != "idle" {
		t.Error(rows, err)
	}
	if _, err := choose(allRows(), "plane"); err == nil || !strings.Contains(err.Error(), "plain") {
		t.Error("a wrong name is not answered with the right ones:", err)
	}
}

// made is an outcome whose pairs have these throughputs, ours and the peer's, and latencies of one and two milliseconds.
func made(g []goal, rates ...[2]int) outcome {
	o := outcome{row: row{name: "plain", work: "work", peer: "somebody", sides: []side{{name: "mq9"}, {name: "peer"}}, goals: g}}
	for _, pair := range rates {
		var samples []sample
		for i, n := range pair {
			s := sample{messages: n, elapsed: time.Second, cpu: time.Duration(n) * time.Microsecond, latency: load.NewLatency()}
			load.Record(s.latency, int64(time.Millisecond)*int64(i+1))
			samples = append(samples, s)
		}
		o.pairs = append(o.pairs, samples)
	}
	return o
}

func TestVerdict(t *testing.T) {
	o := made(nil, [2]int{300, 100}, [2]int{100, 100}, [2]int{400, 200})
	for _, c := range []struct {
		goal             goal
		least, mid, most float64
		met              bool
	}{
		{atLeast(throughput, 2), 1, 2, 3, true},
		{atLeast(throughput, 2.1), 1, 2, 3, false},
		{atMost(timeEach, 0.5), 1. / 3, 0.5, 1, true},
		{atMost(cpuTime, 0.9), 1, 1, 1, false},
		{atMost(p99, 0.51), 0.5, 0.5, 0.5, true},
		{goal{usage, 0, alone, false, 0.02}, 1e-4, 3e-4, 4e-4, true},
	} {
		v := o.judge(c.goal)
		near := func(a, b float64) bool { return a > b*0.99 && a < b*1.01 }
		if !near(v.least, c.least) || !near(v.mid, c.mid) || !near(v.most, c.most) || v.met != c.met {
			t.Errorf("%s %s: %+v", c.goal.metric.name, c.goal, v)
		}
	}
	if got := medianOf([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Error("the median of four is", got)
	}
}

func TestFiguresForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{perSecond(1_234_567), "1.23 M/s"},
		{perSecond(45_678), "46 k/s"},
		{perSecond(6_543), "6543 /s"},
		{nanoseconds(345), "345ns"},
		{nanoseconds(1_234), "1.23µs"},
		{nanoseconds(98_765_432), "98.8ms"},
		{percent(0.0123), "1.2 %"},
		{atLeast(throughput, 30).String(), "≥ 30×"},
		{goal{usage, 0, alone, false, 0.02}.String(), "≤ 2 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q instead of %q", c.got, c.want)
		}
	}
}

// What a run writes is there, and the page names only charts that are.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	r := report{
		machine:  machine{Facts: []fact{{"processors", "2"}}, Limits: []fact{{"TCP over loopback", "1 GB/s"}}},
		outcomes: []outcome{made([]goal{atLeast(throughput, 0.5), atMost(p99, 0.1)}, [2]int{300, 100}, [2]int{100, 100})},
	}
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0 of 1 rows", "| plain |", "≥ 0.5×", "not yet", bounds(notes)["plain"], "TCP over loopback"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("RESULTS.md has no %q", want)
		}
	}
	for _, name := range []string{"overview", "plain-throughput", "plain-latency"} {
		svg, err := os.ReadFile(filepath.Join(dir, chartsDir, name+".svg"))
		if err != nil || !strings.HasPrefix(string(svg), "<svg") || !strings.Contains(string(page), name+".svg") {
			t.Errorf("chart %s: %v", name, err)
		}
	}
	results, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil || strings.Count(string(results), `"hdr"`) != 4 {
		t.Errorf("results.json: %v\n%s", err, results)
	}

	// What was written says the same when it is read and written again.
	again, err := reread(filepath.Join(dir, "results.json"), []row{r.outcomes[0].row})
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := again.show(other); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(other, "RESULTS.md")); err != nil || !bytes.Equal(got, page) {
		t.Errorf("the page is not what it was, %v:\n%s", err, got)
	}
	if _, err := reread(filepath.Join(dir, "results.json"), nil); err == nil {
		t.Error("a row that is unknown was read")
	}
}

func TestRedisReplies(t *testing.T) {
	command := string(xadd("s", []byte("ab")))
	if command != "*5\r\n$4\r\nXADD\r\n$1\r\ns\r\n$1\r\n*\r\n$1\r\nv\r\n$2\r\nab\r\n" {
		t.Errorf("%q", command)
	}
	read := func(text string, n int) error { return readIDs(bufio.NewReader(strings.NewReader(text)), n) }
	if err := read("$3\r\n1-0\r\n$4\r\n1-10\r\n", 2); err != nil {
		t.Error(err)
	}
	if err := read("-OOM no memory\r\n", 1); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Error(err)
	}
	if err := read("$3\r\n1-0\r\n", 2); err != io.EOF { //nolint:errorlint // the very value
		t.Error(err)
	}
}

// The limits are measured, and the client library understands the server that only writes.
func TestLimits(t *testing.T) {
	l := &lab{dataDir: t.TempDir(), quick: true}
	all, err := limits(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(all, func(f fact) bool { return f.Value == "" }) || len(all) != 6 {
		t.Error(all)
	}
	if left, err := os.ReadDir(l.dataDir); err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
}

// A sample is taken from a server of its own, which is gone afterwards, or from one that lasts.
func TestSample(t *testing.T) {
	l := &lab{dataDir: t.TempDir(), quick: true, pairs: 2, progress: io.Discard}
	started, worked := 0, 0
	one := side{
		name: "one", lasting: true,
		start: func(ctx context.Context, l *lab) (*process, error) {
			started++
			return startSleeper(ctx, l)
		},
		work: func(_ context.Context, _ *lab, p *process) (sample, error) {
			worked++
			cpu, err := p.cpu()
			return sample{messages: 1, elapsed: time.Second, cpu: cpu}, err
		},
	}
	two := one
	two.lasting = false
	o, err := l.run(t.Context(), row{name: "r", sides: []side{one, two}})
	if err != nil || started != 3 || worked != 4 || len(o.pairs) != 2 {
		t.Errorf("%d started, %d samples, %v", started, worked, err)
	}
	if left, err := os.ReadDir(l.dataDir); err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
}

// startSleeper runs a process that serves nothing.
func startSleeper(ctx context.Context, l *lab) (*process, error) {
	p, err := newProcess(l, "sleeper")
	if err != nil {
		return nil, err
	}
	p.command = func() *exec.Cmd { return exec.Command("sleep", "600") }
	p.ready = func(context.Context) error { return nil }
	return p, p.run(ctx)
}
