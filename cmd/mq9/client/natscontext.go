package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// natsContext is a file of the `nats` command that says how to connect. The library that reads them for `nats` would bring most
// of that command with it, so the part that matters here is read by hand; what is left out is refused where it would matter.
type natsContext struct {
	URL         string `json:"url"`
	Token       string `json:"token"`
	User        string `json:"user"`
	Password    string `json:"password"`
	Creds       string `json:"creds"`
	NKey        string `json:"nkey"`
	UserJWT     string `json:"user_jwt"`
	UserSeed    string `json:"user_seed"`
	Cert        string `json:"cert"`
	Key         string `json:"key"`
	CA          string `json:"ca"`
	TLSFirst    bool   `json:"tls_first"`
	InboxPrefix string `json:"inbox_prefix"`

	SocksProxy string `json:"socks_proxy"` // not supported
	NSC        string `json:"nsc"`         // not supported
}

// contextHome is where the nats command keeps its contexts.
func contextHome() (string, error) {
	home, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "nats"), nil
}

// knownContexts are the names of the contexts that there are. Without any, or a home, there are none.
func knownContexts() []string {
	home, err := contextHome()
	if err != nil {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(home, "context", "*.json"))
	if err != nil {
		return nil
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return files
}

// selectedContext is the name of the context that `nats context select` has chosen; "" when none is.
func selectedContext() (string, error) {
	home, err := contextHome()
	if err != nil {
		return "", nil //nolint:nilerr // without a home there is no choice
	}
	text, err := os.ReadFile(filepath.Join(home, "context.txt")) //nolint:gosec // the user's own file
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// readContext reads the context of a name, or the file when the name is a path that ends in .json.
func readContext(name string) (*natsContext, error) {
	path := name
	if !strings.HasSuffix(name, ".json") {
		if name != filepath.Base(name) {
			return nil, usagef("%q is no name of a context: give a name without slashes, or a file that ends in .json", name)
		}
		home, err := contextHome()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(home, "context", name+".json")
	}
	text, err := os.ReadFile(path) //nolint:gosec // the user's own choice
	if errors.Is(err, fs.ErrNotExist) {
		known := knownContexts()
		return nil, usagef("there is no context %q%s (looked for %s; see nats context ls)", name, didYouMean(name, known), path)
	}
	if err != nil {
		return nil, err
	}
	c := &natsContext{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, usagef("the context %q cannot be read: %w", name, err)
	}
	return c, c.prepare(name)
}

// prepare expands paths as the nats command does, and refuses what is not supported rather than leaving it out in silence.
func (c *natsContext) prepare(name string) error {
	for key, value := range map[string]string{"socks_proxy": c.SocksProxy, "nsc": c.NSC} {
		if value != "" {
			return usagef("the context %q uses %s, which mq9 does not support: use creds, nkey or user in it, or -s without a context", name, key)
		}
	}
	for key, path := range map[string]*string{"creds": &c.Creds, "nkey": &c.NKey, "cert": &c.Cert, "key": &c.Key, "ca": &c.CA} {
		if scheme, _, other := strings.Cut(*path, "://"); other && scheme != "file" {
			return usagef("%s of the context %q is kept in %s, which mq9 does not support: name a file", key, name, scheme)
		}
		*path = strings.TrimPrefix(*path, "file://")
		expanded, err := expand(*path)
		if err != nil {
			return fmt.Errorf("%s of the context %q: %w", key, name, err)
		}
		*path = expanded
	}
	return nil
}

// expand replaces environment variables and a leading ~ in a path.
func expand(path string) (string, error) {
	path = os.ExpandEnv(path)
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, strings.TrimPrefix(path, "~")), err
}
