package screen

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"tmuxmcp/internal/cells"
	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux/follow"
)

// Echo is what was typed into a pane and may appear there. The terminal or the program
// echoes it; neither is output, so a wait must not take it for output. What counts is what
// the program prints afterwards: on the row in which it was typed, only the text beyond it;
// elsewhere everything, even the same text again, as each typed line is echoed once.
type Echo struct {
	Lines []string // typed lines that have not appeared yet
	// Redrawn is set if a key was pressed for which the program itself writes the line,
	// such as Up, followed by Enter: nothing on that row counts.
	Redrawn bool
	Entered bool // Enter was pressed
	Longest int  // length of the longest typed line in bytes, without its end
	// Edits is set if a key was pressed that is not text: what it does to the line counts,
	// unless Enter was pressed.
	Edits bool

	// Command is set if the lines are what run_command shows, and not what it types.
	Command bool
	// prompt is the text before the cursor if the first line was typed at the prompt of a
	// shell, in row promptRow; otherwise "". The shell may complete, color, scroll or suggest
	// there, but prints nothing: it leaves the row before a command begins.
	prompt    string
	promptRow int
	promptY   int // that row on the screen
	above     rowsAbove
	ran       bool   // a program of the shell's was in the foreground
	begun     bool   // the first typed line has appeared
	expands   string // a typed line of which the shell may show the expansion in the next row

	// earlier are the lines that have appeared. What is typed before a shell reads appears
	// twice: the terminal echoes it, and then the shell, at its prompt.
	earlier []string

	known bool   // row and text are known
	row   int    // in which the cursor's line began when typing, as in [follow.Look.NewRows]
	text  string // of that line
	// held is the text of the cursor's line. It does not count while it may become the echo
	// of what was typed: until the cursor leaves it, or it is due.
	held    string
	heldRow int
	showing bool      // it holds the beginning of the echo
	since   time.Time // since when it is held; zero if nothing is
}

// How long a program may take to begin and to finish its echo.
const (
	echoBegins = 300 * time.Millisecond
	echoEnds   = 5 * time.Second
)

// leastEcho is the length from which a typed line is recognized at the end of any row,
// since a shell may redraw its prompt. A shorter one is looked for only where it was typed.
const leastEcho = 3

// EchoOf returns the echo of a text typed line by line, with or without a final Enter.
func EchoOf(text string) Echo {
	isEnd := func(r rune) bool { return r == '\n' || r == '\r' }
	e := Echo{Entered: strings.ContainsFunc(text, isEnd)}
	for line := range strings.FieldsFuncSeq(text, isEnd) {
		e.Longest = max(e.Longest, len(line))
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\r' && unicode.IsControl(r) }) {
		e.Redrawn = true // a tab may complete a word
		return e
	}
	for line := range strings.FieldsFuncSeq(text, isEnd) {
		if line = strings.TrimSpace(line); line != "" {
			e.Lines = append(e.Lines, line)
		}
	}
	return e
}

// at returns the echo of something typed while a pane looked like this, at most so long ago,
// appended to before, if any.
func (e Echo) at(pid int, look *follow.Look, before *Echo, ago time.Duration) *Echo {
	e.above = above(look)
	if before != nil {
		e.ran = before.ran
		e.Lines = append(slices.Clone(before.Lines), e.Lines...)
		e.known, e.row, e.text = before.known, before.row, before.text
		e.earlier = before.earlier
		e.Redrawn, e.Entered, e.Edits = before.Redrawn || e.Redrawn, before.Entered || e.Entered, before.Edits || e.Edits
		e.prompt, e.promptRow, e.promptY = before.prompt, before.promptRow, before.promptY
		return &e
	}
	e.known = true
	e.row, e.text = look.CursorLine()
	left, typed := leftOfCursor(look), (len(e.Lines) > 0 || e.Entered || e.Edits) && !e.Command
	was := false
	if typed && !look.Alternate && strings.TrimSpace(left) != "" {
		was, e.ran = runner.WasAtPrompt(pid, look.TTY, left, ago)
	} else if typed {
		e.ran = inForeground(pid)
	}
	if was {
		e.prompt, e.promptRow, e.promptY = left, e.row, look.CursorY
		e.text = strings.TrimRight(e.prompt, " ") // without what is on the right
	}
	return &e
}

