package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// listPath is where the list is kept, from the repository's root.
const listPath = "cmd/mq9/packaging/licences/LICENCES.md"

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// run executes one command.
func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("say one of: list, check, texts, sbom")
	}
	parts, err := carried()
	if err != nil {
		return err
	}
	switch args[0] {
	case "list":
		_, err = out.Write(list(parts))
		return err
	case "check":
		kept, err := os.ReadFile(listPath)
		if err != nil {
			return err
		}
		if err := judge(parts); err != nil {
			return err
		}
		if err := compare(kept, parts); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%d parts and %d libraries, all under licences that are allowed\n", len(parts), len(libraries))
		return err
	case "texts":
		return writeTexts(out, parts)
	case "sbom":
		libs, err := allInstalled()
		if err != nil {
			return err
		}
		return complete(in, out, parts, libs)
	}
	return fmt.Errorf("unknown command %q: say one of list, check, texts, sbom", args[0])
}

// compare says whether the list that is kept is of these parts.
func compare(kept []byte, parts []part) error {
	if !bytes.Equal(kept, list(parts)) {
		return errors.New(listPath + " is not what the binary carries now: run make licences, and look at what changed")
	}
	return nil
}
