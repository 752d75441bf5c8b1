package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// atRoot works in the repository's root, as the command does.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../../../..")
}

func TestTheListIsUpToDateAndAllLicencesAreAllowed(t *testing.T) {
	atRoot(t)
	var out strings.Builder
	if err := run([]string{"check"}, nil, &out); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
}

func TestAStaleListIsRefused(t *testing.T) {
	atRoot(t)
	parts, err := carried()
	if err != nil {
		t.Fatal(err)
	}
	kept := list(parts)
	parts[1].Version = "v0.0.1"
	if err := compare(kept, parts); err == nil || !strings.Contains(err.Error(), "make licences") {
		t.Errorf("a list with another version: %v", err)
	}
	if err := compare(kept, parts[:len(parts)-1]); err == nil {
		t.Error("a list with a part too many is taken")
	}
}

func TestWhatHasNoLicenceOrAForbiddenOneIsRefused(t *testing.T) {
	mit, err := os.ReadFile(filepath.Join("testdata", "mit.txt"))
	if err != nil {
		t.Fatal(err)
	}
	gpl, err := os.ReadFile("/usr/share/common-licenses/GPL-3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ about, file, text, wrong string }{
		{"a permissive licence", "LICENSE", string(mit), ""},
		{"no licence", "", "", "has no licence"},
		{"only a notice", "NOTICE", "made by us", "has no licence"},
		{"a licence of its own making", "LICENSE.md", "Do what you like, except on Sundays.", "is no licence that is known"},
		{"much beside a licence", "COPYING", string(mit) + strings.Repeat("And you owe us your first-born child. ", 200), "is no licence that is known"},
		{"copyleft", "COPYING", string(gpl), "is GPL-3.0, which is not allowed"},
	} {
		dir := t.TempDir()
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := part{Name: "example.org/x"}
		if err := p.collect(dir, dir); err != nil {
			t.Fatal(err)
		}
		err := judge([]part{p})
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", c.about, err)
		}
	}
}

func TestAPackageMayHaveAnotherLicenceThanItsModule(t *testing.T) {
	mit, err := os.ReadFile(filepath.Join("testdata", "mit.txt"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(inner, 0o750); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(root, "LICENSE"): string(mit), filepath.Join(root, "a", "uplot.LICENSE.txt"): "mine alone"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := part{Name: "example.org/x"}
	for range 2 { // as for two packages of a module
		if err := p.collect(root, inner); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.Files) != 2 || p.Files[1].Name != "a/uplot.LICENSE.txt" || p.Licence() != "MIT" {
		t.Errorf("%+v", p)
	}
}

func TestABillOfMaterialsIsCompleted(t *testing.T) {
	var out bytes.Buffer
	parts := []part{{Name: "example.org/x", Files: []file{{Licence: "MIT"}}}, {Name: "./vendor", Files: []file{{Licence: "ISC"}}}}
	libs := []debian{{library{"RocksDB", "librocksdb.a", "Apache-2.0"}, "librocksdb-dev", "7.8.3-2", "amd64"}}
	if err := complete(strings.NewReader(`{"metadata":{"tools":[{"hashes":["of this machine"]}]},"components":[{"name":"example.org/x","version":"v1"}]}`), &out, parts, libs); err != nil {
		t.Fatal(err)
	}
	type component struct {
		Name, Version, PURL string
		Licenses            []struct{ Expression string }
	}
	var bom struct{ Components []component }
	if err := json.Unmarshal(out.Bytes(), &bom); err != nil {
		t.Fatal(err)
	}
	want := []component{
		{"example.org/x", "v1", "", []struct{ Expression string }{{"MIT"}}},
		{"./vendor", "", "", []struct{ Expression string }{{"ISC"}}},
		{"librocksdb-dev", "7.8.3-2", "pkg:deb/debian/librocksdb-dev@7.8.3-2?arch=amd64", []struct{ Expression string }{{"Apache-2.0"}}},
	}
	if !reflect.DeepEqual(bom.Components, want) || strings.Contains(out.String(), "of this machine") {
		t.Errorf("%s", &out)
	}
	for _, wrong := range []string{"", "{}", `{"components":[1]}`, `{"components":[{"name":"example.org/other"}]}`} {
		if err := complete(strings.NewReader(wrong), &out, parts, libs); err == nil {
			t.Errorf("%s is taken for a bill of materials of the binary", wrong)
		}
	}
}
