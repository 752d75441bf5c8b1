package config

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/mq9-broker/broker/persistence"
)

// secret is a key as a password would be; the table is not obliged to hold one.
var secret = Key{
	Group: groupListen, Name: "test_password", Unit: "text", Secret: true, Effect: "lets in", Reload: true,
	set: into(oneOf("password", "", "hunter2", "swordfish"), func(*Config) *string { return new(string) }),
}

// write makes a configuration file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mq9.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// parsed is a set of flags after a command line.
func parsed(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDefaults(t *testing.T) {
	t.Chdir(t.TempDir())
	l, err := load(table, parsed(t), nil)
	if err != nil || l.File != "" || len(l.Notes) != 0 {
		t.Fatal(err, l.File, l.Notes)
	}
	if l.Listen != "127.0.0.1:4222" || l.Sync != persistence.SyncAlways || l.DefaultTTL != time.Hour || l.LogLevel != slog.LevelInfo || l.MaxMemory < 1<<20 {
		t.Errorf("%+v", l.Config)
	}
	for _, v := range l.Values {
		if v.From != FromDefault || v.Where != "" {
			t.Errorf("%s comes from %s %s", v.Key.Name, v.From, v.Where)
		}
	}
}

// Every field has one row, every row one field, and their names follow the rules.
func TestTable(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	fields, seen := reflect.TypeFor[Config]().NumField(), map[string]bool{}
	if len(table) != fields {
		t.Errorf("%d rows, %d fields", len(table), fields)
	}
	groups := map[string]bool{}
	for i := range table {
		k := &table[i]
		field := strings.ReplaceAll(k.Name, "_", "")
		if _, ok := reflect.TypeFor[Config]().FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, field) }); !ok {
			t.Errorf("%s has no field of its name", k.Name)
		}
		if !name.MatchString(k.Name) || seen[k.Name] || k.Name == "port" || strings.HasPrefix(k.Name, "service") || k.Name == FileFlag {
			t.Errorf("%q cannot be a key", k.Name)
		}
		seen[k.Name] = true
		if k.Group == "" || k.Unit == "" || k.Effect == "" || strings.HasSuffix(k.Effect, ".") || strings.ContainsAny(k.Effect, "\n\t") {
			t.Errorf("%s: %+v", k.Name, k)
		}
		if groups[k.Group] && table[i-1].Group != k.Group {
			t.Errorf("the group of %s is torn apart", k.Name)
		}
		groups[k.Group] = true
	}
}

func TestEachLayerIsStrongerThanTheOneBefore(t *testing.T) {
	path := write(t, "max_mailboxes = 1\nmax_connections = 1\n\nmax_subscriptions = 1\nsalvage = true\nmax_memory = \"1GB\"\n")
	flags := parsed(t, "--config", path, "--max-subscriptions", "3", "--data-dir=here")
	l, err := load(table, flags, []string{"MQ9_MAX_CONNECTIONS=2", "MQ9_MAX_SUBSCRIPTIONS=2", "MQ9_MAX_MAILBOXES=", "MQ9_PORT=tcp://10.0.0.1:4222"})
	if err != nil || l.File != path || len(l.Notes) != 0 {
		t.Fatal(err, l.Notes)
	}
	if l.MaxMailboxes != 1 || l.MaxConnections != 2 || l.MaxSubscriptions != 3 || !l.Salvage || l.DataDir != "here" || l.MaxMemory != 1e9 {
		t.Errorf("%+v", l.Config)
	}
	want := map[string]string{
		"max_mailboxes": path + ":1: max_mailboxes", "salvage": path + ":5: salvage", "max_connections": "MQ9_MAX_CONNECTIONS",
		"max_subscriptions": "--max-subscriptions", "data_dir": "--data-dir", "listen": "",
	}
	for _, v := range l.Values {
		if where, ok := want[v.Key.Name]; ok && v.Where != where {
			t.Errorf("%s comes from %q", v.Key.Name, v.Where)
		}
	}
}

func TestTheFileIsFound(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	named := write(t, "max_mailboxes = 7\n")
	for _, c := range []struct {
		args, environ []string
		here          string // content of ./mq9.toml
		want          int
	}{
		{want: 0},
		{here: "max_mailboxes = 5\n", want: 5},
		{here: "max_mailboxes = 5\n", environ: []string{"MQ9_CONFIG=" + named}, want: 7},
		{here: "max_mailboxes = 5\n", environ: []string{"MQ9_CONFIG=/nonexistent"}, args: []string{"--config", named}, want: 7},
	} {
		if c.here != "" {
			if err := os.WriteFile("mq9.toml", []byte(c.here), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := load(table, parsed(t, c.args...), c.environ)
		if err != nil || l.MaxMailboxes != c.want {
			t.Errorf("%v %v: %v, %d", c.args, c.environ, err, l.MaxMailboxes)
		}
	}
	if _, err := load(table, parsed(t, "--config", "/nonexistent/x.toml"), nil); err == nil || !strings.Contains(err.Error(), "/nonexistent/x.toml") {
		t.Error(err)
	}
}

// The shipped example says what the table says, and every line of it can be taken into use.
func TestExample(t *testing.T) {
	var example bytes.Buffer
	if err := WriteExample(&example); err != nil {
		t.Fatal(err)
	}
	const shipped = "../packaging/mq9.toml"
	if os.Getenv("MQ9_WRITE_EXAMPLE") != "" {
		if err := os.WriteFile(shipped, example.Bytes(), 0o644); err != nil { // for everybody to read
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(shipped)
	if err != nil || !bytes.Equal(file, example.Bytes()) {
		t.Errorf("%s is not what `mq9 config example` prints (%v): run the test with MQ9_WRITE_EXAMPLE=1", shipped, err)
	}
	uncommented := regexp.MustCompile(`(?m)^#(\w+ = )`).ReplaceAllString(example.String(), "$1")
	for text, from := range map[string]string{example.String(): FromDefault, uncommented: FromFile} {
		l, err := load(table, parsed(t, "--config", write(t, text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range l.Values {
			if v.From != from || v.text != v.Key.Default {
				t.Errorf("%s = %q from %s", v.Key.Name, v.text, v.From)
			}
		}
	}
}

func TestReloaded(t *testing.T) {
	keys := append([]Key{secret}, table...)
	old, err := load(keys, parsed(t, "--config", write(t, "max_mailboxes = 1\nsync = \"never\"\ntest_password = \"hunter2\"\n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := load(keys, parsed(t, "--config", write(t, "max_mailboxes = 2\nlog_level = \"debug\"\ntest_password = \"swordfish\"\n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what waits is said again at the next reload
		running, applied, waiting := old.Reloaded(next)
		if running.MaxMailboxes != 2 || running.LogLevel != slog.LevelDebug || running.Sync != persistence.SyncNever || old.MaxMailboxes != 1 {
			t.Errorf("%+v", running.Config)
		}
		if len(applied) != 3 || applied[0].Key.Name != "test_password" || applied[0].From != "set" || applied[0].To != "set" {
			t.Errorf("applied: %+v", applied)
		}
		if len(waiting) != 1 || waiting[0].Key.Name != "sync" || waiting[0].From != "never" || waiting[0].To != "always" {
			t.Errorf("waiting: %+v", waiting)
		}
		again, applied, waiting := running.Reloaded(next)
		if len(applied) != 0 || len(waiting) != 1 || again.MaxMailboxes != 2 {
			t.Errorf("a second time: %+v, %+v", applied, waiting)
		}
	}
}
