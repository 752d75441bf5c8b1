package specs_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	"github.com/mq9-broker/broker/specs/harness"
)

// Exit codes of the client commands, as `mq9 help exit-codes` has them.
const (
	exitOK          = 0
	exitUsage       = 2
	exitRefused     = 3
	exitUnreachable = 4
	exitCommand     = 5
)

// shell is where commands are typed: an environment, with a home directory of its own, and perhaps a standard input.
type shell struct {
	env []string
	in  io.Reader
}

// at is a shell whose NATS_URL names a broker.
func at(b *harness.Broker) shell {
	GinkgoHelper()
	return shell{env: []string{"NATS_URL=nats://" + b.Addr}}
}

// with is the same shell with more in its environment.
func (s shell) with(env ...string) shell {
	s.env = append(append([]string(nil), s.env...), env...)
	return s
}

// typing is the same shell with something on the standard input of its commands.
func (s shell) typing(text string) shell {
	s.in = strings.NewReader(text)
	return s
}

// start runs mq9 without waiting for its end; it is killed, if it still runs, when the spec ends.
func (s shell) start(args ...string) *gexec.Session {
	GinkgoHelper()
	return s.startOther(program, args...)
}

// startOther does the same with any program.
func (s shell) startOther(name string, args ...string) *gexec.Session {
	GinkgoHelper()
	cmd := exec.Command(name, args...)
	home := GinkgoT().TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, s.env...)
	cmd.Stdin = s.in
	session, err := gexec.Start(cmd, nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait() })
	return session
}

// run runs mq9 to its end and returns its exit code, what it printed, and its complaints.
func (s shell) run(args ...string) (code int, stdout, stderr string) {
	GinkgoHelper()
	session := s.start(args...).Wait(requestTimeout)
	return session.ExitCode(), string(session.Out.Contents()), string(session.Err.Contents())
}

// prints runs mq9, which must succeed without a word of complaint, and returns what it printed, without the last line feed.
func (s shell) prints(args ...string) string {
	GinkgoHelper()
	code, stdout, stderr := s.run(args...)
	Expect(code).To(Equal(exitOK), stderr)
	Expect(stderr).To(BeEmpty())
	return strings.TrimSuffix(stdout, "\n")
}

// fails runs mq9, which must end with an exit code and one line of complaint, and returns the line.
func (s shell) fails(code int, args ...string) string {
	GinkgoHelper()
	got, stdout, stderr := s.run(args...)
	Expect(got).To(Equal(code), "mq9 %s: %s", strings.Join(args, " "), stderr)
	Expect(stdout).To(BeEmpty())
	line := strings.TrimSuffix(stderr, "\n")
	Expect(line).To(And(HavePrefix("mq9: "), Not(ContainSubstring("\n"))))
	return line
}

// objects decodes output of --json: one object a line.
func objects(output string) []map[string]any {
	GinkgoHelper()
	var all []map[string]any
	for line := range strings.Lines(output) {
		var o map[string]any
		Expect(json.Unmarshal([]byte(line), &o)).To(Succeed(), line)
		all = append(all, o)
	}
	return all
}

// object decodes output of --json that is one line.
func object(output string) map[string]any {
	GinkgoHelper()
	all := objects(output)
	Expect(all).To(HaveLen(1))
	return all[0]
}
