package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// startMQ9 runs the broker in its default configuration but for the given flags.
func startMQ9(flags ...string) starter {
	return func(ctx context.Context, l *lab) (*process, error) {
		p, err := newProcess(l, "mq9")
		if err != nil {
			return nil, err
		}
		http, err := freeAddr()
		if err != nil {
			return nil, err
		}
		args := append([]string{"serve", "--listen", p.addr, "--http", http, "--data-dir", filepath.Join(p.dir, "data")}, flags...)
		p.command = func() *exec.Cmd { return exec.Command(l.mq9, args...) } //nolint:gosec // whoever runs the comparison names the binary
		return p, p.run(ctx)
	}
}

// startNATS runs a nats-server with a configuration besides its address. %s in it is its directory.
func startNATS(config string) starter {
	return func(ctx context.Context, l *lab) (*process, error) {
		p, err := newProcess(l, "nats")
		if err != nil {
			return nil, err
		}
		file := filepath.Join(p.dir, "nats.conf")
		text := "listen: " + p.addr + "\n"
		if config != "" {
			text += fmt.Sprintf(config, filepath.Join(p.dir, "data"))
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		p.command = func() *exec.Cmd { return exec.Command(l.nats, "-c", file) } //nolint:gosec // as above
		return p, p.run(ctx)
	}
}

// startRedis runs a redis-server that syncs each write and keeps no snapshots.
func startRedis(ctx context.Context, l *lab) (*process, error) {
	p, err := newProcess(l, "redis")
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(p.addr)
	if err != nil {
		return nil, err
	}
	p.command = func() *exec.Cmd {
		return exec.Command(l.redis, "--bind", host, "--port", port, "--dir", p.dir, //nolint:gosec // as above
			"--appendonly", "yes", "--appendfsync", "always", "--save", "")
	}
	p.ready = func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return p, p.run(ctx)
}
