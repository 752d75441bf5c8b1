package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mq9-broker/broker/frontend/admin"
)

// The tables, in the order of their keys.
const (
	mailboxTab = iota
	groupTab
	clientTab
	tabs
)

var tabNames = [tabs]string{"Mailboxes", "Groups", "Clients"}

// column is one of a table: its head, and its width in cells; 0 = what is left.
type column struct {
	head  string
	width int
}

var columns = [tabs][]column{
	{{"Mailbox", 0}, {"Critical", 10}, {"Urgent", 10}, {"Normal", 10}, {"Bytes", 10}, {"Readers", 8}, {"Behind", 7}, {"Ends in", 10}},
	{{"Group", 18}, {"Mailbox", 26}, {"Members", 8}, {"Held", 8}, {"Who holds how much", 0}},
	{{"Client", 0}, {"Address", 22}, {"State", 9}, {"In flight", 10}, {"Delivered", 10}, {"Subscriptions", 14}},
}

// rows makes the rows of a table; those without the filter's text are left out.
func rows(l *Look, tab int, filter string) (rows [][]string) {
	switch tab {
	case mailboxTab:
		for _, m := range l.Mailboxes {
			rows = append(rows, mailboxRow(m, l.Status.Now))
		}
	case groupTab:
		names := map[uint64]string{}
		for _, c := range l.Connections {
			names[c.ID] = c.Name
		}
		for _, g := range l.Groups {
			rows = append(rows, groupRow(g, names))
		}
	case clientTab:
		clients := slices.Clone(l.Connections)
		slices.SortStableFunc(clients, func(a, b admin.Connection) int { return cmp.Compare(pressing(b), pressing(a)) })
		for _, c := range clients {
			rows = append(rows, []string{
				clientName(c.Name, c.ID), plain(c.Address), state(c), bytes(int64(c.Inflight)), count(int64(c.Delivered)), count(int64(c.Subscriptions + c.Plain)),
			})
		}
	}
	filter = strings.ToLower(filter)
	return slices.DeleteFunc(rows, func(row []string) bool { return !strings.Contains(strings.ToLower(strings.Join(row, " ")), filter) })
}

func mailboxRow(m admin.Mailbox, now time.Time) []string {
	name := m.Name
	if !m.Public {
		name = "private " + m.Hash
	}
	depth, size := func(string) string { return "…" }, "…"
	if m.Counted {
		total := int64(0)
		for _, d := range m.Depth {
			total += d.Bytes
		}
		depth, size = func(p string) string { return count(m.Depth[p].Messages) }, bytes(total)
	}
	return []string{
		plain(name), depth("critical"), depth("urgent"), depth("normal"), size,
		strconv.Itoa(m.Subscriptions + m.Members), strconv.Itoa(m.Waiting), span(m.ExpiresAt.Sub(now)),
	}
}

func groupRow(g admin.Group, names map[uint64]string) []string {
	mailbox := g.Mailbox
	if !g.Public {
		mailbox = "private " + mailbox
	}
	members := slices.Clone(g.Members)
	slices.SortStableFunc(members, func(a, b admin.Member) int { return cmp.Compare(b.Held, a.Held) })
	who := make([]string, 0, len(members))
	for _, m := range members {
		who = append(who, fmt.Sprintf("%s %d", clientName(names[m.Connection], m.Connection), m.Held))
	}
	return []string{plain(g.Group), plain(mailbox), strconv.Itoa(g.Size), strconv.Itoa(g.Held), strings.Join(who, ", ")}
}

// pressing orders clients: those that do not keep up first.
func pressing(c admin.Connection) int {
	switch {
	case c.Slow:
		return 2
	case c.Waiting > 0:
		return 1
	}
	return 0
}

func state(c admin.Connection) string { return [...]string{"keeps up", "behind", "slow"}[pressing(c)] }

func clientName(name string, id uint64) string {
	if name == "" {
		return fmt.Sprintf("client %d", id)
	}
	return plain(name)
}

// plain takes out of a text that a client chose what a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '·'
		}
		return r
	}, text)
}

func count(n int64) string { return humanize.Comma(n) }

func bytes(n int64) string { return humanize.IBytes(uint64(max(0, n))) }

// span is a time in its two largest units.
func span(d time.Duration) string {
	d = max(0, d).Truncate(time.Second)
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return d.String()
}
