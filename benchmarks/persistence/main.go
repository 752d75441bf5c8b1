package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// scenarios are what can be measured, by name.
var scenarios = map[string]struct {
	about string
	run   func(*bench) error
}{
	"queue":      {"-n appends and their deletions over -cold messages that stay: write and space amplification", queue},
	"space":      {"-n messages, then their deletion or expiry: how fast the disk comes back", space},
	"replay":     {"one mailbox of -n messages: index and replay from a cold disk, memory", replay},
	"recovery":   {"-n messages in -mailboxes: time to start after a kill, first index", recovery},
	"tombstones": {"-n messages published and deleted before the one alive: time to it", tombstones},
	"snapshot":   {"-rounds snapshots while messages are written", snapshot},
	"leak":       {"-n iterators, and snapshots: memory afterwards", leak},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return usage()
	}
	scenario, ok := scenarios[args[0]]
	if !ok {
		return usage()
	}
	var b bench
	f := flag.NewFlagSet(args[0], flag.ExitOnError)
	b.flags(f)
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if err := b.prepare(); err != nil {
		return err
	}
	defer b.clean()
	return scenario.run(&b)
}

func usage() error {
	var text strings.Builder
	text.WriteString("go run ./benchmarks/persistence SCENARIO [flags]\n")
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		fmt.Fprintf(&text, "  %-11s %s\n", name, scenarios[name].about)
	}
	return fmt.Errorf("%s", text.String())
}
