package specs_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

const module = "github.com/mq9-broker/broker"

// mayImport says, for each package of the house, which others it may import: the arrows run one way.
var mayImport = map[string][]string{
	"mq9":         {},
	"persistence": {"mq9"},
	"actors":      {"mq9"},
	"frontend":    {"actors", "mq9"},
	"cmd":         {"frontend", "actors", "persistence", "mq9", "benchmarks"}, // the load generator of mq9 bench
}

// clients are packages that use a broker from outside, and of this house its vocabulary alone.
var clients = map[string][]string{
	"cmd/mq9/client":  {"mq9", "benchmarks/load"},
	"benchmarks/load": {"mq9"},
}

// The rules that keep the code base a pleasure to read.
var _ = Describe("The house", func() {
	// eachGoFile calls visit for every Go file, with its path from the root.
	eachGoFile := func(visit func(path string, src []byte)) {
		GinkgoHelper()
		root := harness.Root()
		Expect(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) && path != root {
				return filepath.SkipDir
			}
			if filepath.Ext(path) != ".go" {
				return nil
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			visit(filepath.ToSlash(rel), src)
			return err
		})).To(Succeed())
	}

	imports := func(path string, src []byte) []string {
		GinkgoHelper()
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		Expect(err).NotTo(HaveOccurred())
		var out []string
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			Expect(err).NotTo(HaveOccurred())
			out = append(out, name)
		}
		return out
	}

	It("lets imports run one way: cmd, frontend, actors, persistence, mq9", func() {
		eachGoFile(func(path string, src []byte) {
			top, _, _ := strings.Cut(path, "/")
			allowed, ruled := mayImport[top]
			for _, name := range imports(path, src) {
				inner, ours := strings.CutPrefix(name, module+"/")
				if !ours {
					continue
				}
				if known, outside := clients[filepath.ToSlash(filepath.Dir(path))]; outside && inner != filepath.ToSlash(filepath.Dir(path)) {
					Expect(known).To(ContainElement(inner), "%s imports %s", path, inner)
				}
				target, _, _ := strings.Cut(inner, "/")
				Expect(target).NotTo(And(Equal("cmd"), Not(Equal(top))), "%s imports cmd, which nothing may", path)
				if ruled && target != top {
					// Tests may bring the storage to what they test; the code itself may not.
					if strings.HasSuffix(path, "_test.go") && target == "persistence" {
						continue
					}
					Expect(allowed).To(ContainElement(target), "%s imports %s", path, target)
				}
			}
		})
	})

	It("lets frontend/admin know nothing of the front that it shows", func() {
		eachGoFile(func(path string, src []byte) {
			if strings.HasPrefix(path, "frontend/admin/") {
				Expect(imports(path, src)).NotTo(ContainElement(Or(Equal(module+"/frontend"), ContainSubstring("nats-server"))), path)
			}
		})
	})

	It("keeps RocksDB in persistence, and nats-server out of everything below the front", func() {
		eachGoFile(func(path string, src []byte) {
			top, _, _ := strings.Cut(path, "/")
			for _, name := range imports(path, src) {
				if strings.Contains(name, "grocksdb") {
					Expect(top).To(BeElementOf("persistence", "specs"), "%s imports %s", path, name)
				}
				if strings.Contains(name, "nats-server") {
					Expect(top).To(BeElementOf("frontend", "specs", "cmd", "benchmarks"), "%s imports %s", path, name)
				}
			}
		})
	})

	It("keeps dot imports to the specs", func() {
		eachGoFile(func(path string, src []byte) {
			if !strings.HasPrefix(path, "specs/") {
				Expect(bytes.Contains(src, []byte("\n\t. \""))).To(BeFalse(), "%s has a dot import", path)
			}
		})
	})

	It("keeps files short: 500 lines at most", func() {
		eachGoFile(func(path string, src []byte) {
			Expect(bytes.Count(src, []byte("\n"))).To(BeNumerically("<=", 500), path)
		})
	})

	It("explains every package in its doc.go", func() {
		dirs := map[string][]string{}
		eachGoFile(func(path string, _ []byte) {
			dirs[filepath.Dir(path)] = append(dirs[filepath.Dir(path)], filepath.Base(path))
		})
		Expect(dirs).NotTo(BeEmpty())
		for dir, files := range dirs {
			Expect(slices.Contains(files, "doc.go")).To(BeTrue(), "%s has no doc.go", dir)
		}
	})
})
