package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// What results.json holds.
type (
	record struct {
		Machine machine     `json:"machine"`
		Quick   bool        `json:"quick"`
		Began   time.Time   `json:"began"`
		Seconds float64     `json:"seconds"`
		Rows    []rowRecord `json:"rows"`
	}
	rowRecord struct {
		Name    string         `json:"name"`
		Work    string         `json:"work"`
		Peer    string         `json:"peer"`
		Goals   []goalRecord   `json:"goals"`
		Samples []sampleRecord `json:"samples"` // in the order they were taken
	}
	goalRecord struct {
		Metric  string    `json:"metric"`
		Of      string    `json:"of"`
		Against string    `json:"against,omitempty"` // empty: the value is a figure, not a ratio
		Goal    string    `json:"goal"`
		Values  []float64 `json:"values"` // of each pair
		Min     float64   `json:"min"`
		Median  float64   `json:"median"`
		Max     float64   `json:"max"`
		Met     bool      `json:"met"`
	}
	sampleRecord struct {
		Pair      int             `json:"pair"` // counted from 1
		Side      string          `json:"side"`
		Messages  int             `json:"messages"`
		Seconds   float64         `json:"seconds"`
		PerSecond float64         `json:"per_second"`
		CPU       float64         `json:"cpu_seconds"` // that the server took
		CPUEach   float64         `json:"cpu_nanoseconds_per_message"`
		Latency   *latencySummary `json:"latency,omitempty"`
	}
	latencySummary struct {
		P50  int64 `json:"p50_ns"`
		P90  int64 `json:"p90_ns"`
		P99  int64 `json:"p99_ns"`
		P999 int64 `json:"p999_ns"`
		Max  int64 `json:"max_ns"`

		Histogram string `json:"hdr"` // all of it: HDR, V2, compressed, base64; nanoseconds
	}
)

// save writes results.json.
func (r *report) save(dir string) error {
	out := record{Machine: r.machine, Quick: r.quick, Began: r.began, Seconds: r.took.Seconds()}
	for _, o := range r.outcomes {
		row, err := o.record()
		if err != nil {
			return err
		}
		out.Rows = append(out.Rows, row)
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "results.json"), append(text, '\n'), 0o644) //nolint:gosec // a report is for everybody
}

func (o outcome) record() (rowRecord, error) {
	row := rowRecord{Name: o.row.name, Work: o.row.work, Peer: o.row.peer}
	for _, g := range o.row.goals {
		v := o.judge(g)
		one := goalRecord{Metric: g.metric.name, Of: o.row.sides[g.of].name, Goal: g.String(), Min: v.least, Median: v.mid, Max: v.most, Met: v.met}
		if g.against != alone {
			one.Against = o.row.sides[g.against].name
		}
		for _, pair := range o.pairs {
			one.Values = append(one.Values, g.value(pair))
		}
		row.Goals = append(row.Goals, one)
	}
	for n, pair := range o.pairs {
		for i, s := range pair {
			one := sampleRecord{Pair: n + 1, Side: o.row.sides[i].name, Messages: s.messages, Seconds: s.elapsed.Seconds(), CPU: s.cpu.Seconds()}
			if s.messages > 0 {
				one.PerSecond, one.CPUEach = throughput.of(s), cpuTime.of(s)
			}
			if s.latency != nil {
				text, err := s.latency.EncodeV2()
				if err != nil {
					return row, err
				}
				one.Latency = &latencySummary{
					s.latency.ValueAtQuantile(50), s.latency.ValueAtQuantile(90), s.latency.ValueAtQuantile(99),
					s.latency.ValueAtQuantile(99.9), s.latency.Max(), string(text),
				}
			}
			row.Samples = append(row.Samples, one)
		}
	}
	return row, nil
}
