package client

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/mq9-broker/broker/mq9"
)

// output is where a command prints. Its methods belong to one goroutine at a time.
type output struct {
	*bufio.Writer // standard output; flushed when the command ends, and by watch whenever nothing more waits

	notes    io.Writer // standard error
	json     bool      // --json was given
	color    bool      // somebody looks at standard output who has not asked for NO_COLOR
	terminal bool      // somebody looks at standard output
}

func newOutput(out, notes io.Writer, json bool) *output {
	terminal := isTerminal(out)
	return &output{
		Writer: bufio.NewWriter(out), notes: notes, json: json, terminal: terminal,
		color: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// isTerminal reports whether a person is at the other end of a file.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// object prints a line of JSON.
func (o *output) object(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = o.Write(append(line, '\n'))
	return err
}

// note tells the person something that is no result.
func (o *output) note(format string, args ...any) {
	_, _ = fmt.Fprintf(o.notes, "mq9: "+format+"\n", args...) // nobody may be listening
}

// The colours, as ANSI names them.
const (
	bold      = "1"
	dim       = "2"
	yellow    = "33"
	boldRed   = "1;31"
	boldGreen = "1;32"
)

// paint colours text if somebody looks.
func (o *output) paint(code, text string) string {
	if !o.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// priority shows the name of a priority in its colour, padded to the width of the longest.
func (o *output) priority(p mq9.Priority) string {
	text := fmt.Sprintf("%-8s", p)
	switch p {
	case mq9.Critical:
		return o.paint(boldRed, text)
	case mq9.Urgent:
		return o.paint(yellow, text)
	default:
		return text
	}
}

// visible makes foreign text fit for a terminal: what would move the cursor, change colours or ring a bell is shown as its code.
func visible(text string) string {
	plain := func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case plain(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
