package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// process is a server on a loopback port with a directory of its own. It belongs to the goroutine of the runner; dial and cpu may
// be called from any.
type process struct {
	name, addr, dir string                      // immutable
	command         func() *exec.Cmd            // how it is run
	ready           func(context.Context) error // nil when it serves

	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended

	box  load.Mailbox // the mailbox that the side works with, if it does
	idle []*nats.Conn // connections that do nothing, closed at the end
}

// startWait bounds how long a server may take until it serves, and stopWait until it has ended when it was asked to.
const (
	startWait = time.Minute
	stopWait  = 10 * time.Second
)

// newProcess makes the directory and finds a port. Nothing runs yet.
func newProcess(l *lab, name string) (*process, error) {
	dir, err := os.MkdirTemp(l.dataDir, name+"-")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	p := &process{name: name, addr: addr, dir: dir}
	p.ready = func(context.Context) error {
		nc, err := p.dial()
		if err == nil {
			nc.Close()
		}
		return err
	}
	return p, err
}

// freeAddr is a loopback address that nothing listens on.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (p *process) log() string { return filepath.Join(p.dir, "log") }

// run starts the server and returns when it serves.
func (p *process) run(ctx context.Context) error {
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own
	cmd, exited := p.command(), make(chan struct{})
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.exited = cmd, exited
	go func() {
		defer close(exited)
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
	}()
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	ask := time.NewTicker(5 * time.Millisecond)
	defer ask.Stop()
	for {
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("%s ended (%v) instead of serving: %s", p.name, cmd.ProcessState, p.lastWords())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not serve: %w: %s", p.name, err, p.lastWords()), p.end(syscall.SIGKILL))
		case <-ask.C:
		}
	}
}

// lastWords is the end of what the server logged.
func (p *process) lastWords() string {
	const enough = 600
	text, err := os.ReadFile(p.log())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-enough):])
}

// end sends a signal and waits until the process has ended.
func (p *process) end(signal syscall.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-p.exited:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s goes on after %v", p.name, signal)
	}
}

// remove ends the server at once and deletes what it left.
func (p *process) remove() error {
	for _, nc := range p.idle {
		nc.Close()
	}
	return errors.Join(p.end(syscall.SIGKILL), os.RemoveAll(p.dir))
}

// restart ends the server in good order, lets the system forget what it has read of its files, and runs it again: nothing of the
// data is in memory then.
func (p *process) restart(ctx context.Context) error {
	if err := p.end(syscall.SIGTERM); err != nil {
		return err
	}
	if err := filepath.WalkDir(p.dir, evict); err != nil {
		return err
	}
	return p.run(ctx)
}

// evict drops a file from the page cache.
func evict(path string, d os.DirEntry, err error) error {
	if err != nil || !d.Type().IsRegular() {
		return err
	}
	f, err := os.Open(path) //nolint:gosec // a file of a directory that we made
	if err != nil {
		return err
	}
	err = f.Sync() // dirty pages stay
	return errors.Join(err, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
}

// dial connects a client.
func (p *process) dial() (*nats.Conn, error) {
	return nats.Connect("nats://"+p.addr, nats.NoReconnect(), nats.Timeout(stopWait))
}

// cpu is the time of processors that the process has taken: user and system, as /proc/PID/stat has it, but from the kernel's clock of the
// process, which counts nanoseconds where the file counts hundredths of a second.
func (p *process) cpu() (time.Duration, error) {
	const sched = 2 // the clock of all threads' running time
	id := int32(^p.cmd.Process.Pid<<3 | sched)
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0, fmt.Errorf("the processor time of %s: %w", p.name, err)
	}
	return time.Duration(t.Nano()), nil
}
