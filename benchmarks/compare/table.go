package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// table has one line for each goal.
func (r *report) table() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"row", "against", "what", "goal", "min", "median", "max", "", "mq9", "peer", "CPU each", "peer's CPU each"})
	for _, o := range r.outcomes {
		for i, g := range o.row.goals {
			v := o.judge(g)
			name := o.row.name
			if i > 0 {
				name = ""
			}
			cells := table.Row{name, o.against(g), o.what(g), g, g.say(v.least), g.say(v.mid), g.say(v.most), mark(v.met), g.metric.text(o.middle(g.of, g.metric))}
			if g.against == alone {
				cells = append(cells, "", "", "")
			} else {
				cells = append(cells, g.metric.text(o.middle(g.against, g.metric)), o.cpu(g.of), o.cpu(g.against))
			}
			t.AppendRow(cells)
		}
		t.AppendSeparator()
	}
	return t
}

// against is the name of the other side of a goal.
func (o outcome) against(g goal) string {
	if g.against == alone {
		return "–"
	}
	return o.row.sides[g.against].name
}

// what is the figure that a goal is about, and whose it is if not that of our first side.
func (o outcome) what(g goal) string {
	if g.of == 0 {
		return g.metric.name
	}
	return g.metric.name + ", " + o.row.sides[g.of].name
}

// cpu is what a side's server took for a message, in words.
func (o outcome) cpu(side int) string {
	if v := o.middle(side, cpuTime); v > 0 {
		return nanoseconds(v)
	}
	return "–"
}

func mark(met bool) string {
	if met {
		return "met"
	}
	return "not yet"
}

// summary counts the rows all of whose goals are met.
func (r *report) summary() string {
	met := 0
	for _, o := range r.outcomes {
		if o.met() {
			met++
		}
	}
	return fmt.Sprintf("%d of %d rows meet their goals.", met, len(r.outcomes))
}

// met reports whether all of the row's goals are.
func (o outcome) met() bool {
	for _, g := range o.row.goals {
		if !o.judge(g).met {
			return false
		}
	}
	return true
}
