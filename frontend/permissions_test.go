package frontend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/mq9-broker/broker/mq9"
)

// permissionCases are permissions as a nats-server configuration writes them.
var permissionCases = []string{
	`{}`,
	`{ publish: "a.>" }`,
	`{ publish: [] }`,
	`{ publish: { deny: "a.b" } }`,
	`{ publish: { allow: ["a.*", "c"], deny: ["a.b", "*.d.>"] } }`,
	`{ publish: ">", subscribe: { deny: ">" } }`,
	`{ subscribe: "a.*" }`,
	`{ subscribe: [ "a.>", "c q" ] }`,
	`{ subscribe: [ "c q1", "c q.*", "a.b" ] }`,
	`{ subscribe: { allow: ["a.>", "a.b q1"], deny: ["a.c", "a.d q1"] } }`,
	`{ subscribe: { deny: ["c q.>", "a.*.x"] } }`,
	`{ allow_responses: true }`,
	`{ publish: "c", allow_responses: { max: 2, expires: "1m" } }`,
}

// The rules are nats-server's: for subjects that are not of mailboxes, both say the same.
func TestPermissionsAsNatsServer(t *testing.T) {
	var users strings.Builder
	for i, p := range permissionCases {
		fmt.Fprintf(&users, "{ user: u%d, password: p, permissions: %s }\n", i, p)
	}
	config := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(config, []byte("authorization { users [\n"+users.String()+"] }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(config)
	if err != nil {
		t.Fatal(err)
	}
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, true
	known := newDirectory(o).users
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the oracle does not start")
	}
	for i, text := range permissionCases {
		user := fmt.Sprintf("u%d", i)
		c := dial(t, s.Addr())
		c.send(`CONNECT {"verbose":false,"user":"` + user + `","pass":"p"}` + "\r\nPING\r\n")
		c.expect("PONG")
		permitted := func(frame string) bool {
			c.send(frame + "PING\r\n")
			line := c.line()
			if line == "PONG" {
				return true
			}
			if !strings.HasPrefix(line, "-ERR 'Permissions Violation") {
				t.Fatalf("%s: %q", frame, line)
			}
			c.expect("PONG")
			return false
		}
		ours := newPermissions(known[user])
		for sid, subject := range []string{"a", "a.b", "a.c", "a.d", "a.b.x", "a.d.x", "c", "d", "a.*", "a.>", "*", ">", "x.d.y"} {
			if !isPattern(subject) {
				if want, got := permitted("PUB "+subject+" 0\r\n\r\n"), ours.mayPublish(subject); got != want {
					t.Errorf("%s: publishing %s: nats-server says %v, we say %v", text, subject, want, got)
				}
			}
			for n, queue := range []string{"", "q", "q1", "q.1", "other"} {
				frame := fmt.Sprintf("SUB %s %s %d\r\nUNSUB %[3]d\r\n", subject, queue, 100*sid+n)
				if want, got := permitted(frame), ours.maySubscribe(subject, queue); got != want {
					t.Errorf("%s: %s: nats-server says %v, we say %v", text, frame, want, got)
				}
			}
		}
	}
}

// A mailbox's messages have more than one name: what is denied under one of them is denied under all.
func TestPermissionsOfAliases(t *testing.T) {
	const to = mq9.PrefixSend
	deny := func(subjects ...string) *permissions {
		p := &server.SubjectPermission{Deny: subjects}
		return newPermissions(&server.Permissions{Publish: p, Subscribe: p})
	}
	for _, c := range []struct {
		denied, subject    string
		publish, subscribe bool
	}{
		{to + "m", to + "m.normal", false, false},
		{to + "m", to + "m.urgent", true, true},
		{to + "m", to + "m.*", true, false},
		{to + "m.normal", to + "m", false, false},
		{to + "m.normal", to + "m.*", true, false},
		{to + "m.critical", to + "m", true, true},
		{to + "m.critical", to + "m.critical", false, false},
		{to + "m.critical", to + "m.*", true, false},
		{to + "*.urgent", to + "m.*", true, false},
		{to + "a.b", to + "a.b.normal", false, false},
		{to + "a.b.normal", to + "a.b", false, false},
		{to + "a.>", to + "a.b.*", false, false},
		{to + "a", to + "a.b", true, true},
	} {
		p := deny(c.denied)
		if got := p.maySubscribe(c.subject, ""); got != c.subscribe {
			t.Errorf("%s denied: subscribing to %s: %v", c.denied, c.subject, got)
		}
		if got := p.mayPublish(c.subject); !strings.HasSuffix(c.subject, "*") && got != c.publish {
			t.Errorf("%s denied: publishing to %s: %v", c.denied, c.subject, got)
		}
	}
}

// The cache of verdicts stays small and right.
func TestPermissionsCacheIsBounded(t *testing.T) {
	p := newPermissions(&server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"n.7"}}})
	for i := range 10 * keepVerdicts {
		subject := fmt.Sprintf("n.%d", i)
		for range 2 {
			if p.mayPublish(subject) != (i != 7) {
				t.Fatal(subject)
			}
		}
	}
	if len(p.verdicts) > keepVerdicts {
		t.Errorf("%d verdicts are kept", len(p.verdicts))
	}
}

