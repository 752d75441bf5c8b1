package clients_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// commandTimeout bounds one command; none of them waits for anything that does not come.
const commandTimeout = 30 * time.Second

// environment lets commands find the nats command and the broker, and keeps them away from the user's own settings.
func environment(server string) []string {
	GinkgoHelper()
	return append(os.Environ(),
		"PATH="+natsIn+string(os.PathListSeparator)+os.Getenv("PATH"),
		"NATS_URL=nats://"+server, "XDG_CONFIG_HOME="+GinkgoT().TempDir(), "HOME="+GinkgoT().TempDir())
}

// shell runs a line as one would type it, and returns what it printed and its exit code.
func shell(line string) (output string, code int) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Env = environment(broker.Addr)
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(ctx.Err()).NotTo(HaveOccurred(), "%s did not end; it printed:\n%s", line, out)
	return string(out), cmd.ProcessState.ExitCode()
}

// typed runs a line that must succeed and returns what it printed.
func typed(line string) string {
	GinkgoHelper()
	out, code := shell(line)
	Expect(code).To(BeZero(), "%s\n%s", line, out)
	return out
}
