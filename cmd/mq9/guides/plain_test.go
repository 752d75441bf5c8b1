package guides

import (
	"regexp"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, markdown, text string }{
		{"headings", "# Title\n\n## Part\n\n### Detail\n", "TITLE\n\nPART\n\n  Detail\n"},
		{"a fence", "```console run\n$ mq9 ls box\n\n# no heading\n```\n", "    $ mq9 ls box\n\n    # no heading\n"},
		{"emphasis", "It is **never** `quiet`, *never*; `a.*` is no `b.*`.\n", "It is never `quiet`, never; `a.*` is no `b.*`.\n"},
		{"a link to the other guide", "See [errors](clients.md#errors).\n", "See errors (mq9 help clients).\n"},
		{"a link inside", "See [below](#tls).\n", "See below.\n"},
		{"a link elsewhere", "See [it](../../../README.md#security).\n", "See it (README.md#security).\n"},
		{"a table", "| a | long word |\n|---|---|\n| 1234 | b |\n", "  a     long word\n  1234  b\n"},
		{"a table at the end of a text", "x\n| a | b |\n|---|---|\n| c | d |\ny\n", "x\n  a  b\n  c  d\ny\n"},
	} {
		if got := plain(c.markdown); got != c.text {
			t.Errorf("%s: %q became %q", c.name, c.markdown, got)
		}
	}
}

var code = regexp.MustCompile("`[^`]*`")

// Links and lines are as a reader needs them.
func TestGuidesAreWellFormed(t *testing.T) {
	for name, text := range map[string]string{"operations": operations, "clients": clients} {
		headings := map[string]bool{}
		fenced := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "##") && !fenced {
				headings[anchor(title)] = true
			}
			if outside := code.ReplaceAllString(inline(line), ""); !fenced && strings.Contains(outside, "*") {
				t.Errorf("%s: emphasis over the end of a line: %s", name, line)
			}
			if n := len([]rune(line)); n > 120 && !fenced && !strings.HasPrefix(line, "|") {
				t.Errorf("%s: a line of %d characters, which no terminal shows whole: %s", name, n, line)
			}
		}
		if fenced {
			t.Errorf("%s: a fence is open at the end", name)
		}
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if id, inside := strings.CutPrefix(link[2], "#"); inside && !headings[id] {
				t.Errorf("%s: no heading for %s", name, link[0])
			}
		}
	}
}

// anchor is what GitHub makes of a heading.
func anchor(title string) string {
	kept := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(title), "")
	return strings.ReplaceAll(kept, " ", "-")
}
