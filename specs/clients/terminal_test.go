package clients_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// sessionTimeout bounds a whole session.
const sessionTimeout = 8 * time.Minute

// terminal is a shell in which the sessions of a document are typed, with a home of its own. The addresses that the documents name, which are
// the defaults, stand for those of the spec's broker.
type terminal struct {
	home    string
	ins     *strings.Replacer // from what a document says to what holds here
	outs    *strings.Replacer // and back
	in      io.WriteCloser
	out     *bufio.Reader
	process *exec.Cmd
}

// openTerminal starts the shell; it and all that it started end with the spec. A broker that is started in it listens at addr and http.
func openTerminal(addr, http string) *terminal {
	GinkgoHelper()
	home, err := filepath.EvalSymlinks(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	bin := GinkgoT().TempDir()
	program := harness.BuildBroker()
	Expect(os.Symlink(program, filepath.Join(bin, "mq9"))).To(Succeed())

	const clients, admin = "127.0.0.1:4222", "127.0.0.1:8222"
	t := &terminal{
		home: home,
		ins:  strings.NewReplacer(clients, addr, admin, http),
		outs: strings.NewReplacer(addr, clients, http, admin, home, "/home/you"),
	}
	// Its commands come from a pipe of their own, so that no command takes the next ones for its input.
	commands, in, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	t.in = in
	t.process = exec.Command("bash", "/dev/fd/3")
	t.process.ExtraFiles = []*os.File{commands}
	t.process.Dir = harness.Root()
	t.process.Env = append(environment(addr), "HOME="+home, "MQ9="+program, "MQ9_LISTEN="+addr, "MQ9_HTTP="+http)
	t.process.Env = append(t.process.Env, "PATH="+bin+string(os.PathListSeparator)+natsIn+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := t.process.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	t.out = bufio.NewReader(out)
	Expect(t.process.Start()).To(Succeed())
	Expect(commands.Close()).To(Succeed())
	overdue := time.AfterFunc(sessionTimeout, t.hangUp)
	DeferCleanup(func() {
		overdue.Stop()
		t.hangUp()
		Expect(in.Close()).To(Succeed())
		if err := t.process.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			Expect(err).NotTo(HaveOccurred())
		}
	})
	t.types("exec 2>&1")
	return t
}

// hangUp ends the shell and all that runs in it.
func (t *terminal) hangUp() { _ = syscall.Kill(-t.process.Process.Pid, syscall.SIGKILL) } // no such process: it has ended

// types runs one command and returns what it printed.
func (t *terminal) types(command string) string {
	GinkgoHelper()
	const end = "--- end of output ---"
	_, err := fmt.Fprintf(t.in, "%s\necho; echo '%s'\n", strings.TrimRight(t.ins.Replace(command), "\n"), end)
	Expect(err).NotTo(HaveOccurred())
	var got strings.Builder
	for {
		line, err := t.out.ReadString('\n')
		Expect(err).NotTo(HaveOccurred(), "%s\ndid not end in time; it printed %s", command, &got)
		if strings.TrimSpace(line) == end {
			return t.outs.Replace(got.String())
		}
		got.WriteString(line)
	}
}

// shows runs the commands of a console block, which must print what it says.
func (t *terminal) shows(console string) {
	GinkgoHelper()
	for _, s := range stepsOf(console) {
		got := t.types(s.command)
		Expect(masked(got)).To(Equal(masked(s.output)), "$ %s%s", s.command, got)
	}
}