// moved records that the row in which something was typed is so many rows further down.
func (e *Echo) moved(rows int) {
	if e.row < 0 {
		return // on the alternate screen
	}
	e.row, e.heldRow, e.promptRow = e.row+rows, e.heldRow+rows, e.promptRow+rows
}

// atCursor returns those of the new lines that are in the row in which something was typed.
func (e *Echo) atCursor(l *follow.Look, lines []string, rows []int) (typed []string, at []int) {
	for i := range min(len(lines), len(rows)) {
		if e.known && rows[i] == e.row-max(l.Shift, 0) {
			typed, at = append(typed, lines[i]), append(at, rows[i])
		}
	}
	return typed, at
}

// clone returns a separate copy for a wait.
func (e *Echo) clone() *Echo {
	if e == nil {
		return new(Echo)
	}
	c := *e
	c.Lines, c.earlier = slices.Clone(e.Lines), slices.Clone(e.earlier)
	return &c
}

// due returns when a held line counts if nothing happens before; zero if nothing is held.
func (e *Echo) due() time.Time {
	if e.since.IsZero() {
		return time.Time{}
	}
	if e.showing {
		return e.since.Add(echoEnds)
	}
	return e.since.Add(echoBegins)
}

// output returns the new lines of a look that the program has printed, without the echo.
// Lines without rows, which are only visible, all count.
func (e *Echo) output(l *follow.Look, lines []string, rows []int) (printed []string) {
	if len(rows) < len(lines) {
		return lines
	}
	switch {
	case l.Shift < 0:
		e.known, e.prompt, e.since = false, "", time.Time{} // everything visible is new
	case e.row >= 0: // on the normal screen
		e.row -= l.Shift
		e.heldRow -= l.Shift
		e.promptRow -= l.Shift
		e.known = e.known && e.row >= 0
	}
	cursor, _ := l.CursorLine()
	for i, line := range lines {
		since := e.since
		again := rows[i] == e.heldRow && !since.IsZero()
		if again {
			e.since = time.Time{}
		}
		if part, counts := e.beyond(line, rows[i], rows[i] == cursor, l); counts {
			printed = append(printed, part)
		}
		if again && !e.since.IsZero() {
			e.since = since
		}
	}
	if late := !time.Now().Before(e.due()); !e.since.IsZero() && (late || cursor != e.heldRow) {
		if e.since = (time.Time{}); late {
			e.Lines = nil // it is not echoed, as for a password
		}
		if e.held != "" {
			printed = append(printed, e.held)
		}
	}
	return printed
}

// beyond returns the part of a new line that the program has printed, if any.
func (e *Echo) beyond(line string, row int, isCursors bool, l *follow.Look) (part string, counts bool) {
	if e.inPrompt(line, row, isCursors) || e.expansion(line, row) || e.scrolled(line, row, isCursors, l.Width) {
		return "", false
	}
	rest, n, typedRow := line, 0, e.known && row == e.row
	if typedRow {
		n = commonPrefix(e.text, line)
		if n == len(e.text) {
			rest = line[n:]
		}
		if e.Redrawn {
			return "", false
		}
	}
	for i, shown := range e.earlier {
		if prompt, ok := strings.CutSuffix(line, shown); ok && endsPrompt(prompt) {
			e.earlier = slices.Delete(e.earlier, i, i+1)
			return "", false
		}
	}
	if len(e.Lines) > 0 {
		next := e.Lines[0]
		after, shown := strings.CutPrefix(strings.TrimLeft(line[n:], " "), next)
		switch {
		case typedRow && shown:
			e.shown(line[:len(line)-len(after)], row)
			if isCursors && e.Entered && leftOfCursor(l) == e.text {
				return "", false // a suggestion behind the cursor
			}
			rest = after
		case strings.HasSuffix(line, next) && (len(next) >= leastEcho || typedRow && n > 0):
			e.shown(line, row)
			return "", false
		case isCursors && typedRow && strings.TrimSpace(rest) == "":
			return "", false // the prompt, redrawn
		case isCursors:
			e.held, e.heldRow, e.showing = rest, row, typedRow && strings.HasPrefix(next, strings.TrimSpace(rest))
			if e.since.IsZero() {
				e.since = time.Now()
			}
			return "", false
		case typedRow && rest != "" && strings.HasPrefix(next, strings.TrimSpace(rest)):
			// The program itself continues in the next row.
			e.Lines[0] = strings.TrimSpace(strings.TrimPrefix(next, strings.TrimSpace(rest)))
			e.row, e.text = row+1, ""
			return "", false
		}
	}
	if typedRow && strings.TrimSpace(rest) == "" && line != "" {
		return "", false
	}
	return rest, true
}

