package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/mq9-broker/broker/mq9"
)

// Colours are the terminal's own, so that they suit its ground; there are none where it shows none.
var (
	bold     = lipgloss.NewStyle().Bold(true)
	faint    = lipgloss.NewStyle().Faint(true)
	good     = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	warn     = lipgloss.NewStyle().Foreground(lipgloss.Color("3")).Bold(true)
	bad      = lipgloss.NewStyle().Foreground(lipgloss.Color("1")).Bold(true)
	here     = lipgloss.NewStyle().Reverse(true)
	byName   = map[string]lipgloss.Style{"critical": bad.UnsetBold(), "urgent": warn.UnsetBold(), "normal": lipgloss.NewStyle().Foreground(lipgloss.Color("6"))}
	tableGap = "  "
)

// narrow is the least width that is written for.
const narrow = 60

// head writes the figures above the tables.
func head(l *Look, r Rates, width int) string {
	s := &l.Status
	var b strings.Builder
	line := func(parts ...string) {
		b.WriteString(ansi.Truncate(strings.Join(parts, "   "), width, "…") + "\n")
	}
	ready := good.Render("ready")
	if !s.Ready {
		ready = bad.Render("not ready: " + plain(s.Reason))
	}
	line(bold.Render("mq9 "+s.Version), ready, "up "+span(duration(s.Uptime)), fmt.Sprintf("cpu %s", known(r, fmt.Sprintf("%.0f %%", 100*r.CPU))), "memory "+bytes(int64(s.Process.Resident)))
	slow := "none slow"
	if s.Connections.Slow > 0 {
		slow = warn.Render(fmt.Sprintf("%d slow", s.Connections.Slow))
	}
	line(fmt.Sprintf("in %s /s, %s/s", known(r, rate(sum(r.Published))), known(r, bytes(int64(r.BytesIn)))),
		fmt.Sprintf("out %s /s, %s/s", known(r, rate(sum(r.Delivered))), known(r, bytes(int64(r.BytesOut)))),
		fmt.Sprintf("clients %d, %s", s.Connections.Now, slow),
		fmt.Sprintf("mailboxes %s public, %s private", count(s.Mailboxes.Public), count(s.Mailboxes.Private)))
	store := good.Render(s.Store.State)
	if s.Store.State != "ok" {
		store = bad.Render(s.Store.State + ": " + plain(s.Store.Error))
	}
	line("store "+store, "sync "+s.Store.Sync, known(r, rate(r.Batches))+" batches/s", "disk "+bytes(s.Store.Disk)+", "+bytes(s.Store.DiskFree)+" free")
	line("half, 99 % within:", took(r, "store", "store"), took(r, "sync", "sync"), took(r, "deliver", "delivery"))
	b.WriteString("\n")
	line(bold.Render(fmt.Sprintf("%-10s%12s%12s%10s%10s%12s%12s", "", "waiting", "bytes", "in /s", "out /s", "deleted", "expired")))
	for p := range mq9.Priority(mq9.Priorities) {
		name := p.String()
		tier, traffic := s.Tiers[name], s.Traffic[name]
		line(byName[name].Render(fmt.Sprintf("%-10s", name)) + fmt.Sprintf("%12s%12s%10s%10s%12s%12s", count(tier.Messages), bytes(tier.Bytes),
			known(r, rate(r.Published[name])), known(r, rate(r.Delivered[name])), count(int64(traffic.Deleted)), count(int64(traffic.Expired))))
	}
	return b.String()
}

// known is the text, or a dash before there were two looks.
func known(r Rates, text string) string {
	if !r.Known {
		return "–"
	}
	return text
}

func rate(n float64) string {
	if n > 0 && n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return count(int64(n + .5))
}

// took writes how long something took.
func took(r Rates, what, name string) string {
	s, ok := r.Latencies[name]
	if !ok {
		return what + " –"
	}
	short := func(seconds float64) string {
		d := duration(seconds)
		switch {
		case d >= time.Second:
			return d.Round(10 * time.Millisecond).String()
		case d >= time.Millisecond:
			return d.Round(100 * time.Microsecond).String()
		}
		return d.Round(time.Microsecond).String()
	}
	return fmt.Sprintf("%s %s, %s", what, short(s.P50), short(s.P99))
}

// grid writes a table's head and rows in a width; the row at mark, if any, is shown as the one in hand.
func grid(tab int, rows [][]string, width, mark int) string {
	cols := columns[tab]
	rest := width
	for _, c := range cols {
		rest -= c.width + len(tableGap)
	}
	rest = max(16, rest+len(tableGap))
	line := func(cells []string) string {
		out := make([]string, len(cells))
		for i, text := range cells {
			w := cols[i].width
			if w == 0 {
				w = rest
			}
			text = ansi.Truncate(text, w, "…")
			pad := strings.Repeat(" ", max(0, w-ansi.StringWidth(text)))
			if number(cols[i].head) {
				out[i] = pad + text
			} else {
				out[i] = text + pad
			}
		}
		return ansi.Truncate(strings.TrimRight(strings.Join(out, tableGap), " "), width, "…")
	}
	heads := make([]string, len(cols))
	for i, c := range cols {
		heads[i] = c.head
	}
	var b strings.Builder
	b.WriteString(faint.Render(line(heads)) + "\n")
	for i, row := range rows {
		text := line(row)
		switch {
		case i == mark:
			text = here.Render(text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text))))
		case tab == clientTab && row[2] == "slow":
			text = bad.Render(text)
		case tab == clientTab && row[2] == "behind":
			text = warn.Render(text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// number reports whether a column is written from the right.
func number(head string) bool {
	switch head {
	case "Mailbox", "Group", "Client", "Address", "State", "Who holds how much":
		return false
	}
	return true
}

// nothing says what to do about an empty table.
func nothing(tab int, filter string) string {
	if filter != "" {
		return "nothing has " + plain(filter) + " in it: esc shows all"
	}
	return [tabs]string{
		`no mailbox yet: nats req '$mq9.AI.MAILBOX.CREATE' '{"public": true, "name": "task.queue", "ttl": 3600}'`,
		"no queue group: workers that name one share a mailbox",
		"nobody is connected: any NATS client will do",
	}[tab]
}

// printWidth is the width of what goes into a pipe.
const printWidth = 120

// page is a view of everything, for a pipe.
func page(l *Look, r Rates) string {
	var b strings.Builder
	b.WriteString(head(l, r, printWidth))
	for tab := range tabs {
		b.WriteString("\n" + bold.Render(tabNames[tab]) + "\n")
		if found := rows(l, tab, ""); len(found) > 0 {
			b.WriteString(grid(tab, found, printWidth, -1))
		} else {
			b.WriteString(nothing(tab, "") + "\n")
		}
	}
	if l.More {
		fmt.Fprintf(&b, "\nThe first %d of each are listed; the admin API has all.\n", most)
	}
	return b.String()
}
