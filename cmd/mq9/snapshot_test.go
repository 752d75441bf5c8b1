package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	mail "github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

const (
	secretID   = mail.MailID("a9d1a2c4-1f7e-4b0e-9d59-2f1f3c1b7a10")
	secretBody = "the cat is out of the bag"
)

// seed makes a data directory with a public and a private mailbox, and a message in each.
func seed(t *testing.T, dir string) {
	t.Helper()
	s, err := persistence.Open(dir, persistence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.ReserveIDs(100)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixNano()
	outcome := make(chan error, 1)
	for _, c := range []mail.Change{
		mail.CreateMailbox{Mailbox: &mail.Mailbox{Number: first, Account: "$G", ID: "tour", Public: true, TTL: 3600, Created: now}},
		mail.CreateMailbox{Mailbox: &mail.Mailbox{Number: first + 1, Account: "$G", ID: secretID, TTL: 3600, Created: now}},
		mail.AppendMessages{Number: first, Messages: []*mail.Message{{ID: 4, At: now, Header: []byte("K: v\r\n"), Payload: []byte("hello\x1b")}}},
		mail.AppendMessages{Number: first + 1, Messages: []*mail.Message{{ID: 9, Priority: mail.Urgent, At: now, Payload: []byte(secretBody)}}},
	} {
		s.Commit(c, func(err error) { outcome <- err })
		if err := <-outcome; err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// serving runs a broker and returns its health address and what ends it in an orderly way.
func serving(t *testing.T, dir string, flags ...string) (address string, stop func()) {
	t.Helper()
	cmd, lines, address := begin(t, dir, flags...)
	return address, func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // to the end of what it says
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSnapshotRestoreInspect(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	seed(t, at("data"))
	address, stop := serving(t, at("data"))
	expect := func(code int, says string, args ...string) string {
		t.Helper()
		got, stdout, stderr := mq9(t, args...)
		if got != code || !strings.Contains(stdout+stderr, says) || strings.Count(stderr, "\n") > 1 {
			t.Errorf("mq9 %s: exit code %d, %q, %q", strings.Join(args, " "), got, stdout, stderr)
		}
		return stdout
	}
	expect(0, at("snap"), "snapshot", at("snap"), "--http", address)
	expect(exitFailed, "exists", "snapshot", at("snap"), "--http", address)
	expect(exitFailed, "is in use by another broker", "inspect", "--data-dir", at("data"))
	stop()
	expect(0, at("back"), "restore", "--from", at("snap"), "--data-dir", at("back"))
	expect(exitFailed, "is not empty", "restore", "--from", at("snap"), "--data-dir", at("back"))
	expect(exitFailed, "no complete snapshot", "restore", "--from", at("back"), "--data-dir", at("again"))
	for _, dir := range []string{"data", "snap", "back"} {
		expect(0, "2: 1 public, 1 private; 0 past their time", "inspect", "--data-dir", at(dir))
	}
	_, stop = serving(t, at("back"))
	stop()
}

func TestInspectKeepsSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	seed(t, dir)
	for _, c := range []struct {
		flags      []string
		want, none []string
	}{
		{nil, []string{"1 messages"}, []string{string(secretID), secretBody, "hello", "tour"}},
		{[]string{"--show-ids"}, []string{string(secretID), "tour"}, []string{secretBody, "hello"}},
		{[]string{"--show-bodies"}, []string{secretBody, `hello\x1b`, `K: v`, "tour", "(private)"}, []string{string(secretID), "\x1b"}},
		{[]string{"--show-bodies", "--show-ids"}, []string{secretBody, string(secretID)}, []string{"(private)"}},
		{[]string{"--json"}, []string{`"private": 1`}, []string{string(secretID), secretBody, "tour"}},
		{[]string{"--json", "--show-ids"}, []string{string(secretID)}, []string{"payload"}},
		{[]string{"--json", "--show-bodies"}, []string{"payload"}, []string{string(secretID)}},
	} {
		code, out, errs := mq9(t, append([]string{"inspect", "--data-dir", dir}, c.flags...)...)
		if code != 0 || errs != "" {
			t.Fatalf("%v: %d, %q", c.flags, code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in %s", c.flags, want, out)
			}
		}
		for _, none := range c.none {
			if strings.Contains(out, none) {
				t.Errorf("%v: %q in %s", c.flags, none, out)
			}
		}
		if len(c.flags) > 0 && c.flags[0] == "--json" {
			var report inspection
			if err := json.Unmarshal([]byte(out), &report); err != nil || report.Tiers[1].Bytes != int64(len(secretBody)) {
				t.Errorf("%v: %v, %+v", c.flags, err, report)
			}
		}
	}
}

func TestSnapshotCommandLine(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	web := strings.TrimPrefix(other.URL, "http://")
	other503 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, `{"error":"storage unavailable","code":503}`)
	}))
	defer other503.Close()
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"snapshot"}, exitUsage, "name one directory"},
		{[]string{"snapshot", ""}, exitUsage, "name one directory"},
		{[]string{"snapshot", "a", "b"}, exitUsage, "name one directory"},
		{[]string{"snapshot", "a", "--http", "x"}, exitUsage, "--http"},
		{[]string{"snapshot", "a", "--http", "127.0.0.1:1"}, exitFailed, "no broker answers at 127.0.0.1:1"},
		{[]string{"snapshot", "a", "--http", web}, exitFailed, "makes no snapshots"},
		{[]string{"snapshot", "a", "--http", strings.TrimPrefix(other503.URL, "http://")}, exitFailed, "storage unavailable"},
		{[]string{"restore"}, exitUsage, "name --from and --data-dir"},
		{[]string{"restore", "--from", "x"}, exitUsage, "name --from and --data-dir"},
		{[]string{"restore", "x"}, exitUsage, "unexpected argument"},
		{[]string{"restore", "--from", empty, "--data-dir", filepath.Join(empty, "new")}, exitFailed, "holds no complete snapshot"},
		{[]string{"inspect", "--data-dir", empty}, exitFailed, "holds no store"},
		{[]string{"inspect", "x"}, exitUsage, "unexpected argument"},
	} {
		code, stdout, stderr := mq9(t, c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("mq9 %s: exit code %d, %q, %q", strings.Join(c.args, " "), code, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(empty, "new")); err == nil {
		t.Error("a restoration that was refused has made a directory")
	}
}

// What --salvage is for is said by the error that asks for it.
func TestSalvage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	seed(t, dir)
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	text, err := os.ReadFile(logs[len(logs)-1])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0x10
	if err := os.WriteFile(logs[len(logs)-1], text, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", dir}
	code, _, stderr := mq9(t, args...)
	if code != exitFailed || !strings.Contains(stderr, "--salvage") || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("%d, %q", code, stderr)
	}
	_, stop := serving(t, dir, "--salvage")
	stop()
}
