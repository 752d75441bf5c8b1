package dist_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var (
	tarball string // its path
	headers []*tar.Header
	top     string // the directory in it that holds everything
	tree    string // that directory, unpacked
)

func TestDist(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The tarball")
}

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(10 * time.Millisecond)
	dir := os.Getenv("MQ9_DIST")
	if dir == "" {
		pack()
		dir = "bin/dist"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(harness.Root(), dir)
	}
	tarball = newest(dir)
	unpack(GinkgoT().TempDir())
})

// pack makes the tarball.
func pack() {
	GinkgoHelper()
	cmd := exec.Command("make", "--no-print-directory", "dist")
	cmd.Dir = harness.Root()
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
}

// newest is the tarball that was packed last: older versions may lie beside it.
func newest(dir string) string {
	GinkgoHelper()
	found, err := filepath.Glob(filepath.Join(dir, "mq9-*-linux-*.tar.gz"))
	Expect(err).NotTo(HaveOccurred())
	Expect(found).NotTo(BeEmpty(), "no tarball in %s: run make dist", dir)
	var best string
	var when time.Time
	for _, path := range found {
		info, err := os.Stat(path)
		Expect(err).NotTo(HaveOccurred())
		if info.ModTime().After(when) {
			best, when = path, info.ModTime()
		}
	}
	return best
}

// unpack fills headers, top and tree.
func unpack(dir string) {
	GinkgoHelper()
	f, err := os.Open(tarball)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(f.Close()).To(Succeed()) }()
	zipped, err := gzip.NewReader(f)
	Expect(err).NotTo(HaveOccurred())
	for files := tar.NewReader(zipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		Expect(err).NotTo(HaveOccurred())
		headers = append(headers, h)
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			Expect(os.MkdirAll(path, 0o755)).To(Succeed())
			continue
		}
		Expect(h.Typeflag).To(BeEquivalentTo(tar.TypeReg), h.Name)
		text, err := io.ReadAll(files)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(path, text, h.FileInfo().Mode())).To(Succeed())
	}
	top = strings.TrimSuffix(filepath.Base(tarball), ".tar.gz")
	tree = filepath.Join(dir, top)
}

// content is a file of the tarball.
func content(name string) string {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(tree, name))
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// checksum is of the tarball.
func checksum() string {
	GinkgoHelper()
	text, err := os.ReadFile(tarball)
	Expect(err).NotTo(HaveOccurred())
	return fmt.Sprintf("%x", sha256.Sum256(text))
}
