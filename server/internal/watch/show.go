package watch

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"tmuxmcp/internal/cells"
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

	// What is written is shown below the table: on a terminal, problems and what commands
	// print would otherwise be in it.
	lastLine
}

// lastLine keeps the last line that is written to it and not blank.
type lastLine struct {
	mu   sync.Mutex
	line string
}

func (l *lastLine) Write(text []byte) (int, error) {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if line := lines[len(lines)-1]; line != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.line = terminal.Visible(reply.Flat(line))
	}
	return len(text), nil
}

func (l *lastLine) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line
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
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	lines := w.lines(time.Now(), width, height, s.last())
	// Behind a line in the last column, the rest of the line begins with that column.
	text := "\033[H\033[K" + strings.Join(lines, "\r\n\033[K")
	if len(lines) < height {
		text += "\r\n\033[J"
	}
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

// lines returns what a terminal of this size shows: a summary, the agents, those that ask
// first, and the last problem. If there is room for one line, it is the first agent that asks.
func (w *watcher) lines(now time.Time, width, height int, last string) []string {
	events, since := w.ordered(now)
	rows := w.table(events, since, width)
	if height == 1 && len(events) > 0 && events[0].State == agents.Asks {
		return rows[:1]
	}
	lines := []string{w.header(events, width)}
	room := height - 1
	if last != "" && room > 1 {
		room--
	}
	if len(rows) > room && room > 1 {
		rows = append(rows[:room-1:room-1], cut(fmt.Sprintf("… and %d more", len(rows)-room+1), width))
	}
	lines = append(lines, rows[:min(len(rows), room)]...)
	if last != "" && len(lines) < height {
		if len(lines) < height-1 {
			lines = append(lines, "")
		}
		lines = append(lines, cut(last, width))
	}
	return lines
}

// ordered returns the agents, those that ask first, and since when they do what they do.
func (w *watcher) ordered(now time.Time) (events []event, since []string) {
	sorted := slices.Clone(w.agents)
	asks := func(a *agent) int {
		if cmp.Or(a.state, a.State) == agents.Asks {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sorted, func(a, b *agent) int { return cmp.Compare(asks(a), asks(b)) })
	for _, a := range sorted {
		e := eventOf(a.Agent)
		if a.state != "" {
			e.State, e.Question = a.state, a.question
		}
		events, since = append(events, e), append(since, ago(now.Sub(a.since)))
	}
	return events, since
}

// header says how many agents do what and, if there is room left, how to end.
func (w *watcher) header(events []event, width int) string {
	var counts []string
	for _, s := range []struct {
		state     agents.State
		one, more string
	}{
		{agents.Asks, "asks", "ask"}, {agents.Working, "works", "work"}, {agents.Idle, "idle", "idle"},
		{agents.Ended, "ended", "ended"}, {agents.Unknown, "unknown", "unknown"},
	} {
		n := 0
		for _, e := range events {
			if e.State == s.state {
				n++
			}
		}
		switch n {
		case 0:
		case 1:
			counts = append(counts, "1 "+s.one)
		default:
			counts = append(counts, fmt.Sprint(n, " ", s.more))
		}
	}
	const ends = "Ctrl-C ends"
	text := cmp.Or(terminal.Visible(w.down), strings.Join(counts, ", "), "no agents")
	for n := len(counts) - 1; w.down == "" && n > 0 && cells.Width(text) > width; n-- {
		text = strings.Join(counts[:n], ", ") + ", …"
	}
	text = cut(text, width)
	if room := width - cells.Width(text) - len(ends); room >= 2 {
		text += strings.Repeat(" ", room) + ends
	}
	return text
}

// Columns of a table, in the order in which they are shown.
const (
	paneColumn = iota
	placeColumn
	nameColumn
	stateColumn
	sinceColumn
	questionColumn
	columns
)

// A question gets at least this room before other columns are left out; a name that gets less
// than this is left out.
const (
	leastQuestion = 20
	leastName     = 3
)

// table returns a line for each agent that is no wider than a terminal. What does not fit is
// left out: the version, the place, since when, and the end of the question and of the name.
func (w *watcher) table(events []event, since []string, width int) []string {
	var table [][columns]string
	for i, e := range events {
		var row [columns]string
		copy(row[:], e.cells())
		row[sinceColumn], row[questionColumn] = since[i], row[sinceColumn]
		table = append(table, row)
	}
	var widths [columns]int
	measure := func() (fixed int) {
		widths = [columns]int{}
		for _, row := range table {
			for i, cell := range row {
				widths[i] = max(widths[i], cells.Width(cell))
			}
		}
		for _, n := range widths[:questionColumn] {
			if n > 0 {
				fixed += n + 2
			}
		}
		return fixed
	}
	fits := func() bool {
		fixed := measure()
		return fixed-2 <= width && (widths[questionColumn] == 0 || fixed+min(widths[questionColumn], leastQuestion) <= width)
	}
	for _, leave := range []func(i int){
		func(i int) { table[i][nameColumn] = terminal.Visible(events[i].Agent) },
		func(i int) { table[i][placeColumn] = "" },
		func(i int) { table[i][sinceColumn] = "" },
	} {
		if fits() {
			break
		}
		for i := range table {
			leave(i)
		}
	}
	if over := measure() - 2 - width; over > 0 {
		room := widths[nameColumn] - over
		for i := range table {
			if table[i][nameColumn] = cut(table[i][nameColumn], room); room < leastName {
				table[i][nameColumn] = ""
			}
		}
		measure()
	}
	var lines []string
	for _, row := range table {
		lines = append(lines, w.line(row, widths, width))
	}
	return lines
}

// line returns a row as a line.
func (w *watcher) line(row [columns]string, widths [columns]int, width int) string {
	var line strings.Builder
	room := width
	for i, cell := range row {
		if widths[i] == 0 || room <= 0 {
			continue
		}
		cell = cut(cell, room)
		shown := cell
		if color := colors[agents.State(cell)]; w.Color && i == stateColumn && color != "" {
			shown = "\033[" + color + "m" + cell + "\033[0m"
		}
		line.WriteString(shown)
		if i < questionColumn {
			line.WriteString(strings.Repeat(" ", widths[i]-cells.Width(cell)+2))
		}
		room -= widths[i] + 2
	}
	return strings.TrimRight(line.String(), " ")
}

// cut cuts a text off at a number of columns.
func cut(text string, width int) string {
	if cells.Width(text) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	left, _ := cells.SplitAt(text, width-1)
	return strings.TrimRight(left, " ") + "…"
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
