package persistence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Some tests need a process of their own, to kill it or to take its disk away. They run this binary again in the data
// directory, with the role in its environment.
const roleVariable = "PERSISTENCE_TEST_ROLE"

var roles = map[string]func(dir string) error{
	"writer": writerRole,
	"full":   fullDiskRole,
	"opener": openerRole,
	"holder": holderRole,
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role]("."); err != nil {
		os.Stdout.WriteString("error " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// holderRole has the store open until its input ends.
func holderRole(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, s.Close())
}

// child is another process that writes a line for each thing it did.
type child struct {
	*exec.Cmd

	lines *bufio.Scanner
	input io.WriteCloser
}

// start runs a role on a data directory. The caller waits for its end.
func start(t *testing.T, role, dir string) child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Dir = dir
	c.Env = append(os.Environ(), roleVariable+"="+role)
	c.Stderr = t.Output()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return child{c, bufio.NewScanner(out), in}
}
