package config

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Key is one row of the table: everything that is to be known of a key.
type Key struct {
	Group   string // heading under which the example shows it
	Name    string // in the file; lower case, words joined by _
	Default string // as one would write it
	Unit    string // what kind of value it is: a unit, a form, or the words to choose from
	Effect  string // what it does, and what it means at its edges; no full stop, no new line
	Reload  bool   // SIGHUP applies a change; otherwise a restart does
	Secret  bool   // its value is never shown, nor quoted in an error

	set func(c *Config, text string) error // reads the text into the key's field; the error says how to mend it
}

// Flag is the name of the flag, without its dashes.
func (k *Key) Flag() string { return strings.ReplaceAll(k.Name, "_", "-") }

// Env is the name of the environment variable.
func (k *Key) Env() string { return envPrefix + strings.ToUpper(k.Name) }

// envPrefix begins the names of our environment variables, FileEnv included.
const envPrefix = "MQ9_"

// FileEnv is the environment variable that names the configuration file.
const FileEnv = envPrefix + "CONFIG"

// Keys returns the table, in the order in which it is shown. It is the caller's own copy.
func Keys() []Key { return append([]Key(nil), table...) }

// isSwitch reports whether the key is either true or false, so that its flag needs no value.
func (k *Key) isSwitch() bool { return k.Default == "true" || k.Default == "false" }

// shown is how a value of the key may be shown to anybody.
func (k *Key) shown(text string) string {
	switch {
	case !k.Secret:
		return text
	case text == "":
		return "unset"
	default:
		return "set"
	}
}

// find returns the row of a key, or nil.
func find(keys []Key, name string) *Key {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i]
		}
	}
	return nil
}

// nearest returns the key whose name resembles a mistyped one the most, and how many letters they differ in. Dashes, capitals and
// a table around the key (limits.max_memory) count for nothing.
func nearest(keys []Key, typed string) (best *Key, distance int) {
	typed = strings.ToLower(strings.ReplaceAll(typed, "-", "_"))
	if i := strings.LastIndexByte(typed, '.'); i >= 0 {
		typed = typed[i+1:]
	}
	for i := range keys {
		d := levenshtein.ComputeDistance(typed, keys[i].Name)
		if strings.HasSuffix(keys[i].Name, "_"+typed) {
			d = min(d, 1) // only the beginning is missing
		}
		if best == nil || d < distance {
			best, distance = &keys[i], d
		}
	}
	return best, distance
}
