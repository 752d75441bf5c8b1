package config

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// preface is what the example begins with.
const preface = `# The configuration of "mq9 serve": every key, with its default. Take the "#" away from what you change.
#
# Stronger than this file are environment variables, and stronger than those are flags: max_memory here is
# MQ9_MAX_MEMORY there, and --max-memory. mq9 reads the file that --config or MQ9_CONFIG names, else ./mq9.toml,
# else /etc/mq9/mq9.toml, if it is there. Relative paths start at the directory in which mq9 was started.
#
#   mq9 config check FILE    says everything that is wrong with a file
#   mq9 config show          says what holds, and where it comes from
#   kill -HUP                has a running broker read the file again, for the keys marked "SIGHUP"
`

// WriteExample writes a configuration file that holds every key, commented out.
func WriteExample(w io.Writer) error {
	var b strings.Builder
	b.WriteString(preface)
	group := ""
	for i := range table {
		k := &table[i]
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&b, "\n\n# ---- %s\n", group)
		}
		marks := k.Unit
		if k.Reload {
			marks += "; SIGHUP"
		}
		if k.Secret {
			marks += "; a secret"
		}
		b.WriteByte('\n')
		for _, line := range wrap(fmt.Sprintf("%s (%s)", k.Effect, marks), 100) {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		fmt.Fprintf(&b, "#%s = %s\n", k.Name, k.literal())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// literal is the default in TOML.
func (k *Key) literal() string {
	if _, err := strconv.ParseInt(k.Default, 10, 64); err == nil || k.isSwitch() {
		return k.Default
	}
	return strconv.Quote(k.Default)
}

// wrap breaks a text into lines of a width, in bytes.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
