package watch

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"tmuxmcp/internal/terminal"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/tmux"
)

// event is what is printed about an agent: a line of JSON.
type event struct {
	Time     *time.Time   `json:"time,omitempty"` // not with Once
	PaneID   tmux.PaneID  `json:"pane_id"`
	Place    string       `json:"place"`
	Agent    string       `json:"agent"`
	Version  string       `json:"version,omitempty"`
	State    agents.State `json:"state"`
	Was      agents.State `json:"was,omitempty"`
	Question string       `json:"question,omitempty"`
	Choices  []choice     `json:"choices,omitempty"`
	Input    string       `json:"input,omitempty"`
}

type choice struct {
	Keys  []string `json:"keys"`
	Label string   `json:"label"`
}

func eventOf(s agents.Agent) event {
	e := event{
		PaneID: s.ID, Place: rows.PlaceOf(s.Session, s.Window, s.Index), Agent: s.Name, Version: s.Version,
		State: s.State, Question: s.Question, Input: s.Input(),
	}
	for _, c := range s.Choices {
		e.Choices = append(e.Choices, choice(c))
	}
	return e
}

// cells returns an event as the cells of a row.
func (e event) cells() []string {
	name := strings.TrimSpace(e.Agent + " " + e.Version)
	cells := []string{string(e.PaneID), e.Place, name, string(e.State), reply.Flat(e.Question)}
	for i := range cells {
		cells[i] = terminal.Visible(strings.ReplaceAll(cells[i], "\t", " "))
	}
	return cells
}

// print prints a change of an agent, unless there is a table.
func (w *watcher) print(a *agent, was agents.State) error {
	if w.screen != nil || !w.prints(a.state) {
		return nil
	}
	e := eventOf(a.Agent)
	e.State, e.Question, e.Was, e.Time = a.state, a.question, was, &a.since
	if w.JSON {
		return terminal.EncodeJSON(w.Out, e, "")
	}
	_, err := fmt.Fprintln(w.Out, w.row(append([]string{a.since.Format(time.TimeOnly)}, e.cells()...)))
	return err
}

// row returns cells as a row for Out, which may be a CI system's log unless it is a terminal.
func (o Options) row(cells []string) string {
	row := strings.TrimRight(strings.Join(cells, "\t"), "\t")
	if !terminal.Is(o.Out) {
		row = terminal.Printable(row)
	}
	return row
}

// printAll prints events as a table, or as lines of JSON.
func (o Options) printAll(events []event) error {
	table := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', 0)
	for _, e := range events {
		if o.JSON {
			if err := terminal.EncodeJSON(o.Out, e, ""); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(table, o.row(e.cells()))
	}
	return table.Flush()
}

// screen is a terminal that has a table, on its alternate screen: what was there before is
// there again afterwards. nil is none.
type screen struct {
	out   *os.File
	shown string // with the size of the terminal

	mu   sync.Mutex
	last string // line of what was written
}

// Write keeps the last line, which is shown below the table: on a terminal, problems and
// what commands print would otherwise be in it.
func (s *screen) Write(text []byte) (int, error) {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = terminal.Visible(reply.Flat(lines[len(lines)-1]))
	return len(text), nil
}

// screenOn returns the terminal that gets a table, or nil.
func screenOn(o Options) *screen {
	f, ok := o.Out.(*os.File)
	if !ok || o.JSON || !terminal.Is(f) {
		return nil
	}
	return &screen{out: f}
}

// What the terminal is sent: the alternate screen without a cursor and without wrapping, so
// that each row is one line, and back.
const (
	enter = "\033[?1049h\033[?25l\033[?7l"
	leave = "\033[?7h\033[?25h\033[?1049l"
)

func (s *screen) close() {
	if s.shown != "" {
		io.WriteString(s.out, leave) // the terminal may be gone
	}
}

// draw draws the table, if it differs from what is shown.
func (s *screen) draw(w *watcher) error {
	if s == nil {
		return nil
	}
	lines := w.table(time.Now())
	s.mu.Lock()
	if s.last != "" {
		lines = append(lines, "", s.last)
	}
	s.mu.Unlock()
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err == nil && height > 1 && len(lines) > height {
		more := fmt.Sprintf("… and %d more", len(lines)-height+1)
		lines = append(lines[:height-1], more)
	}
	text := "\033[H" + strings.Join(lines, "\033[K\r\n") + "\033[K\033[J"
	shown := fmt.Sprint(width, height, text)
	if shown == s.shown {
		return nil
	}
	if s.shown == "" {
		text = enter + text
	}
	s.shown = shown
	_, err = io.WriteString(s.out, text)
	return err
}

// table returns a line for each agent.
func (w *watcher) table(now time.Time) []string {
	var table [][]string
	var widths [5]int
	for _, a := range w.agents {
		e := eventOf(a.Agent)
		if a.state != "" {
			e.State, e.Question = a.state, a.question
		}
		cells := e.cells()
		cells = append(cells[:4], ago(now.Sub(a.since)), cells[4])
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		table = append(table, cells)
	}
	var lines []string
	switch {
	case w.down != "":
		lines = append(lines, terminal.Visible(w.down))
	case len(table) == 0:
		lines = append(lines, "no agents")
	}
	for _, cells := range table {
		var line strings.Builder
		for i, width := range widths {
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(cells[i])+2)
			if color := colors[agents.State(cells[3])]; w.Color && i == 3 && color != "" {
				cells[i] = "\033[" + color + "m" + cells[i] + "\033[0m"
			}
			line.WriteString(cells[i] + pad)
		}
		lines = append(lines, line.String()+cells[5])
	}
	return lines
}

var colors = map[agents.State]string{agents.Asks: "1;33", agents.Idle: "32", agents.Working: "34", agents.Ended: "2", agents.Unknown: "2"}

// ago returns a duration in its largest unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh", int(d.Hours()))
}