// endsPrompt reports whether a text ends as the prompts of shells do.
func endsPrompt(text string) bool {
	text = strings.TrimRight(text, " ")
	return text != "" && strings.ContainsRune("$#%>❯»λ", []rune(text)[len([]rune(text))-1])
}

// shown records that the next line has appeared, in a row that has this text so far.
func (e *Echo) shown(text string, row int) {
	e.begun, e.expands = true, ""
	if e.prompt != "" && designator().MatchString(e.Lines[0]) {
		e.expands = e.Lines[0]
	}
	e.earlier = append(e.earlier, e.Lines[0])
	e.Lines, e.known, e.row, e.text = e.Lines[1:], true, row, text
	e.since = time.Time{}
}

// commonPrefix returns the length of the common prefix of two texts.
func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// inPrompt reports whether a new line is in the row in which a shell edits what was typed,
// and has not been cleared since: it has the prompt or the typed line.
func (e *Echo) inPrompt(line string, row int, isCursors bool) bool {
	if e.prompt == "" || row != e.promptRow || e.Edits && !e.Entered {
		return false
	}
	typed := slices.Concat(e.earlier, e.Lines)
	is := begins(line, e.prompt) || runner.SameButDigits(line, strings.TrimRight(e.prompt, " ")) ||
		len(typed) > 0 && len(typed[0]) >= leastEcho && strings.Contains(line, typed[0])
	if !is || e.begun || len(e.Lines) == 0 {
		return is
	}
	rest := strings.TrimSpace(strings.TrimPrefix(line, e.prompt))
	switch whole := strings.Contains(line, e.Lines[0]); {
	case !whole && !isCursors && rest != "" && strings.HasPrefix(e.Lines[0], rest):
		e.begun = true
		return false // the shell itself continues in the next row
	case whole, !isCursors:
		e.shown(line, row)
	}
	return true
}

// designator matches what shells expand from their history.
var designator = lazy.Regexp("^\\^|(?:^|[^\\\\$\\[{])![^\\s=(;|&<>\"'`]+")

// notExpanded matches how shells say that they have not.
var notExpanded = lazy.Regexp(`^-?(ba|z)?sh: `)

// expansion reports whether a new line is a typed one that the shell shows with the text
// from its history, in the next row, before it runs it.
func (e *Echo) expansion(line string, row int) bool {
	typed := e.expands
	if typed == "" || row <= e.row {
		return false
	}
	e.expands = ""
	if notExpanded().MatchString(line) {
		return false
	}
	at := 0
	if typed[0] != '^' {
		for _, part := range designator().Split(typed, -1) {
			i := strings.Index(line[at:], part)
			if i < 0 {
				return false
			}
			at += i + len(part)
		}
	}
	return !strings.Contains(line, typed)
}

// scrolled reports whether a new line is a part of a typed one that is longer than its row,
// shown by an editor that scrolls sideways: with a mark where the line goes on, or behind
// the prompt.
func (e *Echo) scrolled(line string, row int, isCursors bool, width int) bool {
	before, kept := "", false
	if e.known && row == e.row {
		before = e.text
	}
	part := line
	if before != "" {
		part, kept = strings.CutPrefix(line, before)
	}
	part, marked := strings.CutPrefix(part, "<")
	if end := strings.TrimRight(part, "<>*+"); end != part {
		part, marked = end, true
	}
	if i := strings.Index(part, " "); marked && i > 0 && endsPrompt(part[:i]) {
		part = part[i:] // of another row
	}
	shown := unspaced(part)
	for i, typed := range slices.Concat(e.Lines[:min(len(e.Lines), 1)], e.earlier) {
		whole := unspaced(before + typed)
		is := marked && !strings.Contains(whole, unspaced(line)) || kept && !strings.HasPrefix(unspaced(typed), shown)
		if !is || cells.Width(before+typed) < width-4 || cells.Width(shown) < width/4 || !strings.Contains(whole, shown) {
			continue
		}
		if i == 0 && len(e.Lines) > 0 && (!isCursors || strings.HasSuffix(whole, shown)) {
			e.shown(line, row)
		}
		return true
	}
	return false
}

// unspaced returns a text without its blanks.
func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }
