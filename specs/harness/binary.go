package harness

import (
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Root is the repository's root: the nearest directory upwards that holds go.mod.
func Root() string {
	GinkgoHelper()
	dir, err := os.Getwd()
	Expect(err).NotTo(HaveOccurred())
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		Expect(parent).NotTo(Equal(dir), "no go.mod above the specs")
		dir = parent
	}
}

// BuildBroker returns the path of the binary under test: the one named by MQ9_BIN, or one built now with the race detector.
func BuildBroker() string {
	GinkgoHelper()
	root := Root()
	path := os.Getenv("MQ9_BIN")
	if path == "" {
		path = filepath.Join(root, "bin", "mq9-race")
		build := exec.Command("go", "build", "-race", "-o", path, "./cmd/mq9")
		build.Dir = root
		out, err := build.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "go build: %s", out)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	Expect(path).To(BeAnExistingFile())
	return path
}
