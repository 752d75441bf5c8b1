package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// broker is a broker process on loopback with a data directory of its own. It belongs to one goroutine.
type broker struct {
	binary, dir, addr, http string
	cmd                     *exec.Cmd
}

func newBroker(binary string) (*broker, error) {
	dir, err := os.MkdirTemp("", "mq9-scale-")
	if err != nil {
		return nil, err
	}
	b := &broker{binary: binary, dir: dir}
	for _, addr := range []*string{&b.addr, &b.http} {
		if *addr, err = freeAddr(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// freeAddr is a loopback address that nothing listens on.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// start runs the process and returns when it is ready.
func (b *broker) start() error {
	b.cmd = exec.Command(b.binary, "serve", "--listen", b.addr, "--http", b.http, "--data-dir", b.dir, "--log-level", "error") //nolint:gosec // the caller names the binary
	b.cmd.Env = append(os.Environ(), "GOGC=25")
	b.cmd.Stderr = os.Stderr
	if err := b.cmd.Start(); err != nil {
		return err
	}
	const patience = 2 * time.Minute
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if b.ready() {
			return nil
		}
	}
	return errors.Join(errors.New("the broker did not become ready"), b.kill())
}

func (b *broker) ready() bool {
	resp, err := http.Get("http://" + b.http + "/readyz")
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// kill ends the process at once.
func (b *broker) kill() error {
	if err := b.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	if err := b.cmd.Wait(); b.cmd.ProcessState == nil {
		return err
	}
	return nil
}

// remove ends the process and deletes its data.
func (b *broker) remove() error { return errors.Join(b.kill(), os.RemoveAll(b.dir)) }

// memory is the process's resident set, bytes, after it has had time to collect garbage.
func (b *broker) memory() (int64, error) {
	const settle = 3 * time.Second
	time.Sleep(settle)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmRSS in the process's status")
}

// grown reports what each of n things cost since the memory was before.
func (b *broker) grown(what string, before int64, n int) error {
	after, err := b.memory()
	if err != nil {
		return err
	}
	fmt.Printf("%-14s %9d  %7.0f bytes each  (resident %d MiB)\n", what, n, float64(after-before)/float64(n), after>>20)
	return nil
}
