package top

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/frontend"
	"github.com/mq9-broker/broker/persistence"
)

// serve runs a broker until the test ends.
func serve(t *testing.T) *frontend.Server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	boxes, err := actors.Start(persistence.NewMemory(), actors.Config{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	front := frontend.New(frontend.Options{Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Version: "v9", Log: log}, boxes)
	if err := front.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := front.Shutdown(t.Context()); err != nil && !errors.Is(err, t.Context().Err()) {
			t.Error(err)
		}
		boxes.Stop()
	})
	return front
}

// agent is a client with a name.
func agent(t *testing.T, at *frontend.Server, name string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("nats://"+at.Addr().String(), nats.Name(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// ask sends a request.
func ask(t *testing.T, nc *nats.Conn, subject, body string) string {
	t.Helper()
	reply, err := nc.Request(subject, []byte(body), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return string(reply.Data)
}

// furnish fills a broker and returns the address of a private mailbox.
func furnish(t *testing.T, at *frontend.Server) (secret string) {
	t.Helper()
	nc := agent(t, at, "the boss")
	for _, name := range []string{"alerts", "task.queue"} {
		ask(t, nc, "$mq9.AI.MAILBOX.CREATE", fmt.Sprintf(`{"public":true,"name":%q,"ttl":3600}`, name))
	}
	var made struct {
		MailID string `json:"mail_id"`
	}
	if err := json.Unmarshal([]byte(ask(t, nc, "$mq9.AI.MAILBOX.CREATE", `{"ttl":600}`)), &made); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		worker := agent(t, at, fmt.Sprintf("worker\x1b[2J%d", i))
		if _, err := worker.QueueSubscribe("$mq9.AI.MAILBOX.MSG.task.queue.*", "workers", func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		if err := worker.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []string{"task.queue.critical", "task.queue", "task.queue", "alerts.urgent", made.MailID} {
		ask(t, nc, "$mq9.AI.MAILBOX.MSG."+to, "a message")
	}
	return made.MailID
}

// command runs `mq9 top` into a pipe.
func command(at string, args ...string) (string, error) {
	var out strings.Builder
	cmd := New(cobra.NoArgs, func(err error) error { return err })
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(append([]string{"--http", at, "--interval", "200ms"}, args...))
	err := cmd.Execute()
	return out.String(), err
}

func TestOnceIntoAPipe(t *testing.T) {
	at := serve(t)
	secret := furnish(t, at)
	text, err := command(at.HTTPAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(text)
	for _, want := range []string{"mq9 v9", "ready", "2 public, 1 private", "critical", "alerts", "workers", "private ", "the boss", "keeps up"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, secret) || strings.Contains(text, "\x1b") {
		t.Error("a secret or a control character is shown")
	}
	for line := range strings.Lines(text) {
		if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > printWidth {
			t.Errorf("%d cells: %s", w, line)
		}
	}
}

func TestJSON(t *testing.T) {
	at := serve(t)
	furnish(t, at)
	text, err := command(at.HTTPAddr().String(), "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Look
		Rates Rates
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Mailboxes) != 3 || len(got.Groups) != 1 || len(got.Connections) != 3 || !got.Rates.Known || got.Status.Tiers["normal"].Messages != 3 {
		t.Error(text)
	}
}

func TestMistakes(t *testing.T) {
	at := serve(t)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no port":       {[]string{"--http", "localhost"}, "host:port"},
		"too often":     {[]string{"--interval", "1ms"}, "100ms"},
		"nobody":        {[]string{"--http", "127.0.0.1:1"}, "no broker answers"},
		"not a broker":  {[]string{"--http", at.Addr().String()}, "--http"},
		"no arguments":  {[]string{"now"}, "now"},
		"no such thing": {[]string{"--fast"}, "fast"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := command(at.HTTPAddr().String(), c.args...); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// screen drives a model as a terminal does.
type screen struct {
	t *testing.T
	m tea.Model
}

func (s *screen) send(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	s.m, cmd = s.m.Update(msg)
	return cmd
}

func (s *screen) look() { s.send(s.m.(model).ask()) }

func (s *screen) keys(keys ...string) (cmd tea.Cmd) {
	special := map[string]tea.KeyType{"tab": tea.KeyTab, "down": tea.KeyDown, "up": tea.KeyUp, "esc": tea.KeyEsc, "enter": tea.KeyEnter, "end": tea.KeyEnd}
	for _, k := range keys {
		if kind, ok := special[k]; ok {
			cmd = s.send(tea.KeyMsg{Type: kind})
		} else {
			cmd = s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)})
		}
	}
	return cmd
}

// shows checks what is on the screen, and that it fits.
func (s *screen) shows(want string, yes bool) {
	s.t.Helper()
	view := s.m.View()
	if strings.Contains(view, want) != yes {
		s.t.Errorf("shows %q is not %v:\n%s", want, yes, view)
	}
	m := s.m.(model)
	if lines := strings.Count(view, "\n") + 1; lines > m.height {
		s.t.Errorf("%d lines on a screen of %d:\n%s", lines, m.height, view)
	}
	for line := range strings.Lines(view) {
		if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > m.width {
			s.t.Errorf("%d cells on a screen of %d: %s", w, m.width, line)
		}
	}
}

func TestLive(t *testing.T) {
	at := serve(t)
	s := &screen{t, newModel(&broker{base: "http://" + at.HTTPAddr().String(), http: http.DefaultClient}, time.Second)}
	s.send(tea.WindowSizeMsg{Width: 110, Height: 24})
	s.shows("looking…", true)
	s.look()
	s.shows("no mailbox yet", true)
	furnish(t, at)
	s.look()
	s.shows("task.queue", true)
	s.shows("alerts", true)

	s.keys("/", "t", "a", "s", "k")
	s.shows("alerts", false)
	s.keys("enter")
	s.shows("only rows with task", true)
	s.keys("esc")
	s.shows("alerts", true)

	s.keys("tab")
	s.shows("worker·[2J0", true)
	s.keys("3")
	s.shows("the boss", true)
	s.keys("1", "down", "down", "down", "down")
	if row := s.m.(model).row[mailboxTab]; row != 2 {
		t.Errorf("row %d of 3 is in hand", row)
	}
	for _, size := range []tea.WindowSizeMsg{{Width: 60, Height: 20}, {Width: 200, Height: 50}} {
		s.send(size)
		s.shows("task.queue", true)
	}

	s.keys("p")
	s.shows("held still", true)
	s.keys("p")
	if cmd := s.keys("q"); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
}

func TestLiveWhenTheBrokerGoes(t *testing.T) {
	s := &screen{t, newModel(&broker{base: "http://127.0.0.1:1", http: http.DefaultClient}, time.Second)}
	if cmd := s.send(s.m.(model).ask()); cmd == nil {
		t.Error("it does not try again")
	}
	s.shows("no broker answers", true)

	at := serve(t)
	m := s.m.(model)
	m.broker = &broker{base: "http://" + at.HTTPAddr().String(), http: http.DefaultClient}
	s.m = m
	s.look()
	m = s.m.(model)
	m.broker = &broker{base: "http://127.0.0.1:1", http: http.DefaultClient}
	s.m = m
	s.look()
	s.shows("what is shown is old", true)
	s.shows("mq9 v9", true)
}
