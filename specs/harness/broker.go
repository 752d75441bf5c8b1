package harness

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// startTimeout bounds how long a broker may take to answer on /readyz; the race detector and a loaded machine are included.
const startTimeout = 60 * time.Second

// Broker is one mq9 process with its data directory. The process changes on Restart, the addresses and the data stay.
type Broker struct {
	Binary  string
	Addr    string // where clients connect, host:port
	HTTP    string // where /healthz and /readyz answer, host:port
	DataDir string
	Flags   []string // besides the addresses and the data directory
	Env     []string // besides what the suite has, NAME=value
	Root    string   // the directory that is / to the process, if any; Binary and DataDir are paths in it

	cmd     *exec.Cmd
	exited  chan struct{} // closed when cmd has been waited for
	logPath string
	checked int64 // how much of the log CheckLog has seen
}

// NewBroker prepares a broker of the given binary with a data directory and loopback ports of its own. It starts nothing.
// Each parallel process of the suite has a loopback address to itself, so that no other can take a port while a broker restarts.
func NewBroker(binary, dir string, flags ...string) *Broker {
	GinkgoHelper()
	host := fmt.Sprintf("127.0.0.%d", 1+GinkgoParallelProcess())
	return &Broker{
		Binary: binary, Addr: FreeAddr(host), HTTP: FreeAddr(host), Flags: flags,
		DataDir: filepath.Join(dir, "data"), logPath: filepath.Join(dir, "broker.log"),
	}
}

// given are the addresses that FreeAddr has returned.
var given sync.Map

// FreeAddr returns a loopback address with a port that nothing listens on, and none that it has returned before: the system may offer a
// port twice as long as nobody uses it.
func FreeAddr(host string) string {
	GinkgoHelper()
	for {
		l, err := net.Listen("tcp", host+":0")
		Expect(err).NotTo(HaveOccurred())
		defer func() { Expect(l.Close()).To(Succeed()) }() // not before there is another
		if _, again := given.LoadOrStore(l.Addr().String(), true); !again {
			return l.Addr().String()
		}
	}
}

// StartBroker starts a broker for the running spec alone; it is stopped, and its log checked, when the spec ends.
func StartBroker(binary string, flags ...string) *Broker {
	GinkgoHelper()
	b := NewBroker(binary, GinkgoT().TempDir(), flags...)
	DeferCleanup(func() {
		b.Kill()
		b.CheckLog()
	})
	b.Start()
	return b
}

// Command is the command line that Start runs.
func (b *Broker) Command() *exec.Cmd {
	args := append([]string{"serve", "--listen", b.Addr, "--http", b.HTTP, "--data-dir", b.DataDir}, b.Flags...)
	cmd := exec.Command(b.Binary, args...)
	if len(b.Env) > 0 {
		cmd.Env = append(os.Environ(), b.Env...)
	}
	if b.Root != "" {
		Confine(cmd, b.Root)
	}
	return cmd
}

// Start runs the broker and waits until it is ready.
func (b *Broker) Start() {
	GinkgoHelper()
	log, err := os.OpenFile(b.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Expect(err).NotTo(HaveOccurred())
	cmd, exited := b.Command(), make(chan struct{})
	cmd.Stdout, cmd.Stderr = log, log
	if b.Root == "" {
		cmd.Dir = filepath.Dir(b.logPath)
	}
	Expect(cmd.Start()).To(Succeed())
	b.cmd, b.exited = cmd, exited
	go func() {
		defer close(exited)
		// How it ended is read from cmd.ProcessState; a kill is no failure of the wait.
		if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			fmt.Fprintln(GinkgoWriter, "waiting for the broker:", err)
		}
		_ = log.Close()
	}()
	b.AwaitReady()
}

// AwaitReady waits until the broker answers that it is ready.
func (b *Broker) AwaitReady() {
	GinkgoHelper()
	Eventually(b.ready).WithTimeout(startTimeout).WithPolling(20*time.Millisecond).
		Should(BeTrue(), func() string { return "the broker is not ready; its log:\n" + b.Log() })
}

func (b *Broker) ready() (bool, error) {
	select {
	case <-b.exited:
		return false, StopTrying("the broker exited: " + b.cmd.ProcessState.String() + "\n" + b.Log())
	default:
	}
	resp, err := http.Get("http://" + b.HTTP + "/readyz")
	if err != nil {
		return false, nil //nolint:nilerr // nothing listens yet: ask again
	}
	return resp.StatusCode == http.StatusOK, resp.Body.Close()
}

