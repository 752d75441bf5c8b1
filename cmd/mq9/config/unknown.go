package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/v2"
)

// unknown reports the keys of the file that nobody knows, each with the one that was most likely meant.
func unknown(keys []Key, values *koanf.Koanf, file *document) (problems []error) {
	names := values.Keys()
	slices.SortFunc(names, func(a, b string) int { return file.lines[a] - file.lines[b] })
	for _, name := range names {
		if first, _, _ := strings.Cut(name, "."); find(keys, first) != nil {
			continue // a key that holds a table: its value is refused
		}
		advice := "see mq9 config example"
		if k, distance := nearest(keys, name); 2*distance <= len(k.Name) {
			advice = "do you mean " + k.Name + "?"
		}
		problems = append(problems, fmt.Errorf("%s: there is no such key: %s", file.where(name), advice))
	}
	return problems
}

// mistypedEnv notes the variables that look like one of ours and are none. Others that begin as ours do are somebody else's.
func mistypedEnv(keys []Key, environ []string) (notes []string) {
	const likely = 2 // letters
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		typed, ours := strings.CutPrefix(name, envPrefix)
		if !ours || name == FileEnv {
			continue
		}
		k, distance := nearest(keys, typed)
		if k.Env() != name && distance <= likely && len(typed) > 2*likely {
			notes = append(notes, fmt.Sprintf("the environment variable %s is none of mq9's: %s is", name, k.Env()))
		}
	}
	return notes
}

// openSecrets notes a file that holds secrets and can be read by everybody.
func (l *Loaded) openSecrets() []string {
	for i := range l.Values {
		v := &l.Values[i]
		if !v.Key.Secret || v.From != FromFile || v.text == "" {
			continue
		}
		if info, err := os.Stat(l.File); err == nil && info.Mode().Perm()&0o004 != 0 {
			return []string{fmt.Sprintf("%s holds a secret (%s) and everybody on this machine can read it: chmod o-r %s", l.File, v.Key.Name, l.File)}
		}
	}
	return nil
}
