package config

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// All that is wrong is said at once, with its place and a way out.
func TestProblems(t *testing.T) {
	path := write(t, `
max-mailboxes = 3
listen = 4222
[limits]
memory = "2GB"   # of max_memory, the beginning is missing
xyzzy.frobnicate = 1
`)
	flags := parsed(t, "--config", path, "--sync", "often", "--log-level", "INFO+1", "--data-dir", "")
	_, err := load(table, flags, []string{"MQ9_DELIVERY=post", "MQ9_MAX_MEMORY=101%", "MQ9_DEFAULT_TTL=1.5s", "MQ9_PING_MAX=-1", "MQ9_DRAIN_GRACE=5"})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	want := []string{
		path + ":2: max-mailboxes: there is no such key: do you mean max_mailboxes?",
		path + ":3: listen: \"4222\" is no address: give host:port",
		path + ":5: limits.memory: there is no such key: do you mean max_memory?",
		path + ":6: limits.xyzzy.frobnicate: there is no such key: see mq9 config example",
		`--sync: unknown sync mode "often": use always, interval or never`,
		`--log-level: unknown level "INFO+1": use debug, info, warn or error`,
		`--data-dir: name a directory`,
		`MQ9_DELIVERY: unknown delivery format "post": use headers, bare or envelope`,
		`MQ9_MAX_MEMORY: "101%" is no share: give 1% to 100%, or a size such as 2GB`,
		`MQ9_DEFAULT_TTL: 1.5s is no number of whole seconds`,
		`MQ9_PING_MAX: -1 is negative: give a number, or 0 for no limit`,
		`MQ9_DRAIN_GRACE: "5" is no duration: give a number with its unit, such as 500ms, 30s, 1h30m or 7d`,
	}
	got := strings.Split(err.Error(), "\n")
	for _, line := range want {
		if !strings.Contains(err.Error(), line) {
			t.Errorf("nothing says %s", line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d problems, not %d:\n%v", len(got), len(want), err)
	}
}

func TestNoTOML(t *testing.T) {
	for text, says := range map[string]string{
		"a = 1\nlisten = \n":                   ":2:",
		"listen = \"x\nhttp = 1\n":             ":1:",
		"max_mailboxes = 1\nmax_mailboxes = 2": "max_mailboxes",
		"{\"json\": true}":                     ":1:1:",
	} {
		path := write(t, text)
		_, err := load(table, parsed(t, "--config", path, "--sync", "often"), nil)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--sync") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, value := range []string{"1979-05-27", "{ a = 1 }", "[[1979-05-27]]"} {
		path := write(t, "listen = "+value+"\n")
		_, err := load(table, parsed(t, "--config", path), nil)
		if err == nil || !strings.Contains(err.Error(), path+":1: listen: give a text in quotes") || strings.Count(err.Error(), "\n") != 0 {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestValues(t *testing.T) {
	for text, want := range map[string]time.Duration{"100ms": 100 * time.Millisecond, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour} {
		if d, err := parseDuration(text); err != nil || d != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"d", "-1d", "1.5d", "4000d", "", "5", "1 h"} {
		if _, err := parseDuration(text); err == nil {
			t.Errorf("%q is a duration", text)
		}
	}
	half, err := memory("50%")
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := memory("100%"); err != nil || whole < 2*half-100 || whole > 2*half+100 {
		t.Errorf("%d, %d, %v", half, whole, err)
	}
	for _, text := range []string{"0%", "%", "-3", "lots", "99999999999GB"} {
		if _, err := memory(text); err == nil {
			t.Errorf("%q is a size", text)
		}
	}
	for _, c := range []struct {
		raw  any
		want string
	}{{"x", "x"}, {int64(-3), "-3"}, {true, "true"}, {0.5, "0.5"}, {[]any{"a", int64(1)}, "a,1"}} {
		if got, err := text(c.raw); err != nil || got != c.want {
			t.Errorf("%v: %q, %v", c.raw, got, err)
		}
	}
}

// The limit of a container is what there is, and the tightest of those around it counts.
func TestGroupMemory(t *testing.T) {
	mount := t.TempDir()
	group := filepath.Join(mount, "outer", "inner")
	if err := os.MkdirAll(group, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(mount, "cgroup")
	for path, text := range map[string]string{
		file: "1:cpu:/old\n0::/outer/inner\n", filepath.Join(group, "memory.max"): "max\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := groupMemory(file, mount); got != math.MaxInt64 {
		t.Errorf("no limit is %d", got)
	}
	if err := os.WriteFile(filepath.Join(mount, "outer", "memory.max"), []byte("1000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := groupMemory(file, mount); got != 1_000_000 {
		t.Errorf("the limit around it is %d", got)
	}
	if got := groupMemory(filepath.Join(mount, "absent"), mount); got != math.MaxInt64 {
		t.Errorf("no control group is %d", got)
	}
}

func TestMistypedVariables(t *testing.T) {
	l, err := load(table, parsed(t, "--config", write(t, "")), []string{
		"MQ9_LOGLEVEL=debug", "MQ9_MAX_MAILBOX=1", "MQ9_SERVICE_HOST=10.0.0.1", "MQ9_PORT=x", "MQ9_HTTP=127.0.0.1:1", "MQ9_BIN=mq9", "HOME=/",
	})
	if err != nil || len(l.Notes) != 2 || !strings.Contains(l.Notes[0], "MQ9_LOG_LEVEL") || !strings.Contains(l.Notes[1], "MQ9_MAX_MAILBOXES") {
		t.Error(err, l.Notes)
	}
}

// A secret is shown nowhere: not among the values, and not in the error about it.
func TestSecrets(t *testing.T) {
	keys := append([]Key{secret}, table...)
	path := write(t, "test_password = \"hunter2\"\n")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := load(keys, parsed(t, "--config", path), nil)
	if err != nil || len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "chmod") {
		t.Fatal(err, l.Notes)
	}
	var out bytes.Buffer
	if err := l.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if err := l.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") || !strings.Contains(out.String(), `"value": "set"`) {
		t.Error(out.String())
	}
	if _, err := load(keys, parsed(t, "--config", path), []string{"MQ9_TEST_PASSWORD=correct horse"}); err == nil || strings.Contains(err.Error(), "horse") {
		t.Error(err)
	}
	if l, err = load(keys, parsed(t, "--config", write(t, "")), nil); err != nil || l.Values[0].Shown() != "unset" {
		t.Error(err, l.Values[0])
	}
}
