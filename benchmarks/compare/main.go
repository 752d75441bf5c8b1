package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the command line.
type options struct {
	lab  lab
	rows string
	out  string
	from string
}

func main() {
	o := options{lab: lab{progress: os.Stderr}}
	flag.BoolVar(&o.lab.quick, "quick", false, "small sizes and two pairs")
	flag.IntVar(&o.lab.pairs, "pairs", 0, "pairs for each row; 0 = five, or two with -quick")
	flag.StringVar(&o.rows, "rows", "", "names of rows, with commas between; empty = all")
	flag.StringVar(&o.out, "out", "", "directory for RESULTS.md, results.json and charts; empty = only the table")
	flag.StringVar(&o.from, "from", "", "a results.json: write its page again, with the notes of today, instead of measuring")
	flag.StringVar(&o.lab.mq9, "mq9", "bin/mq9", "the broker")
	flag.StringVar(&o.lab.nats, "nats-server", "bin/peers/nats-server", "its peer")
	flag.StringVar(&o.lab.redis, "redis-server", "redis-server", "the other peer")
	flag.StringVar(&o.lab.dataDir, "data", "bin/bench", "directory for the servers' data, on the disk to be measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// run compares and reports. A row that fails is told at the end; the others are not lost by it.
func (o *options) run(ctx context.Context) error {
	if o.from != "" {
		r, err := reread(o.from, allRows())
		if err != nil {
			return err
		}
		fmt.Println(r.table().Render())
		return r.show(cmp.Or(o.out, filepath.Dir(o.from)))
	}
	if o.lab.pairs == 0 {
		const full, quick = 5, 2
		o.lab.pairs = o.lab.count(full, quick)
	}
	rows, err := choose(allRows(), o.rows)
	if err != nil {
		return err
	}
	if err := o.lab.check(); err != nil {
		return err
	}
	m, err := describe(ctx, &o.lab)
	if err != nil {
		return err
	}
	r := report{machine: m, quick: o.lab.quick, began: time.Now()}
	var failed error
	for _, row := range rows {
		outcome, err := o.lab.run(ctx, row)
		if err != nil {
			failed = errors.Join(failed, err)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		r.outcomes = append(r.outcomes, outcome)
	}
	r.took = time.Since(r.began)
	fmt.Println(r.table().Render())
	fmt.Println(r.summary())
	if o.out != "" && len(r.outcomes) > 0 {
		failed = errors.Join(failed, r.write(o.out))
	}
	return failed
}

// choose picks rows by their names.
func choose(all []row, names string) ([]row, error) {
	if names == "" {
		return all, nil
	}
	var chosen []row
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(r row) bool { return r.name == name })
		if i < 0 {
			var known []string
			for _, r := range all {
				known = append(known, r.name)
			}
			return nil, fmt.Errorf("no row %q: there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// check finds what the rows need, and makes the directory of the data.
func (l *lab) check() error {
	for _, binary := range []*string{&l.mq9, &l.nats, &l.redis} {
		path, err := exec.LookPath(*binary)
		if err != nil {
			return fmt.Errorf("%w: `make peers` builds and installs what is missing", err)
		}
		if *binary, err = filepath.Abs(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(l.dataDir, 0o700); err != nil {
		return err
	}
	var err error
	l.dataDir, err = filepath.Abs(l.dataDir)
	return err
}
