package frontend

import (
	"fmt"
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, subject string
		want             bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a", false},
		{"a", "a.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a.b.c", false},
		{"a.*", "a", false},
		{"*.b", "a.b", true},
		{"*", "a", true},
		{">", "a", true},
		{">", "a.b.c", true},
		{"a.>", "a.b.c", true},
		{"a.>", "a", false},
		{"a.>", "b.c", false},
		{"a.>.c", "a.b.c", false},
		{"a.*b", "a.xb", false},
		{"a.b*", "a.b*", true},
		{"a.*.c", "a.b.c", true},
	} {
		if got := matches(c.pattern, c.subject); got != c.want {
			t.Errorf("%s on %s: got %v", c.pattern, c.subject, got)
		}
	}
}

func TestTableClaims(t *testing.T) {
	table := newTable()
	for _, e := range []*entry{
		{sid: "1", subject: "_INBOX.a"},
		{sid: "2", subject: "_INBOX.*"},
		{sid: "3", subject: ">"},
		{sid: "4", subject: "_INBOX.a", queue: "q"}, // a queue group's inbox is not this connection's alone
		{sid: "5", subject: "_INBOX.b"},
	} {
		if table.add(e) != nil {
			t.Fatalf("sid %s was taken", e.sid)
		}
	}
	if taken := table.add(&entry{sid: "1", subject: "other"}); taken == nil || taken.subject != "_INBOX.a" {
		t.Fatalf("sid 1 was given twice: %v", taken)
	}
	sids, upstream := claim(table, "_INBOX.a")
	if fmt.Sprint(sids) != "[1 2 3]" || upstream != nil {
		t.Fatalf("got %v, %q", sids, upstream)
	}
	if sids, _ := claim(table, "other.inbox"); fmt.Sprint(sids) != "[3]" {
		t.Fatalf("got %v", sids)
	}
	table.refused("_INBOX.a", "")
	table.remove(table.get([]byte("3")))
	if sids, _ := claim(table, "_INBOX.a"); fmt.Sprint(sids) != "[2]" {
		t.Fatalf("got %v", sids)
	}
}

// claim sends an empty reply to an inbox and returns the sids that get it.
func claim(t *table, inbox string) (sids []string, upstream []byte) {
	frames, upstream := t.appendReply(nil, inbox, nil)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(frames), " 0\r\n\r\n"), " 0\r\n\r\n") {
		if _, sid, ok := strings.Cut(line, inbox+" "); ok {
			sids = append(sids, sid)
		}
	}
	return sids, upstream
}

func TestTableCountsAutoUnsubscribe(t *testing.T) {
	table := newTable()
	e := &entry{sid: "1", subject: "in"}
	table.add(e)
	if line := table.limit(e, 2); line != nil {
		t.Fatalf("the client's own UNSUB is right, got %q", line)
	}
	if _, upstream := claim(table, "in"); string(upstream) != "UNSUB 1 1\r\n" {
		t.Fatalf("after one reply: %q", upstream)
	}
	if _, upstream := claim(table, "in"); string(upstream) != "UNSUB 1\r\n" {
		t.Fatalf("after the last reply: %q", upstream)
	}
	if sids, _ := claim(table, "in"); sids != nil || table.size() != 0 || table.limited.Load() != 0 {
		t.Fatalf("it still stands: %v", sids)
	}

	// A reply came first; then max is set, and the embedded server delivers the rest.
	e = &entry{sid: "2", subject: "in"}
	table.add(e)
	claim(table, "in")
	if line := table.limit(e, 3); string(line) != "UNSUB 2 2\r\n" {
		t.Fatalf("got %q", line)
	}
	table.passed([]byte("2"))
	if table.size() != 1 {
		t.Fatal("it ended early")
	}
	if table.passed([]byte("2")); table.size() != 0 || table.limited.Load() != 0 {
		t.Fatal("it did not end")
	}

	// max below what was delivered already ends it at once.
	e = &entry{sid: "3", subject: "in"}
	table.add(e)
	claim(table, "in")
	if line := table.limit(e, 1); string(line) != "UNSUB 3\r\n" || table.size() != 0 {
		t.Fatalf("got %q", line)
	}
}
