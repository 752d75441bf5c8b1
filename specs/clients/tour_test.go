package clients_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// step is one command of the tour and what the README says it prints.
type step struct{ command, output string }

// tour reads the commands and outputs of the console blocks of one section of the README.
func tour(section string) []step {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(harness.Root(), "README.md"))
	Expect(err).NotTo(HaveOccurred())
	_, rest, found := strings.Cut(string(text), "\n## "+section+"\n")
	Expect(found).To(BeTrue(), "README.md has no section %q", section)
	body, _, _ := strings.Cut(rest, "\n## ")
	var steps []step
	inside := false
	for line := range strings.Lines(body) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```console")
		case !inside:
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, step{command: strings.TrimSpace(line[2:])})
		default:
			Expect(steps).NotTo(BeEmpty(), "the console block begins with an output")
			steps[len(steps)-1].output += line
		}
	}
	Expect(steps).NotTo(BeEmpty())
	return steps
}

// masks hide what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	mask    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), "<mail_id>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`"ts":\d+`), `"ts":<seconds>`},
	{regexp.MustCompile(`\b0[0-9a-v]{12}\b`), "<msg_id>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "<clock>"},
	{regexp.MustCompile(`\d+(\.\d+)?(ms|µs|s)\b`), "<duration>"},
}

// masked hides what differs from run to run, trailing blanks, the order of header lines, which the nats command does not keep,
// when it says that it listens, since messages may come sooner, and what its error handler may say before it ends with the same words.
func masked(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.mask)
	}
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if !strings.Contains(line, ">>> Unexpected NATS error") {
			lines = append(lines, strings.TrimRight(line, " \r\n"))
		}
	}
	listens := func(line string) bool { return strings.HasPrefix(line, "<clock> Listening on ") }
	if i := slices.IndexFunc(lines, listens); i > 0 {
		line := lines[i]
		lines = slices.Insert(slices.Delete(lines, i, i+1), 0, line)
	}
	isHeader := func(line string) bool { return strings.HasPrefix(strings.TrimPrefix(line, "<clock> "), "Mq9-") }
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && isHeader(lines[to]) {
			to++
		}
		slices.Sort(lines[from:to])
		from = max(from, to-1)
	}
	return strings.Join(lines, "\n")
}

var _ = It("The README's tour prints what the README says", func() {
	own := harness.StartBroker(harness.BuildBroker())
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	// One shell for the whole tour: later commands use the variables of earlier ones.
	bash := exec.CommandContext(ctx, "bash")
	bash.Env = environment(own.Addr)
	in, err := bash.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	out, err := bash.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(bash.Start()).To(Succeed())
	_, err = io.WriteString(in, "exec 2>&1\n")
	Expect(err).NotTo(HaveOccurred())

	const end = "--- end of output ---"
	read := bufio.NewReader(out)
	for _, s := range tour("Five minutes") {
		_, err := fmt.Fprintf(in, "%s </dev/null\necho; echo '%s'\n", s.command, end)
		Expect(err).NotTo(HaveOccurred())
		var got strings.Builder
		for {
			line, err := read.ReadString('\n')
			Expect(err).NotTo(HaveOccurred(), "%s printed %s", s.command, &got)
			if strings.TrimSpace(line) == end {
				break
			}
			got.WriteString(line)
		}
		Expect(masked(got.String())).To(Equal(masked(s.output)), "$ %s\n%s", s.command, &got)
	}
	Expect(in.Close()).To(Succeed())
	Expect(bash.Wait()).To(Succeed())
})
