package dist_test

import (
	"archive/tar"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/mod/semver"
)

// audited are the oldest versions that were seen to be free of vulnerabilities that the broker can reach. They hold where `make vuln` cannot
// look: an older one that some module asks for must not slip in.
var audited = map[string]string{
	"go.opentelemetry.io/otel":                                        "v1.47.0",
	"go.opentelemetry.io/otel/sdk":                                    "v1.47.0",
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc": "v1.47.0",
	"go.opentelemetry.io/otel/exporters/prometheus":                   "v0.69.0",
	"github.com/prometheus/client_golang":                             "v1.25.0",
	"google.golang.org/grpc":                                          "v1.83.2",
	"google.golang.org/protobuf":                                      "v1.36.12",
	"golang.org/x/crypto":                                             "v0.58.0",
	"golang.org/x/net":                                                "v0.60.0",
	"github.com/nats-io/nats-server/v2":                               "v2.15.2",
}

var _ = Describe("The tarball", func() {
	It("holds what it takes to run the broker and to hand it on", func() {
		var names []string
		for _, h := range headers {
			names = append(names, strings.TrimPrefix(h.Name, top+"/"))
		}
		Expect(names).To(ConsistOf("", "mq9", "mq9.toml", "mq9.service", "README.md", "LICENSE", "LICENCES.md", "LICENCES.txt", "sbom.cdx.json",
			"completions/", "completions/_mq9", "completions/mq9", "completions/mq9.fish"))
	})

	It("is the same however often it is packed", func() {
		for _, h := range headers {
			Expect(h.ModTime).To(Equal(headers[0].ModTime), h.Name)
			Expect([]any{h.Uid, h.Gid, h.Uname, h.Gname}).To(Equal([]any{0, 0, "", ""}), h.Name)
		}
		Expect(slices.IsSortedFunc(headers, func(a, b *tar.Header) int { return strings.Compare(a.Name, b.Name) })).To(BeTrue())
		before := checksum()
		pack()
		Expect(checksum()).To(Equal(before))
	})

	It("has its checksum beside it", func() {
		sum, err := os.ReadFile(tarball + ".sha256")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(sum)).To(Equal(checksum() + "  " + filepath.Base(tarball) + "\n"))
	})

	It("brings a configuration that is right, a unit, and completions", func() {
		Expect(exec.Command(filepath.Join(tree, "mq9"), "config", "check", filepath.Join(tree, "mq9.toml")).Run()).To(Succeed())
		Expect(content("mq9.service")).To(And(ContainSubstring("\nExecStart=/usr/local/bin/mq9 serve\n"), Not(ContainSubstring("@"+"BINDIR"))))
		out, err := exec.Command("bash", "-n", filepath.Join(tree, "completions/mq9")).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
		Expect(content("completions/_mq9")).To(HavePrefix("#compdef mq9"))
		Expect(content("completions/mq9.fish")).To(ContainSubstring("complete -c mq9"))
	})

	It("lists everything that the binary carries, with its licence", func() {
		info, err := buildinfo.ReadFile(filepath.Join(tree, "mq9"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Deps).NotTo(BeEmpty())
		var bom struct {
			BOMFormat  string `json:"bomFormat"`
			Components []struct {
				Name, Version, PURL string
				Licenses            []struct{ Expression string }
			}
		}
		Expect(json.Unmarshal([]byte(content("sbom.cdx.json")), &bom)).To(Succeed())
		Expect(bom.BOMFormat).To(Equal("CycloneDX"))
		versions := map[string]string{}
		for _, c := range bom.Components {
			Expect(c.Licenses).To(HaveLen(1), c.Name)
			if !strings.HasPrefix(c.Name, "./") { // what is kept in the repository is of its version
				Expect(c.Version).NotTo(BeEmpty(), c.Name)
				Expect(c.PURL).To(HavePrefix("pkg:"), c.Name)
			}
			versions[c.Name] = c.Version
		}
		Expect(versions).To(HaveKey("./frontend/admin/page/assets/vendor"))
		list, texts := content("LICENCES.md"), content("LICENCES.txt")
		for _, m := range info.Deps {
			Expect(versions).To(HaveKeyWithValue(m.Path, m.Version))
			Expect(list).To(ContainSubstring("| " + m.Path + " | " + m.Version + " |"))
			Expect(texts).To(ContainSubstring("==== " + m.Path + " " + m.Version + " "))
		}
		for archive, library := range map[string]string{
			"librocksdb.a": "librocksdb-dev", "liblz4.a": "liblz4-dev", "libsnappy.a": "libsnappy-dev", "libzstd.a": "libzstd-dev",
			"libz.a": "zlib1g-dev", "libbz2.a": "libbz2-dev", "libgflags.a": "libgflags-dev", "libc.a": "libc6-dev",
		} {
			Expect(versions).To(HaveKey(library))
			Expect(list).To(ContainSubstring("| " + archive + " |"))
			Expect(texts).To(ContainSubstring("(Debian's " + library + ")\n"))
		}
	})

	It("carries no module older than the versions that were audited", func() {
		info, err := buildinfo.ReadFile(filepath.Join(tree, "mq9"))
		Expect(err).NotTo(HaveOccurred())
		carried := map[string]string{}
		for _, m := range info.Deps {
			carried[m.Path] = m.Version
		}
		for path, least := range audited {
			Expect(carried).To(HaveKey(path))
			Expect(semver.Compare(carried[path], least)).To(BeNumerically(">=", 0), "%s is %s, and %s was audited", path, carried[path], least)
		}
	})
})
