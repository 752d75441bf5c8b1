package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// chartsDir is where the charts are, beside RESULTS.md.
const chartsDir = "charts"

// colours are those of a row's sides.
var colours = []drawing.Color{drawing.ColorFromHex("1f6feb"), drawing.ColorFromHex("d9822b"), drawing.ColorFromHex("6e7781")}

// drawable is what go-chart renders.
type drawable interface {
	Render(chart.RendererProvider, io.Writer) error
}

// draw writes a chart and returns its path below dir.
func draw(dir, name string, c drawable) (string, error) {
	path := filepath.Join(chartsDir, name+".svg")
	f, err := os.Create(filepath.Join(dir, path)) //nolint:gosec // the directory is the caller's
	if err != nil {
		return "", err
	}
	return path, errors.Join(c.Render(chart.SVG, f), f.Close())
}

// overview shows for each goal how far the median is beyond it: at 1× it is just met.
func (r *report) overview() drawable {
	c := chart.BarChart{
		Title: "How far beyond its goal each median is (1× = just met)", Width: 1100, Height: 520, BarWidth: 26, BarSpacing: 18,
		Background:   chart.Style{Padding: chart.Box{Top: 50, Bottom: 40, Left: 10, Right: 10}},
		XAxis:        chart.Style{TextRotationDegrees: 60, TextWrap: chart.TextWrapNone, FontSize: 9},
		UseBaseValue: true, BaseValue: 0,
	}
	low, high := -1.0, 1.0
	for _, o := range r.outcomes {
		for _, g := range o.row.goals {
			v := o.judge(g)
			beyond := math.Log2(v.mid / g.bound)
			if !g.least {
				beyond = -beyond
			}
			beyond = min(max(beyond, -5), 5)
			low, high = min(low, beyond), max(high, beyond)
			colour := colours[0]
			if !v.met {
				colour = colours[1]
			}
			c.Bars = append(c.Bars, chart.Value{
				Label: o.row.name + " " + g.metric.name, Value: beyond,
				Style: chart.Style{FillColor: colour, StrokeColor: colour},
			})
		}
	}
	low, high = math.Floor(low), math.Ceil(high)
	c.YAxis = chart.YAxis{Range: &chart.ContinuousRange{Min: low, Max: high}}
	for e := low; e <= high; e++ {
		c.YAxis.Ticks = append(c.YAxis.Ticks, chart.Tick{Value: e, Label: fmt.Sprintf("%g×", math.Exp2(e))})
	}
	return c
}

// lines is a chart with one line for each side that has values, under a legend.
func lines(x chart.XAxis, y chart.YAxis, series []chart.Series) drawable {
	c := chart.Chart{
		Width: 640, Height: 360, XAxis: x, YAxis: y, Series: series,
		Background: chart.Style{Padding: chart.Box{Top: 40, Left: 20, Right: 20, Bottom: 10}},
	}
	c.Elements = []chart.Renderable{chart.LegendThin(&c)}
	return &c
}

// throughputChart shows each sample, in the order of the pairs.
func (o outcome) throughputChart() drawable {
	var series []chart.Series
	most := 0.0
	for i, s := range o.row.sides {
		one := chart.ContinuousSeries{Name: s.name, Style: chart.Style{StrokeColor: colours[i], StrokeWidth: 1, DotColor: colours[i], DotWidth: 4}}
		for n, pair := range o.pairs {
			v := throughput.of(pair[i])
			most = max(most, v)
			one.XValues, one.YValues = append(one.XValues, float64(n+1)), append(one.YValues, v)
		}
		series = append(series, one)
	}
	x := chart.XAxis{Name: "pair", Range: &chart.ContinuousRange{Min: 0.5, Max: float64(len(o.pairs)) + 0.5}}
	for n := range o.pairs {
		x.Ticks = append(x.Ticks, chart.Tick{Value: float64(n + 1), Label: fmt.Sprint(n + 1)})
	}
	y := chart.YAxis{Name: o.row.name + ": messages", Range: &chart.ContinuousRange{Min: 0, Max: most * 1.1}, ValueFormatter: func(v any) string {
		f, _ := v.(float64)
		return perSecond(f)
	}}
	return lines(x, y, series)
}

// latencyChart shows how latencies are distributed over all samples of a side, to the far end; nil if the row has none.
func (o outcome) latencyChart() drawable {
	percentiles := []float64{0, 50, 90, 99, 99.9, 99.99}
	var series []chart.Series
	low, high := math.Inf(1), math.Inf(-1)
	for i, s := range o.row.sides {
		all := o.latencies(i)
		if all == nil {
			continue
		}
		one := chart.ContinuousSeries{Name: s.name, Style: chart.Style{StrokeColor: colours[i], StrokeWidth: 2}}
		const steps = 200
		for n := range steps + 1 {
			x := rarity(percentiles[len(percentiles)-1]) * float64(n) / steps
			y := math.Log10(float64(max(1, all.ValueAtQuantile(100*(1-math.Pow(10, -x))))))
			low, high = min(low, math.Floor(y)), max(high, math.Ceil(y))
			one.XValues, one.YValues = append(one.XValues, x), append(one.YValues, y)
		}
		series = append(series, one)
	}
	if series == nil {
		return nil
	}
	x := chart.XAxis{Name: "percentile of the messages"}
	for _, p := range percentiles {
		x.Ticks = append(x.Ticks, chart.Tick{Value: rarity(p), Label: fmt.Sprintf("%g", p)})
	}
	y := chart.YAxis{Name: o.row.name + ": latency", Range: &chart.ContinuousRange{Min: low, Max: max(high, low+1)}}
	for e := low; e <= max(high, low+1); e++ {
		y.Ticks = append(y.Ticks, chart.Tick{Value: e, Label: nanoseconds(math.Pow(10, e))})
	}
	return lines(x, y, series)
}

// rarity spreads percentiles so that the last thousandth takes as much room as what comes before it.
func rarity(percentile float64) float64 { return -math.Log10(1 - percentile/100) }

// latencies are those of all samples of a side, or nil.
func (o outcome) latencies(side int) *load.Latency {
	var all *load.Latency
	for _, pair := range o.pairs {
		if h := pair[side].latency; h != nil {
			if all == nil {
				all = load.NewLatency()
			}
			all.Merge(h)
		}
	}
	return all
}
