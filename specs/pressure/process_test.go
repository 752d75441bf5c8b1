package pressure_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The environment that makes this binary do a job.
const (
	jobVariable  = "MQ9_SPEC_JOB"
	addrVariable = "MQ9_SPEC_ADDR"
	boxVariable  = "MQ9_SPEC_MAILBOX"
)

// process is a client in a process of its own: this test binary doing a job. It tells what it does in lines.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and all of its lines are here

	mu    sync.Mutex
	lines []string // guarded by mu
}

// launch starts a job with a broker and a mailbox. The process is killed when the spec ends, if not before.
func launch(job, addr, mailbox string) *process {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	p := &process{cmd: exec.Command(self), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), jobVariable+"="+job, addrVariable+"="+addr, boxVariable+"="+mailbox)
	p.cmd.Stderr = GinkgoWriter
	out, err := p.cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(p.cmd.Start()).To(Succeed())
	go func() {
		defer close(p.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.mu.Lock()
			p.lines = append(p.lines, lines.Text())
			p.mu.Unlock()
		}
		_ = p.cmd.Wait() // it is killed more often than not
	}()
	DeferCleanup(p.kill)
	return p
}

// said returns the lines so far.
func (p *process) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// count is how many lines there are.
func (p *process) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines)
}

// kill ends the process at once, if it lives, and waits until all that it said is known.
func (p *process) kill() {
	GinkgoHelper()
	if err := p.cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		Expect(err).NotTo(HaveOccurred())
	}
	Eventually(p.done).Should(BeClosed())
}

// stop halts the process and waits until the system has halted it.
func (p *process) stop() {
	GinkgoHelper()
	Expect(p.cmd.Process.Signal(syscall.SIGSTOP)).To(Succeed())
	Eventually(func() string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		Expect(err).NotTo(HaveOccurred())
		_, after, _ := strings.Cut(string(text), ") ")
		return after[:1]
	}).Should(Equal("T"))
}

// goOn ends a stop.
func (p *process) goOn() {
	GinkgoHelper()
	Expect(p.cmd.Process.Signal(syscall.SIGCONT)).To(Succeed())
}
