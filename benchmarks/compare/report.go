package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// notes says of each row what bounds it: a heading "## name" and the text below it.
//
//go:embed notes.md
var notes string

// report is everything that was seen.
type report struct {
	machine  machine
	quick    bool
	began    time.Time
	took     time.Duration
	outcomes []outcome
}

// write makes RESULTS.md, results.json and the charts in dir.
func (r *report) write(dir string) error {
	if err := r.show(dir); err != nil {
		return err
	}
	return r.save(dir)
}

// show makes RESULTS.md and the charts in dir.
func (r *report) show(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, chartsDir), 0o755); err != nil { //nolint:gosec // a report is for everybody
		return err
	}
	text, err := r.page(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "RESULTS.md"), []byte(text), 0o644) //nolint:gosec // as above
}

// page writes the charts and returns the page that shows them.
func (r *report) page(dir string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Written by `go run ./benchmarks/compare -out`; do not edit. What bounds each row is in benchmarks/compare/notes.md. -->\n\n"+
		"# Side by side\n\n%s The median of the pairs' ratios counts.\n\n", r.summary())
	if r.quick {
		b.WriteString("This was a quick run, with small sizes: it shows that the table works, not where the broker stands.\n\n")
	}
	b.WriteString(r.table().RenderMarkdown() + "\n\n")
	if err := r.chart(&b, dir, "overview", r.overview()); err != nil {
		return "", err
	}
	b.WriteString("## The machine\n\n| | |\n|---|---|\n")
	facts := append(r.machine.Facts, fact{"measured", fmt.Sprintf("%s, in %s", r.began.UTC().Format("2006-01-02 15:04 UTC"), r.took.Round(time.Second))})
	for _, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, f.Value)
	}
	b.WriteString("\nWhat it can do without any broker, in the same run:\n\n| | |\n|---|---|\n")
	for _, f := range r.machine.Limits {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, f.Value)
	}
	b.WriteString("\n")
	texts := bounds(notes)
	for _, o := range r.outcomes {
		if err := r.section(&b, dir, o, texts[o.row.name]); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// section is a row's part of the page.
func (r *report) section(b *strings.Builder, dir string, o outcome, bound string) error {
	fmt.Fprintf(b, "## %s\n\n%s, against %s: %s.\n\n", o.row.name, sentence(o.row.work), o.row.peer, map[bool]string{true: "met", false: "not yet met"}[o.met()])
	for i, s := range o.row.sides {
		fmt.Fprintf(b, "- %s: ", s.name)
		if o.pairs[0][i].messages == 0 {
			fmt.Fprintf(b, "%s of a core", usage.text(o.middle(i, usage)))
		} else {
			fmt.Fprintf(b, "%s, CPU %s each", perSecond(o.middle(i, throughput)), o.cpu(i))
		}
		if all := o.latencies(i); all != nil {
			at := func(q float64) string { return nanoseconds(float64(all.ValueAtQuantile(q))) }
			fmt.Fprintf(b, "; latency p50 %s, p99 %s, p99.9 %s", at(50), at(99), at(99.9))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n%s\n\n", bound)
	if o.pairs[0][0].messages > 0 {
		if err := r.chart(b, dir, o.row.name+"-throughput", o.throughputChart()); err != nil {
			return err
		}
	}
	if c := o.latencyChart(); c != nil {
		return r.chart(b, dir, o.row.name+"-latency", c)
	}
	return nil
}

// chart draws a chart and puts it into the page.
func (r *report) chart(b *strings.Builder, dir, name string, c drawable) error {
	path, err := draw(dir, name, c)
	if err != nil {
		return fmt.Errorf("chart %s: %w", name, err)
	}
	fmt.Fprintf(b, "![%s](%s)\n\n", strings.ReplaceAll(name, "-", " "), filepath.ToSlash(path))
	return nil
}

// sentence begins a text with a capital.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// bounds reads the notes: texts by row.
func bounds(notes string) map[string]string {
	texts := map[string]string{}
	name := ""
	for in := bufio.NewScanner(strings.NewReader(notes)); in.Scan(); {
		if heading, ok := strings.CutPrefix(in.Text(), "## "); ok {
			name = heading
			continue
		}
		texts[name] += in.Text() + "\n"
	}
	for name, text := range texts {
		texts[name] = strings.TrimSpace(text)
	}
	return texts
}
