package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// The layers, as [Value] names them.
const (
	FromDefault = "default"
	FromFile    = "file"
	FromEnv     = "environment"
	FromFlag    = "flag"
)

// Loaded is a configuration with the story of every value.
type Loaded struct {
	Config
	File   string   // that was read; empty = there was none
	Values []Value  // one per key, in the order of the table
	Notes  []string // what is no error and yet most likely not meant, one sentence each
}

// Value is what a key is set to, and who says so.
type Value struct {
	Key    *Key
	From   string // the layer
	Where  string // the place within the layer: file and line, variable or flag; empty for a default
	text   string // as written there; may be a secret
	broken bool   // it could not be read
}

// Shown is the value as it may be shown to anybody: of a secret only whether it is set.
func (v *Value) Shown() string { return v.Key.shown(v.text) }

// Load reads the layers: defaults, the file that flags, environment or habit name, the environment, and the flags, which [AddFlags] declared. The error joins
// all problems, one per line; what could be read is returned with it.
func Load(flags *pflag.FlagSet) (*Loaded, error) { return load(table, flags, os.Environ()) }

// load is Load for any table and environment.
func load(keys []Key, flags *pflag.FlagSet, environ []string) (*Loaded, error) {
	var problems []error
	file, err := readFile(fileName(flags, environ))
	if err != nil {
		problems = append(problems, err)
	}
	layers, err := stack(keys, file, flags, environ)
	if err != nil {
		return nil, err // of koanf itself
	}
	l := &Loaded{File: file.path}
	problems = append(problems, unknown(keys, layers[1].values, file)...)
	for i := range keys {
		v, err := l.take(&keys[i], layers)
		if err != nil {
			problems = append(problems, err)
		}
		l.Values = append(l.Values, v)
	}
	l.Notes = append(mistypedEnv(keys, environ), l.openSecrets()...)
	return l, errors.Join(problems...)
}

// layer is one source of values.
type layer struct {
	name   string
	values *koanf.Koanf
	where  func(key string) string
}

// stack makes the layers, the weakest first.
func stack(keys []Key, file *document, flags *pflag.FlagSet, environ []string) ([]layer, error) {
	defaults, given := map[string]any{}, map[string]any{}
	for i := range keys {
		defaults[keys[i].Name] = keys[i].Default
		if f := flags.Lookup(keys[i].Flag()); f != nil && f.Changed {
			given[keys[i].Name] = f.Value.String()
		}
	}
	variables := env.Provider("", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			if k := find(keys, strings.ToLower(strings.TrimPrefix(name, envPrefix))); k != nil && k.Env() == name && value != "" {
				return k.Name, value // an empty variable is as good as none: that is how compose files unset one
			}
			return "", nil
		},
	})
	name := func(of func(*Key) string) func(string) string {
		return func(key string) string { return of(find(keys, key)) }
	}
	layers := []layer{
		{FromDefault, koanf.New("."), func(string) string { return "" }},
		{FromFile, koanf.New("."), file.where},
		{FromEnv, koanf.New("."), name((*Key).Env)},
		{FromFlag, koanf.New("."), name(func(k *Key) string { return "--" + k.Flag() })},
	}
	for i, p := range []koanf.Provider{confmap.Provider(defaults, ""), confmap.Provider(file.keys, ""), variables, confmap.Provider(given, "")} {
		if err := layers[i].values.Load(p, nil); err != nil {
			return nil, fmt.Errorf("reading the %s layer: %w", layers[i].name, err)
		}
	}
	return layers, nil
}

// take reads one key from the strongest layer that has it. A value that is overridden is not looked at.
func (l *Loaded) take(k *Key, layers []layer) (Value, error) {
	v := Value{Key: k}
	var raw any
	for _, layer := range slices.Backward(layers) {
		if layer.values.Exists(k.Name) {
			v.From, v.Where, raw = layer.name, layer.where(k.Name), layer.values.Get(k.Name)
			break
		}
	}
	var err error
	if v.text, err = text(raw); err == nil {
		if err = k.set(&l.Config, v.text); err != nil && k.Secret {
			err = errors.New("this is no good value; it is not shown because it is a secret") // its own error may quote it
		}
	}
	if err != nil {
		v.broken = true
		return v, fmt.Errorf("%s: %w", v.Where, err)
	}
	return v, nil
}

// text renders a value as it would be written in a variable. The items of a list are joined by commas.
func text(raw any) (string, error) {
	switch v := raw.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case []any:
		items := make([]string, len(v))
		for i := range v {
			var err error
			if items[i], err = text(v[i]); err != nil {
				return "", err
			}
		}
		return strings.Join(items, ","), nil
	default:
		return "", errors.New("give a text in quotes, a number, true or false")
	}
}

// fileName is which file was asked for; empty = none in particular.
func fileName(flags *pflag.FlagSet, environ []string) string {
	if f := flags.Lookup(FileFlag); f != nil && f.Changed {
		return f.Value.String()
	}
	for _, variable := range environ {
		if value, ok := strings.CutPrefix(variable, FileEnv+"="); ok {
			return value
		}
	}
	return ""
}
