package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// consoles matches the console blocks of Markdown.
var consoles = regexp.MustCompile("(?ms)^```console\n(.*?)^```")

var _ = It("The README's tour prints what the README says", func() {
	text, err := os.ReadFile(filepath.Join(harness.Root(), "README.md"))
	Expect(err).NotTo(HaveOccurred())
	_, rest, found := strings.Cut(string(text), "\n## Five minutes\n")
	Expect(found).To(BeTrue())
	section, _, _ := strings.Cut(rest, "\n## ")

	own := harness.StartBroker(harness.BuildBroker())
	shell := openTerminal(own.Addr, own.HTTP) // one for all blocks: later commands use the variables of earlier ones
	blocks := consoles.FindAllStringSubmatch(section, -1)
	Expect(blocks).NotTo(BeEmpty())
	for _, b := range blocks {
		shell.shows(b[1])
	}
})
