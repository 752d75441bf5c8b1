package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// onDisk is a side without a server: it appends to a file and waits for fdatasync each time.
func onDisk(t task) side {
	return side{name: "bare fdatasync", work: func(ctx context.Context, l *lab, _ *process) (sample, error) {
		return appendSynced(ctx, l.dataDir, l.count(t.full, t.quick), t.size)
	}}
}

// appendSynced writes n records of size bytes to a new file in dir, which it removes, and syncs each.
func appendSynced(ctx context.Context, dir string, n, size int) (s sample, err error) {
	f, err := os.Create(filepath.Join(dir, "fdatasync")) //nolint:gosec // our own directory
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	record := make([]byte, size)
	s = sample{messages: n, latency: load.NewLatency()}
	begun := time.Now()
	for range n {
		one := time.Now()
		if _, err := f.Write(record); err != nil {
			return s, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return s, err
		}
		load.Record(s.latency, int64(time.Since(one)))
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
	}
	s.elapsed = time.Since(begun)
	return s, nil
}
