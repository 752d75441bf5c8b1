package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

// experiment is one figure: it prints its lines and uses the broker that it is given.
type experiment struct {
	name string
	n    int // how many, unless -n says otherwise
	run  func(b *broker, n int) error
}

var experiments = []experiment{
	{"mailboxes", 1_000_000, mailboxes},
	{"subscriptions", 100_000, subscriptions},
	{"connections", 5_000, connections},
	{"fanout", 10_000, fanout},
	{"storm", 2_000, storm},
}

func main() {
	binary := flag.String("broker", "bin/mq9", "the broker's binary")
	n := flag.Int("n", 0, "how many; 0 = the number that the project aims at")
	flag.Parse()
	if err := run(*binary, *n, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(binary string, n int, name string) error {
	chosen := slices.DeleteFunc(slices.Clone(experiments), func(e experiment) bool { return name != "all" && e.name != name })
	if len(chosen) == 0 {
		return fmt.Errorf("no experiment %q: name mailboxes, subscriptions, connections, fanout, storm or all", name)
	}
	for _, e := range chosen {
		if err := e.do(binary, n); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

// do runs the experiment against a broker of its own.
func (e experiment) do(binary string, n int) (err error) {
	if n == 0 {
		n = e.n
	}
	b, err := newBroker(binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.remove()) }()
	if err := b.start(); err != nil {
		return err
	}
	began := time.Now()
	if err := e.run(b, n); err != nil {
		return err
	}
	fmt.Printf("%-14s took %v in all\n", e.name, time.Since(began).Round(time.Millisecond))
	return nil
}
