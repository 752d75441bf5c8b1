package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// library is an archive that is linked into the tarball's binary.
type library struct {
	Name    string
	Archive string
	Licence string // SPDX, of the part that is linked; of two to choose from, the one that is taken
}

// libraries are all of them. Debian's own descriptions of their licences go with the tarball. The C library alone is under copyleft, that of the
// LGPL: who hands on the binary must let others link it with another C library, for which this repository and `make dist` are all it takes.
var libraries = []library{
	{"RocksDB", "librocksdb.a", "Apache-2.0"}, // or GPL-2.0
	{"Snappy", "libsnappy.a", "BSD-3-Clause"},
	{"LZ4", "liblz4.a", "BSD-2-Clause"},
	{"Zstandard", "libzstd.a", "BSD-3-Clause"}, // or GPL-2.0
	{"bzip2", "libbz2.a", "bzip2-1.0.6"},
	{"zlib", "libz.a", "Zlib"},
	{"gflags", "libgflags.a", "BSD-3-Clause"},
	{"GNU C++ library", "libstdc++.a", "GPL-3.0-or-later WITH GCC-exception-3.1"},
	{"GCC runtime", "libgcc.a", "GPL-3.0-or-later WITH GCC-exception-3.1"},
	{"GNU C library", "libc.a", "LGPL-2.1-or-later"},
}

// debian is the package that a library came with.
type debian struct {
	library
	Package, Version, Arch string
}

// installed asks gcc for the archive that it links, and dpkg for the package.
func installed(lib library) (debian, error) {
	d := debian{library: lib}
	path, err := exec.Command("gcc", "-print-file-name="+lib.Archive).Output() //nolint:gosec // a name from the table above
	if err != nil {
		return d, fmt.Errorf("gcc: %w", err)
	}
	file := filepath.Clean(strings.TrimSpace(string(path)))
	owner, err := exec.Command("dpkg-query", "-S", file).Output() //nolint:gosec // the path that gcc named
	if err != nil {
		return d, fmt.Errorf("no Debian package has %s (%s): run make rocksdb", lib.Archive, file)
	}
	name, _, _ := strings.Cut(string(owner), ": ")
	facts, err := exec.Command("dpkg-query", "-W", "-f", "${Package} ${Version} ${Architecture}", name).Output() //nolint:gosec // the package that dpkg named
	if err != nil {
		return d, fmt.Errorf("dpkg-query %s: %w", name, err)
	}
	fields := strings.Fields(string(facts))
	if len(fields) != 3 {
		return d, errors.New("dpkg-query says of " + name + ": " + string(facts))
	}
	d.Package, d.Version, d.Arch = fields[0], fields[1], fields[2]
	return d, nil
}

// text is what Debian says of the package's licences.
func (d debian) text() ([]byte, error) {
	return os.ReadFile("/usr/share/doc/" + d.Package + "/copyright")
}

// purl names the package as bills of materials do.
func (d debian) purl() string {
	return "pkg:deb/debian/" + url.PathEscape(d.Package) + "@" + url.PathEscape(d.Version) + "?arch=" + d.Arch
}

// allInstalled is installed for all libraries.
func allInstalled() ([]debian, error) {
	var all []debian
	for _, lib := range libraries {
		d, err := installed(lib)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
