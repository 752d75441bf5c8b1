package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asMQ9 makes the test binary be mq9, so that the tests see what a shell sees.
const asMQ9 = "MQ9_TEST_IS_MQ9"

func TestMain(m *testing.M) {
	if os.Getenv(asMQ9) != "" {
		main()
	}
	os.Exit(m.Run())
}

func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asMQ9+"=1")
	return cmd
}

// mq9 runs a command line to its end.
func mq9(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	free := []string{"--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", t.TempDir()}
	serve := func(args ...string) []string { return append(append([]string{"serve"}, free...), args...) }
	for _, c := range []struct {
		name string
		args []string
		code int
		want []string // in the one line on standard error
	}{
		{"unknown command", []string{"sevre"}, exitUsage, []string{`unknown command "sevre"`}},
		{"unknown flag", []string{"serve", "--foo"}, exitUsage, []string{"unknown flag: --foo"}},
		{"argument", []string{"serve", "foo"}, exitUsage, []string{`unexpected argument "foo"`}},
		{"flag without a value", []string{"serve", "--listen"}, exitUsage, []string{"--listen"}},
		{
			"every bad value at once",
			[]string{
				"serve", "--listen", "x", "--http", "1:2:3", "--sync", "often", "--delivery", "post",
				"--log-level", "INFO+1", "--log-format", "xml", "--data-dir", "", "--nats-config", "/nonexistent",
			},
			exitUsage,
			[]string{"--listen", "--http", "--sync", "--delivery", "--log-level", "--log-format", "--data-dir", "--nats-config"},
		},
		{"port in use", serve("--listen", taken.Addr().String()), exitFailed, []string{"cannot listen for clients", taken.Addr().String()}},
		{"health port in use", serve("--http", taken.Addr().String()), exitFailed, []string{"cannot listen for health checks"}},
		{"data directory is a file", serve("--data-dir", file), exitFailed, []string{file}},
		{"nats configuration is broken", serve("--nats-config", file), exitFailed, []string{"nats configuration", file}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := mq9(t, c.args...)
			if code != c.code || stdout != "" {
				t.Errorf("exit code %d (want %d), output %q", code, c.code, stdout)
			}
			line, rest, ended := strings.Cut(stderr, "\n")
			if !ended || rest != "" || !strings.HasPrefix(line, "mq9: ") {
				t.Errorf("not one line: %q", stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(line, want) {
					t.Errorf("%q does not say %q", line, want)
				}
			}
		})
	}
	if code, stdout, _ := mq9(t, "version"); code != 0 || !strings.HasPrefix(stdout, "mq9 dev (go") {
		t.Errorf("version: %d, %q", code, stdout)
	}
}

func TestServe(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(format+" "+signal.String(), func(t *testing.T) { serveUntil(t, format, signal) })
		}
	}
}

// begin runs a broker and waits until it is ready. lines is what it says afterwards, address where it answers over HTTP. It is killed, if it still
// runs, when the test ends, or after a minute.
func begin(t *testing.T, dir string, flags ...string) (cmd *exec.Cmd, lines *bufio.Scanner, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd = command(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", dir}, flags...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines = bufio.NewScanner(stderr)
	if !lines.Scan() || !strings.Contains(lines.Text(), "ready") {
		t.Fatalf("the first line is %q", lines.Text())
	}
	_, address, _ = strings.Cut(lines.Text(), "http://")
	address, _, _ = strings.Cut(address, "/")
	return cmd, lines, address
}

// serveUntil runs a broker up to its readiness, finds its data directory locked, and ends it with a signal.
func serveUntil(t *testing.T, format string, signal os.Signal) {
	dir := t.TempDir()
	cmd, lines, address := begin(t, dir, "--log-format", format)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", response.Status, err)
	}
	if code, _, said := mq9(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", dir); code != exitFailed || strings.Count(said, "\n") != 1 {
		t.Errorf("a second broker on the same data: %d, %q", code, said)
	}
	begun := time.Now()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if err := cmd.Wait(); err != nil || len(rest) != 2 || time.Since(begun) > 5*time.Second {
		t.Fatalf("%v after %v; it said %q", err, time.Since(begun), rest)
	}
}