// Kill ends the process with SIGKILL, if it runs, and waits for its end.
func (b *Broker) Kill() {
	GinkgoHelper()
	if b.cmd == nil {
		return
	}
	if err := b.cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		Expect(err).NotTo(HaveOccurred())
	}
	Eventually(b.exited).WithTimeout(10 * time.Second).Should(BeClosed())
}

// Terminate sends SIGTERM without waiting.
func (b *Broker) Terminate() {
	GinkgoHelper()
	Expect(b.cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
}

// Signal sends a signal.
func (b *Broker) Signal(s syscall.Signal) {
	GinkgoHelper()
	Expect(b.cmd.Process.Signal(s)).To(Succeed())
}

// Exited is closed when the process of the last Start has ended.
func (b *Broker) Exited() <-chan struct{} { return b.exited }

// ExitCode is how the process ended. It may be asked when Exited is closed; -1 means by a signal.
func (b *Broker) ExitCode() int { return b.cmd.ProcessState.ExitCode() }

// Stop ends the broker as an operator does, with SIGTERM, and checks that it leaves with 0 within the promised 5 s.
func (b *Broker) Stop() {
	GinkgoHelper()
	b.Terminate()
	Eventually(b.exited).WithTimeout(5*time.Second).Should(BeClosed(), "SIGTERM ends the broker within 5 s")
	Expect(b.ExitCode()).To(BeZero(), b.Log)
}

// Restart kills the broker and starts it again on the same data and the same addresses.
func (b *Broker) Restart() {
	GinkgoHelper()
	b.Kill()
	b.Start()
}

// Memory is the resident memory of the process, in bytes.
func (b *Broker) Memory() int {
	GinkgoHelper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", b.cmd.Process.Pid))
	Expect(err).NotTo(HaveOccurred())
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	Expect(err).NotTo(HaveOccurred())
	return pages * os.Getpagesize()
}

// PeakMemory is the most resident memory that the process has had, in bytes.
func (b *Broker) PeakMemory() int {
	GinkgoHelper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	Expect(err).NotTo(HaveOccurred())
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	Expect(found).To(BeTrue())
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	Expect(err).NotTo(HaveOccurred())
	return kib << 10
}

// Log is everything the broker has written so far.
func (b *Broker) Log() string {
	text, err := os.ReadFile(b.logPath)
	if err != nil {
		return "no log: " + err.Error()
	}
	return string(text)
}

// uuid matches what every private mail_id looks like. The broker has no business to log one, whosever it is (kind 35 of the fault kinds).
var uuid = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// trouble matches what a healthy broker never writes.
var trouble = regexp.MustCompile(`(?i)DATA RACE|panic|fatal error|SIGABRT|assertion`)

// CheckLog fails the spec if what was logged since the last check shows a race, a panic, or a private mail_id; after a failed
// spec it prints that part of the log.
func (b *Broker) CheckLog() {
	GinkgoHelper()
	text, err := os.ReadFile(b.logPath)
	if err != nil {
		return // never started
	}
	recent := string(text[min(b.checked, int64(len(text))):])
	b.checked = int64(len(text))
	if CurrentSpecReport().Failed() {
		fmt.Fprintf(GinkgoWriter, "--- log of the broker on %s ---\n%s---\n", b.Addr, recent)
	}
	Expect(trouble.FindString(recent)).To(BeEmpty(), "the broker is unwell:\n%s", recent)
	Expect(uuid.FindString(recent)).To(BeEmpty(), "a private mail_id is in the log:\n%s", recent)
}

// Hangup sends SIGHUP without waiting.
func (b *Broker) Hangup() {
	GinkgoHelper()
	Expect(b.cmd.Process.Signal(syscall.SIGHUP)).To(Succeed())
}

// Reload has the broker read its configuration again, and waits until it has taken it over.
func (b *Broker) Reload() {
	GinkgoHelper()
	const done = "the configuration is reloaded"
	before := strings.Count(b.Log(), done)
	b.Hangup()
	Eventually(func() int { return strings.Count(b.Log(), done) }).Should(Equal(before+1), b.Log)
}
