package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	parser "github.com/knadh/koanf/parsers/toml/v2"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// The files that are read if they are there and none is named, the first of them alone.
const (
	localFile  = "./mq9.toml"
	systemFile = "/etc/mq9/mq9.toml"
)

// document is a configuration file.
type document struct {
	path  string
	keys  map[string]any // as parsed; tables are maps within
	lines map[string]int // of each key
}

// where is the place of a key, for error lines.
func (d *document) where(key string) string {
	return fmt.Sprintf("%s:%d: %s", d.path, d.lines[key], key)
}

// readFile reads the file of that name; an empty one means the file that is there, which may be none: then the result is empty.
func readFile(path string) (*document, error) {
	if path == "" {
		for _, usual := range []string{localFile, systemFile} {
			if _, err := os.Stat(usual); !errors.Is(err, fs.ErrNotExist) {
				path = usual
				break
			}
		}
		if path == "" {
			return &document{}, nil
		}
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return &document{path: path}, fmt.Errorf("the configuration file cannot be read: %w", err)
	}
	d := &document{path: path, lines: lines(text)}
	if d.keys, err = parser.Parser().Unmarshal(text); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := at.Position()
			return d, fmt.Errorf("%s:%d:%d: this is not TOML: %s", path, line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return d, fmt.Errorf("%s: this is not TOML: %s", path, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return d, nil
}

// lines finds the line of every key of a document, as far as it can be parsed.
func lines(text []byte) map[string]int {
	found := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	var table []string // the one that the keys are in
	for p.NextExpression() {
		e := p.Expression()
		var name []string
		line := 0
		for parts := e.Key(); parts.Next(); {
			part := parts.Node()
			name = append(name, string(part.Data))
			if line == 0 {
				line = p.Shape(part.Raw).Start.Line
			}
		}
		if e.Kind == unstable.KeyValue {
			name = append(append([]string(nil), table...), name...)
		} else {
			table = name
		}
		if len(name) > 0 && found[name[0]] == 0 {
			found[name[0]] = line // of a key that holds a table, its first mention
		}
		found[strings.Join(name, ".")] = line
	}
	return found
}
