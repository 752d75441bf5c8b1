package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences that may be in the binary: permissive ones, and the MPL, whose copyleft ends with the file. What is not here is
// forbidden until somebody has read it.
var allowed = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib",
}

// leastCovered is how much of a file must be text of known licences, percent. A file of which less is known may say something else besides.
const leastCovered = 75

// recognise returns the SPDX identifiers of the licences in a text, joined by AND; empty if it says too much that is unknown.
func recognise(text []byte) string {
	found := licensecheck.Scan(text)
	if found.Percent < leastCovered {
		return ""
	}
	var ids []string
	for _, m := range found.Match {
		if !m.IsURL {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND ")
}

// judge says everything that is wrong with the licences of all parts.
func judge(parts []part) error {
	var wrong []error
	for _, p := range parts {
		if p.Licence() == "" {
			wrong = append(wrong, fmt.Errorf("%s has no licence", p.Name))
		}
		for _, f := range p.Files {
			if f.Licence == "" && !f.Notice {
				wrong = append(wrong, fmt.Errorf("%s: %s is no licence that is known", p.Name, f.Name))
			}
			for _, id := range f.ids() {
				if !slices.Contains(allowed, id) {
					wrong = append(wrong, fmt.Errorf("%s: %s is %s, which is not allowed", p.Name, f.Name, id))
				}
			}
		}
	}
	return errors.Join(wrong...)
}
