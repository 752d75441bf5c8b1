package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	bin := flag.String("bin", "bin/mq9", "the mq9 `binary`")
	out := flag.String("out", "frontend/admin/page/screenshots", "`directory` for the pictures")
	wait := flag.Duration("for", 100*time.Second, "how long the charts fill before the pictures are taken")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bin, *out, *wait); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		stop()
		os.Exit(1) //nolint:gocritic // what was deferred is done
	}
}

// run makes the pictures.
func run(ctx context.Context, bin, out string, wait time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "mq9-screenshots-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	clients, web, end, err := startBroker(ctx, bin, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	crowd, err := gather(ctx, clients)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, crowd.disperse()) }()
	return shoot(ctx, "http://"+web+"/", crowd.secret, out, wait)
}

// startBroker runs a broker until end is called.
func startBroker(ctx context.Context, bin, dir string) (clients, web string, end func() error, err error) {
	clients, err = freeAddr()
	if err != nil {
		return "", "", nil, err
	}
	if web, err = freeAddr(); err != nil {
		return "", "", nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return "", "", nil, err
	}
	cmd := exec.Command(bin, "serve", "--listen", clients, "--http", web, "--data-dir", filepath.Join(dir, "data"),
		"--max-mailboxes", "1000", "--max-connections", "64", "--max-memory", "512MB")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return "", "", nil, errors.Join(err, log.Close())
	}
	end = func() error {
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait(), log.Close())
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !ready(ctx, web) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", "", nil, errors.Join(ctx.Err(), end())
		case <-limit:
			return "", "", nil, errors.Join(errors.New("the broker is not ready"), end())
		}
	}
	return clients, web, end, nil
}

// ready asks once.
func ready(ctx context.Context, web string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+web+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// freeAddr returns a loopback address with a port that nothing listens on.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
