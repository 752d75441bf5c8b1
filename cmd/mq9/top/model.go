package top

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/mq9-broker/broker/frontend/admin"
)

// model is the live view. Update is the only one that changes it.
type model struct {
	broker   *broker
	interval time.Duration

	look   *Look         // the last one; nil before the first
	before *admin.Status // of the look before; nil if there is none
	rates  Rates
	err    error // why the last look failed

	width, height int // of the terminal, cells
	tab           int
	row           [tabs]int // in hand, in each table
	filter        textinput.Model
	filtering     bool // keys go into the filter
	still         bool // looks are not shown
}

var _ tea.Model = model{}

type (
	looked struct { // the end of a look
		look *Look
		err  error
	}
	again struct{} // it is time for another
)

func newModel(b *broker, interval time.Duration) model {
	filter := textinput.New()
	filter.Prompt, filter.CharLimit = "/", 200
	return model{broker: b, interval: interval, width: 100, height: 30, filter: filter}
}

// Init implements tea.Model.
func (m model) Init() tea.Cmd { return m.ask }

// ask looks.
func (m model) ask() tea.Msg {
	ctx, cancel := context.WithTimeout(context.Background(), lookWait)
	defer cancel()
	l, err := m.broker.look(ctx)
	return looked{l, err}
}

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(narrow, msg.Width), max(12, msg.Height)
	case again:
		return m, m.ask
	case looked:
		m.take(msg)
		return m, tea.Tick(m.interval, func(time.Time) tea.Msg { return again{} })
	case tea.KeyMsg:
		return m.key(msg)
	}
	return m, nil
}

// take shows what a look brought.
func (m *model) take(l looked) {
	m.err = l.err
	if l.err != nil || m.still {
		return
	}
	if m.look != nil {
		m.before = &m.look.Status
	}
	m.look = l.look
	m.rates = rates(m.before, &m.look.Status)
	m.hold()
}

// hold keeps the row in hand within its table.
func (m *model) hold() {
	m.row[m.tab] = max(0, min(m.row[m.tab], len(m.rows())-1))
}

func (m *model) rows() [][]string {
	if m.look == nil {
		return nil
	}
	return rows(m.look, m.tab, m.filter.Value())
}

// key acts on a key.
func (m model) key(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	if k.Type == tea.KeyCtrlC {
		return m, tea.Quit
	}
	if m.filtering {
		switch k.Type {
		case tea.KeyEsc:
			m.filter.SetValue("")
			fallthrough
		case tea.KeyEnter:
			m.filtering = false
			m.filter.Blur()
			m.hold()
			return m, nil
		}
		var cmd tea.Cmd
		m.filter, cmd = m.filter.Update(k)
		m.hold()
		return m, cmd
	}
	const pageRows = 10
	switch k.String() {
	case "q":
		return m, tea.Quit
	case "tab", "right", "l":
		m.tab = (m.tab + 1) % tabs
	case "shift+tab", "left", "h":
		m.tab = (m.tab + tabs - 1) % tabs
	case "1", "2", "3":
		m.tab = int(k.Runes[0] - '1')
	case "up", "k":
		m.row[m.tab]--
	case "down", "j":
		m.row[m.tab]++
	case "pgup":
		m.row[m.tab] -= pageRows
	case "pgdown":
		m.row[m.tab] += pageRows
	case "home", "g":
		m.row[m.tab] = 0
	case "end", "G":
		m.row[m.tab] = len(m.rows())
	case "/":
		m.filtering = true
		return m, m.filter.Focus()
	case "esc":
		m.filter.SetValue("")
	case "p":
		m.still = !m.still
	}
	m.hold()
	return m, nil
}

// View implements tea.Model.
func (m model) View() string {
	if m.look == nil {
		if m.err != nil {
			return bad.Render(ansi.Wrap("mq9 top: "+m.err.Error(), m.width, "")) + "\n\ntrying again; q quits\n"
		}
		return "looking…\n"
	}
	top := head(m.look, m.rates, m.width) + "\n" + m.tabLine() + "\n"
	bottom := m.footer()
	found := m.rows()
	if len(found) == 0 {
		return top + ansi.Wrap(nothing(m.tab, m.filter.Value()), m.width, "") + "\n\n" + bottom
	}
	room := max(3, m.height-strings.Count(top, "\n")-3) // the table's head, and the footer
	row := m.row[m.tab]
	first := max(0, min(row-room/2, len(found)-room))
	last := min(len(found), first+room)
	return top + grid(m.tab, found[first:last], m.width, row-first) + bottom
}

// tabLine names the tables.
func (m model) tabLine() string {
	names := make([]string, tabs)
	for i, name := range tabNames {
		names[i] = fmt.Sprintf(" %d %s ", i+1, name)
		if i == m.tab {
			names[i] = here.Render(names[i])
		}
	}
	return strings.Join(names, " ")
}

// footer says what is not as usual, or which keys there are.
func (m model) footer() string {
	text := faint.Render("tab table   ↑↓ row   / filter   p hold still   q quit")
	switch {
	case m.filtering:
		text = m.filter.View()
	case m.err != nil:
		text = bad.Render("what is shown is old: " + m.err.Error())
	case m.still:
		text = warn.Render("held still: p goes on")
	case m.filter.Value() != "":
		text = faint.Render("only rows with ") + plain(m.filter.Value()) + faint.Render(": esc shows all")
	}
	return ansi.Truncate(text, m.width, "…")
}
