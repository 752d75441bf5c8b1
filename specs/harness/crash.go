package harness

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Launch runs the broker without waiting for anything: it may be killed before it is ready, or may refuse to start. Exited tells
// of its end.
func (b *Broker) Launch() {
	GinkgoHelper()
	log, err := os.OpenFile(b.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Expect(err).NotTo(HaveOccurred())
	cmd, exited := b.Command(), make(chan struct{})
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = filepath.Dir(b.logPath)
	Expect(cmd.Start()).To(Succeed())
	Expect(log.Close()).To(Succeed()) // the process has its own
	b.cmd, b.exited = cmd, exited
	go func() {
		defer close(exited)
		_ = cmd.Wait() // how it ended is read from ProcessState
	}()
}

// PID is the process of the last Start or Launch.
func (b *Broker) PID() int { return b.cmd.Process.Pid }

// Ready reports whether the broker answers on /readyz that it should get traffic.
func (b *Broker) Ready() bool {
	ready, err := b.ready()
	return ready && err == nil
}