// A delivery may be answered so often and so long, and only what was delivered.
func TestAnswers(t *testing.T) {
	subject := func(id mq9.MailID, m mq9.MsgID) string { return string(mq9.AppendDeleteSubject(nil, id, m)) }
	a := newAnswers(2, time.Minute)
	a.deliver("box", 1)
	if a.use(subject("box", 2)) || a.use(subject("other", 1)) || a.use("plain") {
		t.Error("what was not delivered was answered")
	}
	for n, want := range []bool{true, true, false} {
		if got := a.use(subject("box", 1)); got != want {
			t.Errorf("answer %d: %v", n+1, got)
		}
	}
	a.deliver("box", 1)
	if !a.use(subject("box", 1)) {
		t.Error("a message that came again may be answered again")
	}
	short := newAnswers(-1, time.Nanosecond)
	short.deliver("box", 1)
	for start := time.Now(); time.Since(start) < time.Microsecond; {
		continue // until the clock has moved
	}
	if short.use(subject("box", 1)) {
		t.Error("it was answered too late")
	}
	many := newAnswers(1, -1)
	for m := range mq9.MsgID(2 * keepAnswers) {
		many.deliver("box", m+1)
	}
	if len(many.open) > keepAnswers || len(many.order) > keepAnswers {
		t.Errorf("%d deliveries are remembered", len(many.open))
	}
	if many.use(subject("box", 1)) || !many.use(subject("box", 2*keepAnswers)) {
		t.Error("the oldest should be forgotten, not the newest")
	}
}

// Subjects of a scoped signing key are filled in as nats-server does.
func TestExpandScope(t *testing.T) {
	user := jwt.NewUserClaims("UABC")
	user.Name = "joe"
	user.Tags.Add("team:red", "team:blue")
	account := jwt.NewAccountClaims("AXYZ")
	account.Name = "acme"
	got, err := expandScope(jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{"plain", "u.{{name()}}.{{ subject() }}", "t.{{tag(team)}}.{{tag(team)}}", "{{tag(none)}}"}},
		Sub: jwt.Permission{Allow: jwt.StringList{"{{account-tag(none)}}.x"}, Deny: jwt.StringList{"{{account-name()}}.{{account-subject()}} q"}},
	}, user, account)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[plain u.joe.UABC t.red.red t.blue.blue]"; fmt.Sprint(got.Pub.Allow) != want {
		t.Errorf("publish: %v, want %s", got.Pub.Allow, want)
	}
	if len(got.Sub.Allow) != 0 || fmt.Sprint(got.Sub.Deny) != "[acme.AXYZ q >]" {
		t.Errorf("subscribe: %+v", got.Sub)
	}
	for _, deny := range []string{"{{tag(none)}}", "{{unknown()}}", "{{name()}}..x"} {
		if _, err := expandScope(jwt.Permissions{Pub: jwt.Permission{Deny: jwt.StringList{deny}}}, user, account); err == nil {
			t.Errorf("%s would deny nothing", deny)
		}
	}
	user.Name = "{{tag(team)}}"
	if _, err := expandScope(jwt.Permissions{Pub: jwt.Permission{Allow: jwt.StringList{"{{name()}}"}}}, user, account); err == nil {
		t.Error("a name can bring in placeholders")
	}
}

// BenchmarkMayPublish is what a permission costs a publish.
func BenchmarkMayPublish(b *testing.B) {
	const subject = mq9.PrefixSend + "task.queue.urgent"
	for name, p := range map[string]*permissions{
		"none": nil,
		"some": newPermissions(&server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"x", "$mq9.AI.MAILBOX.>"}, Deny: []string{"$SYS.>"}}}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !p.mayPublish(subject) {
					b.Fatal("denied")
				}
			}
		})
	}
}
