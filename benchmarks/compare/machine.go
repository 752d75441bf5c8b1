package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// fact is something about the machine or the software, for people.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// machine is what the comparison ran on.
type machine struct {
	Facts  []fact `json:"facts"`
	Limits []fact `json:"limits"` // what the machine and the client library can do without any broker
}

// describe reads it from the system and measures the limits.
func describe(ctx context.Context, l *lab) (machine, error) {
	var m machine
	for _, f := range []struct {
		name string
		read func() (string, error)
	}{
		{"processor", func() (string, error) { return labelled("/proc/cpuinfo", "model name") }},
		{"processors", func() (string, error) { return fmt.Sprint(runtime.NumCPU()), nil }},
		{"memory", func() (string, error) { return labelled("/proc/meminfo", "MemTotal") }},
		{"kernel", func() (string, error) { return firstLine(os.ReadFile("/proc/sys/kernel/osrelease")) }},
		{"file system", func() (string, error) { return fileSystem(l.dataDir) }},
		{"load before", func() (string, error) { return firstLine(os.ReadFile("/proc/loadavg")) }},
		{"Go", func() (string, error) { return runtime.Version(), nil }},
		{"mq9", func() (string, error) { return says(ctx, l.mq9, "version") }},
		{"nats-server", func() (string, error) { return says(ctx, l.nats, "--version") }},
		{"redis-server", func() (string, error) { return says(ctx, l.redis, "--version") }},
		{"nats.go", func() (string, error) { return module("github.com/nats-io/nats.go"), nil }},
	} {
		value, err := f.read()
		if err != nil {
			return m, fmt.Errorf("%s: %w", f.name, err)
		}
		m.Facts = append(m.Facts, fact{f.name, value})
	}
	var err error
	m.Limits, err = limits(ctx, l)
	return m, err
}

// labelled is the first value of a label in a file of /proc.
func labelled(file, label string) (string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // one of /proc
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == label {
			return strings.TrimSpace(value), nil
		}
	}
	return "unknown", nil // not every architecture tells
}

func firstLine(text []byte, err error) (string, error) {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return string(line), err
}

// says is the first line that a program prints.
func says(ctx context.Context, name string, args ...string) (string, error) {
	return firstLine(exec.CommandContext(ctx, name, args...).Output()) //nolint:gosec // one of the servers
}

// fileSystem is what the data are on.
func fileSystem(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", err
	}
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.TMPFS_MAGIC: "tmpfs: nothing durable is measured",
	}
	if name, known := names[s.Type]; known {
		return name, nil
	}
	return fmt.Sprintf("type %#x", s.Type), nil
}

// module is the version of a module that this program is built with.
func module(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "unknown"
}
