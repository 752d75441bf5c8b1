package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// execution is what became of a command of watch --exec, and what --json prints of it.
type execution struct {
	MsgID    string `json:"msg_id"`
	Priority string `json:"priority"`
	ExitCode int    `json:"exit_code"` // -1 when a signal ended it or it could not be started
	Deleted  bool   `json:"deleted"`
	Millis   int64  `json:"milliseconds"`
}

// execute runs a shell command with the payload of a message on its standard input, and waits for its end. The error says
// why it failed. The command is a process group of its own, so that Ctrl-C at a terminal does not reach it: it may finish what
// it does. When ctx ends, the group is killed.
func execute(ctx context.Context, command string, m *message, stdout, stderr io.Writer) (execution, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command) //nolint:gosec // running what the user says is what it is for
	cmd.Stdin = bytes.NewReader(m.payload)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Env = append(os.Environ(), m.environment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for what it has left behind with its standard input open
	begun := time.Now()
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well and did not care to read everything
	}
	e := execution{MsgID: m.id.String(), Priority: m.priority.String(), ExitCode: -1, Millis: time.Since(begun).Milliseconds()}
	if cmd.ProcessState != nil {
		e.ExitCode = cmd.ProcessState.ExitCode()
	}
	return e, err
}
