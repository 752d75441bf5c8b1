package clients_test

import (
	"regexp"
	"slices"
	"strings"
)

// masks hide what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	mask    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), "<mail_id>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`"ts":\d+`), `"ts":<seconds>`},
	{regexp.MustCompile(`\b0[0-9a-v]{12}\b`), "<msg_id>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "<date>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "<clock>"},
	{regexp.MustCompile(`\b\d+h\d+m\b`), "<duration>"},
	{regexp.MustCompile(`\d+(\.\d+)?(ms|µs|s)\b`), "<duration>"},
	{regexp.MustCompile(`\d+(\.\d+)? [KMG]iB\b`), "<size>"},
	{regexp.MustCompile(`up to \d+`), "up to <id>"},
	{regexp.MustCompile(` {3,}`), "  "}, // columns are as wide as what is in them
}

// masked hides what differs from run to run, trailing blanks, empty lines, the order of header lines, which the nats command does not keep,
// when it says that it listens, since messages may come sooner, and what its error handler may say before it ends with the same words.
func masked(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.mask)
	}
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, " \r\n")
		if line != "" && !strings.Contains(line, ">>> Unexpected NATS error") {
			lines = append(lines, line)
		}
	}
	listens := func(line string) bool { return strings.HasPrefix(line, "<clock> Listening on ") }
	if i := slices.IndexFunc(lines, listens); i > 0 {
		line := lines[i]
		lines = slices.Insert(slices.Delete(lines, i, i+1), 0, line)
	}
	isHeader := func(line string) bool { return strings.HasPrefix(strings.TrimPrefix(line, "<clock> "), "Mq9-") }
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && isHeader(lines[to]) {
			to++
		}
		slices.Sort(lines[from:to])
		from = max(from, to-1)
	}
	return strings.Join(lines, "\n")
}
