package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// block is a fenced block of a document that is run: a console session, a program, or a file that later programs use.
//
// The info string of its fence says so behind the language: `console run`, `go run`, `js run`, `go file=NAME`. What a program prints stands
// in the block `output` that follows it.
type block struct {
	where    string // heading and line, for the reports
	language string
	file     string // not empty = a file of that name, which is not run by itself
	text     string
	output   string // what a program prints
}

// blocksOf reads the blocks of a document, a path from the repository's root, that are to be run. It is called while the specs are
// declared, so it panics on what it cannot read.
func blocksOf(document string) []block {
	text, err := os.ReadFile(filepath.Join("..", "..", document))
	if err != nil {
		panic(err)
	}
	var all []block
	var heading, info string
	var body strings.Builder
	inside, number := false, 0
	for line := range strings.Lines(string(text)) {
		number++
		switch {
		case inside && strings.HasPrefix(line, "```"):
			inside = false
			language, how, _ := strings.Cut(info, " ")
			var file string
			if name, is := strings.CutPrefix(how, "file="); is {
				file = name
			}
			switch {
			case language == "output":
				if len(all) == 0 || all[len(all)-1].output != "" {
					panic(fmt.Sprintf("%s:%d: an output of nothing", document, number))
				}
				all[len(all)-1].output = body.String()
			case how == "run" || file != "":
				all = append(all, block{where: heading, language: language, file: file, text: body.String()})
			case how != "":
				panic(fmt.Sprintf("%s:%d: what is to be done with %q?", document, number, info))
			}
		case inside:
			body.WriteString(line)
		case strings.HasPrefix(line, "```"):
			inside, info = true, strings.TrimSpace(strings.TrimPrefix(line, "```"))
			body.Reset()
		case strings.HasPrefix(line, "#"):
			heading = fmt.Sprintf("%s (line %d)", strings.TrimSpace(strings.TrimLeft(line, "#")), number)
		}
	}
	return all
}

// step is one command of a console block and what it prints.
type step struct{ command, output string }

// stepsOf reads a console block: commands behind `$ `, their further lines behind `> `, and what they print.
func stepsOf(console string) []step {
	var steps []step
	for line := range strings.Lines(console) {
		command, begins := strings.CutPrefix(line, "$ ")
		last := len(steps) - 1
		switch {
		case begins:
			steps = append(steps, step{command: command})
		case last < 0:
			panic("the console block begins with an output: " + line)
		case strings.HasPrefix(line, "> ") && steps[last].output == "":
			steps[last].command += line[2:]
		default:
			steps[last].output += line
		}
	}
	return steps
}
