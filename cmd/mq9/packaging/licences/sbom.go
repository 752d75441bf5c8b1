package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// complete copies a CycloneDX bill of materials of the binary, in JSON, and adds what the tool that made it cannot see: the licences of
// the parts, the vendored ones, and the libraries.
func complete(in io.Reader, out io.Writer, parts []part, libs []debian) error {
	var bom map[string]any
	if err := json.NewDecoder(in).Decode(&bom); err != nil {
		return fmt.Errorf("the bill of materials is no JSON: %w", err)
	}
	components, ok := bom["components"].([]any)
	if !ok {
		return errors.New("the bill of materials has no components")
	}
	if err := forgetTool(bom); err != nil {
		return err
	}
	known := map[string]string{}
	for _, p := range parts {
		known[p.Name] = p.Licence()
	}
	known["std"] = known["Go"]
	for _, c := range components {
		component, ok := c.(map[string]any)
		if !ok {
			return errors.New("the bill of materials has a component that is no object")
		}
		name, _ := component["name"].(string)
		if known[name] == "" {
			return fmt.Errorf("the bill of materials has %q, of which no licence is known", name)
		}
		component["licenses"] = licences(known[name])
	}
	for _, p := range parts {
		if p.vendored() {
			components = append(components, map[string]any{
				"bom-ref": p.Name, "type": "library", "name": p.Name, "scope": "required",
				"description": "files of others, kept in the repository", "licenses": licences(p.Licence()),
			})
		}
	}
	for _, l := range libs {
		components = append(components, map[string]any{
			"bom-ref": l.purl(), "type": "library", "name": l.Package, "version": l.Version, "scope": "required",
			"description": l.Name + ", linked statically", "licenses": licences(l.Licence), "purl": l.purl(),
		})
	}
	bom["components"] = components
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(bom)
}

func licences(expression string) []any { return []any{map[string]any{"expression": expression}} }

// forgetTool forgets the hashes of the tool that made the bill of materials: they depend on where it was built, and so would the tarball.
func forgetTool(bom map[string]any) error {
	metadata, _ := bom["metadata"].(map[string]any)
	tools, _ := metadata["tools"].([]any)
	for _, t := range tools {
		tool, ok := t.(map[string]any)
		if !ok {
			return errors.New("the bill of materials was made by a tool that is no object")
		}
		delete(tool, "hashes")
	}
	return nil
}
