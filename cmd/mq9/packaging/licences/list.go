package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// list renders the list that is kept: in Markdown, and the same on every machine.
func list(parts []part) []byte {
	var out bytes.Buffer
	out.WriteString("# What the mq9 binary carries, and under which licences\n\nMade by `make licences`. mq9 itself is under the Apache License 2.0.\n\n" +
		"| part | version | licence |\n|---|---|---|\n")
	for _, p := range parts {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", p.Name, p.Version, p.Licence())
	}
	out.WriteString("\nThe tarball's binary also carries these libraries, as Debian has them; the tarball's `sbom.cdx.json` names packages and versions.\n" +
		"Who wants to link it with another GNU C library can: the source and `make dist` are all it takes.\n\n| library | archive | licence |\n|---|---|---|\n")
	for _, l := range libraries {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", l.Name, l.Archive, l.Licence)
	}
	return out.Bytes()
}

// writeTexts writes every licence and notice in full.
func writeTexts(out io.Writer, parts []part) error {
	libs, err := allInstalled()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	section := func(title string, body []byte) {
		fmt.Fprintf(&text, "==== %s\n\n%s\n\n", title, bytes.TrimSpace(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))))
	}
	for _, p := range parts {
		for _, f := range p.Files {
			section(strings.Join(strings.Fields(p.Name+" "+p.Version+" "+f.Name), " "), f.Text)
		}
	}
	for _, l := range libs {
		body, err := l.text()
		if err != nil {
			return fmt.Errorf("the licence of %s: %w", l.Name, err)
		}
		section(l.Name+" (Debian's "+l.Package+")", body)
	}
	_, err = out.Write(text.Bytes())
	return err
}
