package guides

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
)

var (
	// links matches [text](where).
	links = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

	// emphasis matches *text* and **text**.
	emphasis = regexp.MustCompile(`\*+([^*]+)\*+`)
)

// plain renders the little Markdown that the guides use as text for a terminal: headings, fences, tables, links and emphasis.
func plain(markdown string) string {
	var out strings.Builder
	var table []string
	fenced := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		if len(table) > 0 && !strings.HasPrefix(line, "|") {
			out.WriteString(aligned(table))
			table = nil
		}
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced:
			line = strings.TrimRight("    "+line, " ")
		case strings.HasPrefix(line, "# "), strings.HasPrefix(line, "## "):
			line = strings.ToUpper(strings.TrimLeft(line, "# "))
		case strings.HasPrefix(line, "### "):
			line = "  " + strings.TrimLeft(line, "# ")
		case strings.HasPrefix(line, "|"):
			table = append(table, inline(line))
			continue
		default:
			line = inline(line)
		}
		out.WriteString(line + "\n")
	}
	out.WriteString(aligned(table))
	return out.String()
}

// inline takes the marks out of a line: emphasis goes, a link to the other guide becomes its command, other links stand behind their text.
func inline(line string) string {
	line = links.ReplaceAllStringFunc(line, func(link string) string {
		m := links.FindStringSubmatch(link)
		text, where := m[1], m[2]
		guide, _, _ := strings.Cut(where, "#")
		switch guide {
		case "":
			return text // of this guide
		case "operations.md", "clients.md":
			return fmt.Sprintf("%s (mq9 help %s)", text, strings.TrimSuffix(guide, ".md"))
		}
		return fmt.Sprintf("%s (%s)", text, strings.TrimLeft(where, "./"))
	})
	parts := strings.Split(line, "`") // every other one is code, in which an asterisk is one
	for i := 0; i < len(parts); i += 2 {
		parts[i] = emphasis.ReplaceAllString(parts[i], "$1")
	}
	return strings.Join(parts, "`")
}

// aligned renders the rows of a table in columns, without the line below its head.
func aligned(rows []string) string {
	var out strings.Builder
	columns := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for i, row := range rows {
		if i == 1 {
			continue
		}
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		_, _ = fmt.Fprintln(columns, "  "+strings.Join(cells, "\t")) // a strings.Builder takes everything
	}
	_ = columns.Flush()
	return out.String()
}
