package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// reread makes the report of a run again from its results.json, so that what the page says about the figures can be better than it was when
// they were measured. all are the rows that there are.
func reread(path string, all []row) (report, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the caller names it
	if err != nil {
		return report{}, err
	}
	var was record
	if err := json.Unmarshal(text, &was); err != nil {
		return report{}, fmt.Errorf("%s: %w", path, err)
	}
	r := report{machine: was.Machine, quick: was.Quick, began: was.Began, took: seconds(was.Seconds)}
	for _, rr := range was.Rows {
		o, err := rr.outcome(all)
		if err != nil {
			return report{}, fmt.Errorf("%s: row %s: %w", path, rr.Name, err)
		}
		r.outcomes = append(r.outcomes, o)
	}
	return r, nil
}

// outcome is what the record was made of.
func (rr *rowRecord) outcome(all []row) (outcome, error) {
	i := slices.IndexFunc(all, func(r row) bool { return r.name == rr.Name })
	if i < 0 {
		return outcome{}, fmt.Errorf("there is none of this name")
	}
	o := outcome{row: all[i]}
	for _, s := range rr.Samples {
		if s.Pair > len(o.pairs) {
			o.pairs = append(o.pairs, make([]sample, len(o.row.sides)))
		}
		at := slices.IndexFunc(o.row.sides, func(side side) bool { return side.name == s.Side })
		if s.Pair != len(o.pairs) || at < 0 {
			return o, fmt.Errorf("a sample of pair %d, %s, where none can be", s.Pair, s.Side)
		}
		one := sample{messages: s.Messages, elapsed: seconds(s.Seconds), cpu: seconds(s.CPU)}
		if s.Latency != nil {
			h, err := hdrhistogram.Decode([]byte(s.Latency.Histogram))
			if err != nil {
				return o, err
			}
			one.latency = h
		}
		o.pairs[s.Pair-1][at] = one
	}
	if len(o.pairs) == 0 {
		return o, fmt.Errorf("no samples")
	}
	return o, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
