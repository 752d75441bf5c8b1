package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// lab is where the comparison happens. It is immutable.
type lab struct {
	mq9, nats, redis string // the servers' binaries
	dataDir          string // where they keep their data
	quick            bool
	pairs            int
	progress         io.Writer // one line for each sample
}

// count is the number that fits the size of the whole.
func (l *lab) count(full, quick int) int {
	if l.quick {
		return quick
	}
	return full
}

// outcome is what a row came to.
type outcome struct {
	row   row
	pairs [][]sample // each one sample of every side
	took  time.Duration
}

// verdict is what the pairs say about a goal.
type verdict struct {
	goal             goal
	least, mid, most float64
	met              bool // by the median
}

// run takes the row's pairs, its sides in turn.
func (l *lab) run(ctx context.Context, r row) (o outcome, err error) {
	begun := time.Now()
	lasting := make([]*process, len(r.sides))
	defer func() {
		for _, p := range lasting {
			if p != nil {
				err = errors.Join(err, p.remove())
			}
		}
	}()
	o.row = r
	for n := range l.pairs {
		pair := make([]sample, len(r.sides))
		for i, s := range r.sides {
			if pair[i], err = l.sample(ctx, s, &lasting[i]); err != nil {
				return o, fmt.Errorf("%s, %s: %w", r.name, s.name, err)
			}
			fmt.Fprintf(l.progress, "%-16s pair %d/%d  %-16s %s\n", r.name, n+1, l.pairs, s.name, pair[i])
		}
		o.pairs = append(o.pairs, pair)
	}
	o.took = time.Since(begun)
	return o, nil
}

// sample takes one sample of a side, on a server of its own or on the one that lasts.
func (l *lab) sample(ctx context.Context, s side, lasting **process) (_ sample, err error) {
	if s.start == nil {
		return s.work(ctx, l, nil)
	}
	p := *lasting
	if p == nil {
		if p, err = s.start(ctx, l); err != nil {
			return sample{}, err
		}
		if s.lasting {
			*lasting = p
		} else {
			defer func() { err = errors.Join(err, p.remove()) }()
		}
		if s.prepare != nil {
			if err := s.prepare(ctx, l, p); err != nil {
				return sample{}, fmt.Errorf("preparing: %w", err)
			}
		}
	}
	seen, err := s.work(ctx, l, p)
	if err != nil {
		err = fmt.Errorf("%w; the server's log ends so:\n%s", err, p.lastWords())
	}
	return seen, err
}

// String is the sample in few words.
func (s sample) String() string {
	if s.messages == 0 {
		return usage.text(usage.of(s)) + " of a core"
	}
	text := perSecond(throughput.of(s))
	if s.cpu > 0 {
		text += ", CPU " + nanoseconds(cpuTime.of(s)) + " each"
	}
	if s.latency != nil {
		text += fmt.Sprintf(", p50 %s, p99 %s", nanoseconds(median.of(s)), nanoseconds(p99.of(s)))
	}
	return text
}

// judge holds the pairs against a goal.
func (o outcome) judge(g goal) verdict {
	values := make([]float64, len(o.pairs))
	for i, pair := range o.pairs {
		values[i] = g.value(pair)
	}
	mid := medianOf(values)
	return verdict{g, slices.Min(values), mid, slices.Max(values), g.met(mid)}
}

// middle is the median of a metric over a side's samples.
func (o outcome) middle(side int, m metric) float64 {
	values := make([]float64, len(o.pairs))
	for i, pair := range o.pairs {
		values[i] = m.of(pair[side])
	}
	return medianOf(values)
}

// medianOf sorts the values, at least one, and returns the one in the middle, or the mean of the two.
func medianOf(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
