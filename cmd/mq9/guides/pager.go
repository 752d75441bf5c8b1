package guides

import (
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// page shows a text in the user's pager, if out is a terminal and there is a pager. It says whether it has shown it.
func page(out io.Writer, text string) bool {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	pager := os.Getenv("PAGER")
	if pager == "" {
		pager = "less"
	}
	if words := strings.Fields(pager); len(words) == 0 || !installed(words[0]) {
		return false
	}
	cmd := exec.Command("sh", "-c", pager) //nolint:gosec // PAGER is a command of the user's own
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), f, os.Stderr
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(os.Environ(), "LESS=FRX") // a short text needs no key to leave it, and stays on the screen
	}
	if err := cmd.Start(); err != nil {
		return false
	}
	_ = cmd.Wait() // however the reader left: the text has been shown
	return true
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
