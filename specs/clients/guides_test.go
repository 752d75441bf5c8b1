package clients_test

import (
	"bytes"
	"context"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// programTimeout bounds a program of the guides, its compilation included.
const programTimeout = 3 * time.Minute

// The guides promise that what they show works as they show it.
var _ = Describe("The operations guide", Ordered, func() {
	var shell *terminal
	BeforeAll(func() {
		shell = openTerminal(harness.FreeAddr("127.0.0.1"), harness.FreeAddr("127.0.0.1")) // its sessions start the brokers
	})
	AfterAll(func() {
		if CurrentSpecReport().Failed() {
			log, err := os.ReadFile(filepath.Join(shell.home, "hour", "mq9.log"))
			GinkgoWriter.Printf("the broker's log: %s (%v)\n", log, err)
		}
	})
	for _, b := range blocksOf("cmd/mq9/guides/operations.md") {
		It(b.where, func() { shell.shows(b.text) })
	}
})

var _ = Describe("The client guide", Ordered, ContinueOnFailure, func() {
	var shell *terminal
	var folder programs
	BeforeAll(func() {
		own := harness.StartBroker(harness.BuildBroker())
		shell = openTerminal(own.Addr, own.HTTP)
		folder = newPrograms(shell)
	})
	for _, b := range blocksOf("cmd/mq9/guides/clients.md") {
		It(b.language+": "+b.where, func() {
			switch {
			case b.language == "console":
				shell.shows(b.text)
			case b.file != "":
				folder.save(b)
			default:
				Expect(masked(folder.run(b))).To(Equal(masked(b.output)))
			}
		})
	}
})

// programs is a folder in which the programs of a guide are run, with its files beside them.
type programs struct {
	dir   string
	shell *terminal
	kept  *[]string // paths of the Go files that later programs need
}

func newPrograms(shell *terminal) programs {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	Expect(os.Symlink(filepath.Join(harness.Root(), "specs", "clients", "node_modules"), filepath.Join(dir, "node_modules"))).To(Succeed())
	return programs{dir: dir, shell: shell, kept: new([]string)}
}

// save writes a file, as it is but for the broker's address.
func (p programs) save(b block) string {
	GinkgoHelper()
	if b.language == "go" {
		formatted, err := format.Source([]byte(b.text))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(formatted)).To(Equal(b.text), "gofmt")
	}
	path := filepath.Join(p.dir, b.file)
	Expect(os.WriteFile(path, []byte(p.shell.ins.Replace(b.text)), 0o600)).To(Succeed())
	if b.language == "go" {
		*p.kept = append(*p.kept, path)
	}
	return path
}

// run runs a program and returns what it printed.
func (p programs) run(b block) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), programTimeout)
	defer cancel()
	var cmd *exec.Cmd
	switch b.language {
	case "go":
		b.file = "main.go"
		p.save(b)
		files := *p.kept
		*p.kept = files[:len(files)-1]
		cmd = exec.CommandContext(ctx, "go", append([]string{"run"}, files...)...)
		cmd.Dir = harness.Root() // the module
	case "js":
		b.file = "main.mjs"
		cmd = exec.CommandContext(ctx, "node", p.save(b))
		cmd.Dir = p.dir
	default:
		Fail("nothing runs " + b.language)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	Expect(err).NotTo(HaveOccurred(), "it printed %s and complained %s", &out, &errs)
	GinkgoWriter.Print(errs.String())
	return p.shell.outs.Replace(out.String())
}
