package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// print renders the report for a person.
func (r *inspection) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	var b strings.Builder
	what := "data directory"
	if r.Snapshot {
		what = "snapshot"
	}
	fmt.Fprintf(&b, "%s\t%s\n", what, r.Dir)
	fmt.Fprintf(&b, "format\t%d\n", r.Format)
	fmt.Fprintf(&b, "on disk\t%s in files, %s of log\n", size(r.FileBytes), size(r.LogBytes))
	fmt.Fprintf(&b, "used ids\tup to %d\n", r.UsedIDs)
	m := r.Mailboxes
	fmt.Fprintf(&b, "mailboxes\t%d: %d public, %d private; %d past their time, %d more being purged\n",
		m.Public+m.Private, m.Public, m.Private, m.Expired, m.Purging)
	for _, t := range r.Tiers {
		fmt.Fprintf(&b, "%s\t%d messages, %s", t.Priority, t.Messages, size(t.Bytes))
		if t.Messages > 0 {
			fmt.Fprintf(&b, ", oldest %s, newest %s", t.Oldest.Format(time.RFC3339), t.Newest.Format(time.RFC3339))
		}
		b.WriteByte('\n')
	}
	for _, e := range r.Listed {
		e.print(&b)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return w.Flush()
}

func (e *mailboxEntry) print(b *strings.Builder) {
	name, kind := e.MailID, "private"
	if name == "" {
		name = "(private)"
	}
	if e.Public {
		kind = "public"
	}
	fmt.Fprintf(b, "\n%s\t%s, account %s, until %s, %d messages, %s\n",
		name, kind, e.Account, e.Expires.Format(time.RFC3339), e.Messages, size(e.Bytes))
	for _, m := range e.Bodies {
		fmt.Fprintf(b, "  %s\t%s, %s, %d bytes\n", m.MsgID, m.Priority, m.Accepted.Format(time.RFC3339Nano), len(m.Payload))
		for line := range strings.SplitSeq(strings.TrimSuffix(m.Header, "\r\n"), "\r\n") {
			if line != "" {
				fmt.Fprintf(b, "  \t%q\n", line)
			}
		}
		fmt.Fprintf(b, "  \t%q\n", m.Payload) // quoted: it may be any bytes, and a terminal obeys some
	}
}

// size renders a number of bytes.
func size(bytes int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch n := float64(bytes); {
	case bytes < kib:
		return fmt.Sprintf("%d B", bytes)
	case bytes < mib:
		return fmt.Sprintf("%.1f KiB", n/kib)
	case bytes < gib:
		return fmt.Sprintf("%.1f MiB", n/mib)
	default:
		return fmt.Sprintf("%.1f GiB", n/gib)
	}
}
