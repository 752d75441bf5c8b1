package main

import (
	"fmt"
	"time"
)

// metric is a figure of a sample.
type metric struct {
	name string
	of   func(sample) float64
	text func(float64) string // for people
}

var (
	throughput = metric{"throughput", func(s sample) float64 { return float64(s.messages) / s.elapsed.Seconds() }, perSecond}
	cpuTime    = metric{"CPU per message", func(s sample) float64 { return float64(s.cpu) / float64(s.messages) }, nanoseconds}
	timeEach   = metric{"time per message", func(s sample) float64 { return float64(s.elapsed) / float64(s.messages) }, nanoseconds}
	median     = metric{"p50", quantile(50), nanoseconds}
	p99        = metric{"p99", quantile(99), nanoseconds}
	usage      = metric{"of a core", func(s sample) float64 { return s.cpu.Seconds() / s.elapsed.Seconds() }, percent}
)

func quantile(q float64) func(sample) float64 {
	return func(s sample) float64 {
		if s.latency == nil {
			return 0
		}
		return float64(s.latency.ValueAtQuantile(q))
	}
}

// alone is the side that a goal without a peer is compared with.
const alone = -1

// goal is what a ratio of two sides should be, or, alone, a figure of one.
type goal struct {
	metric      metric
	of, against int // sides of the row; against may be alone
	least       bool
	bound       float64
}

// atLeast is a goal for our figure by the peer's.
func atLeast(m metric, bound float64) goal { return goal{m, 0, 1, true, bound} }

// atMost is the same where less is better.
func atMost(m metric, bound float64) goal { return goal{m, 0, 1, false, bound} }

// value is what a pair of samples, one of each side, comes to.
func (g goal) value(pair []sample) float64 {
	v := g.metric.of(pair[g.of])
	if g.against == alone {
		return v
	}
	return v / g.metric.of(pair[g.against])
}

func (g goal) met(v float64) bool {
	if g.least {
		return v >= g.bound
	}
	return v <= g.bound
}

// say writes a value of the goal for people.
func (g goal) say(v float64) string {
	if g.against == alone {
		return g.metric.text(v)
	}
	return fmt.Sprintf("%.2f×", v)
}

// String is the goal itself.
func (g goal) String() string {
	sign, bound := "≤", fmt.Sprintf("%g×", g.bound)
	if g.least {
		sign = "≥"
	}
	if g.against == alone {
		bound = g.metric.text(g.bound)
	}
	return sign + " " + bound
}

func perSecond(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2f M/s", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.0f k/s", v/1e3)
	default:
		return fmt.Sprintf("%.0f /s", v)
	}
}

func nanoseconds(v float64) string {
	const digits = 1000
	d := time.Duration(v)
	for unit := time.Nanosecond; unit <= time.Second; unit *= 10 {
		if d < digits*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

func percent(v float64) string { return fmt.Sprintf("%.2g %%", 100*v) }
