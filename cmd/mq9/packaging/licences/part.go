package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// here begins the names of parts that are kept in this repository.
const here = "./"

// part is something of others that is compiled into the binary.
type part struct {
	Name    string // a module's path, or a directory of this repository
	Version string // of a module; empty for Go itself and for what is in this repository
	Files   []file // its licences and notices, by name
}

// file is one licence or notice.
type file struct {
	Name    string // from the part's root
	Text    []byte
	Licence string // SPDX identifier, several joined by AND; empty if none was recognised
	Notice  bool   // a NOTICE, which is handed on and not judged
}

// Licence is what all files of a part say, without repeats.
func (p part) Licence() string {
	var ids []string
	for _, f := range p.Files {
		if !f.Notice {
			ids = append(ids, f.ids()...)
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND ")
}

// vendored says whether the part is kept in this repository.
func (p part) vendored() bool { return strings.HasPrefix(p.Name, here) }

func (f file) ids() []string {
	if f.Licence == "" {
		return nil
	}
	return strings.Split(f.Licence, " AND ")
}

// goPackage is what `go list -json` says of a package, as far as it matters here.
type goPackage struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// carried finds all parts, sorted by name. The tags are those of the tarball's binary.
func carried() ([]part, error) {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", "-tags", "netgo,osusergo,timetzdata", "./cmd/mq9")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	parts := map[string]*part{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		switch {
		case p.Standard:
			if parts["Go"], err = standard(parts["Go"]); err != nil {
				return nil, err
			}
		case p.Module.Main:
			err = addVendored(parts, p.Module.Dir, p.Dir)
		default:
			name := p.Module.Path
			if parts[name] == nil {
				parts[name] = &part{Name: name, Version: p.Module.Version}
			}
			err = parts[name].collect(p.Module.Dir, p.Dir)
		}
		if err != nil {
			return nil, err
		}
	}
	all := make([]part, 0, len(parts))
	for _, p := range slices.SortedFunc(maps.Values(parts), func(a, b *part) int { return cmp.Compare(a.Name, b.Name) }) {
		all = append(all, *p)
	}
	return all, nil
}

// standard is Go's own library and runtime, all under one licence.
func standard(known *part) (*part, error) {
	if known != nil {
		return known, nil
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root := strings.TrimSpace(string(out))
	p := &part{Name: "Go"}
	return p, p.collect(root, root)
}

// licenceName matches what licences and notices are called, also those beside a vendored file, such as uplot.LICENSE.txt.
var licenceName = regexp.MustCompile(`(?i)^(.*\.)?(licen[sc]e|copying|unlicense|notice)([.-].*)?$`)

// collect adds the licences that lie on the way from root down to dir: a package may have another one than its module.
func (p *part) collect(root, dir string) error {
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && licenceName.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
				if err := p.add(root, filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
		if dir == root || len(dir) < len(root) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

func (p *part) add(root, path string) error {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	at, known := slices.BinarySearchFunc(p.Files, name, func(f file, name string) int { return cmp.Compare(f.Name, name) })
	if known {
		return nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // a licence in a module or in this repository
	if err != nil {
		return err
	}
	f := file{Name: filepath.ToSlash(name), Text: text, Notice: strings.Contains(strings.ToLower(filepath.Base(name)), "notice")}
	if !f.Notice {
		f.Licence = recognise(text)
	}
	p.Files = slices.Insert(p.Files, at, f)
	return nil
}

// addVendored adds what a package of this repository keeps from others below its own directory, such as scripts of a page. Its licence
// lies beside it.
func addVendored(parts map[string]*part, root, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !licenceName.MatchString(d.Name()) || filepath.Ext(path) == ".go" {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := here + filepath.ToSlash(rel)
		if parts[name] == nil {
			parts[name] = &part{Name: name}
		}
		return parts[name].add(filepath.Dir(path), path)
	})
}
