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
	expansion string // a typed line of which the shell may show the expansion in the next row

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

// atCursor returns the new lines in the row in which something was typed, and their rows.
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
	left := leftOfCursor(l)
	for i, line := range lines {
		since := e.since
		again := rows[i] == e.heldRow && !since.IsZero()
		if again {
			e.since = time.Time{}
		}
		at := e.sight(line, rows[i], rows[i] == cursor, left, l.Width)
		v := e.judge(at)
		if e.take(at, v); v.prints {
			printed = append(printed, v.printed)
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

// sighting is a new line, and where it is.
type sighting struct {
	line   string
	row    int
	cursor bool   // it is the line of the cursor
	left   string // what is left of the cursor
	width  int    // of the pane
	typed  bool   // its row is the one in which the next line was typed
	same   int    // how much of it was there before
	rest   string // what is beyond that, or all if something else was there
}

func (e *Echo) sight(line string, row int, cursor bool, left string, width int) sighting {
	s := sighting{line: line, row: row, cursor: cursor, left: left, width: width, typed: e.known && row == e.row, rest: line}
	if s.typed {
		if s.same = commonPrefix(e.text, line); s.same == len(e.text) {
			s.rest = line[s.same:]
		}
	}
	return s
}

// blank reports whether a rest of the line is none, in the row in which something was typed.
func (s sighting) blank(rest string) bool {
	return s.typed && strings.TrimSpace(rest) == "" && s.line != ""
}

// verdict is what a new line is, given what was typed.
type verdict struct {
	prints  bool   // the program has printed something in it, perhaps nothing but a blank line
	printed string // what that is

	echo    echoed
	text    string // of the row up to the end of the typed line; held; or what is left of the typed line
	showing bool   // what is held is the beginning of the typed line
	again   int    // the index of the earlier line
	begun   bool   // the first typed line has begun to appear at the prompt
	below   bool   // it is below a line of which the shell may show the expansion
}

// echoed is what a line shows of what was typed.
type echoed int

const (
	nothing echoed = iota
	appears        // the next line has appeared
	repeats        // an earlier line has appeared again
	holds          // it may become the next line
	wraps          // the next line continues in the next row
)

// judge returns what a line is: what the first habit of shells and other programs that
// explains it makes of it, otherwise output.
func (e *Echo) judge(s sighting) (v verdict) {
	explained := e.edits(s, &v) || e.expands(s, &v) || e.scrolls(s, &v) || e.redraws(s) || e.repeats(s, &v) ||
		len(e.Lines) > 0 && e.echoes(s, &v)
	if !explained && !s.blank(s.rest) {
		v.prints, v.printed = true, s.rest
	}
	return v
}

// take records what a line has shown.
func (e *Echo) take(s sighting, v verdict) {
	e.begun = e.begun || v.begun
	if v.below {
		e.expansion = ""
	}
	switch v.echo {
	case appears:
		e.shown(v.text, s.row)
	case repeats:
		e.earlier = slices.Delete(e.earlier, v.again, v.again+1)
	case holds:
		e.held, e.heldRow, e.showing = v.text, s.row, v.showing
		if e.since.IsZero() {
			e.since = time.Now()
		}
	case wraps:
		e.Lines[0], e.row, e.text = v.text, s.row+1, ""
	}
}

// redraws reports whether the program itself writes the row for a key, such as Up.
func (e *Echo) redraws(s sighting) bool { return s.typed && e.Redrawn }

// repeats reports whether a line that was typed before the shell read appears a second
// time, at its prompt.
func (e *Echo) repeats(s sighting, v *verdict) bool {
	for i, earlier := range e.earlier {
		if prompt, ok := strings.CutSuffix(s.line, earlier); ok && endsPrompt(prompt) {
			v.echo, v.again = repeats, i
			return true
		}
	}
	return false
}

// echoes reports whether the next line appears as it was typed, at once or bit by bit.
func (e *Echo) echoes(s sighting, v *verdict) bool {
	next, rest := e.Lines[0], strings.TrimSpace(s.rest)
	after, shown := strings.CutPrefix(strings.TrimLeft(s.line[s.same:], " "), next)
	begins := s.typed && strings.HasPrefix(next, rest)
	switch {
	case s.typed && shown:
		v.echo, v.text = appears, strings.TrimSuffix(s.line, after)
		suggested := s.cursor && e.Entered && s.left == v.text // behind the cursor
		if !suggested && !s.blank(after) {
			v.prints, v.printed = true, after
		}
	case strings.HasSuffix(s.line, next) && (len(next) >= leastEcho || s.typed && s.same > 0):
		v.echo, v.text = appears, s.line
	case s.cursor && s.typed && rest == "": // the prompt, drawn again
	case s.cursor:
		v.echo, v.text, v.showing = holds, s.rest, begins
	case begins && s.rest != "": // the program itself continues in the next row
		v.echo, v.text = wraps, strings.TrimSpace(strings.TrimPrefix(next, rest))
	default:
		return false
	}
	return true
}

// endsPrompt reports whether a text ends as the prompts of shells do.
func endsPrompt(text string) bool {
	text = strings.TrimRight(text, " ")
	return text != "" && strings.ContainsRune("$#%>❯»λ", []rune(text)[len([]rune(text))-1])
}

// shown records that the next line has appeared, in a row that has this text so far.
func (e *Echo) shown(text string, row int) {
	e.begun, e.expansion = true, ""
	if e.prompt != "" && designator().MatchString(e.Lines[0]) {
		e.expansion = e.Lines[0]
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

// edits reports whether a line is in the row in which a shell edits what was typed, and has
// not been cleared since: it has the prompt or the typed line.
func (e *Echo) edits(s sighting, v *verdict) bool {
	if e.prompt == "" || s.row != e.promptRow || e.Edits && !e.Entered {
		return false
	}
	typed := slices.Concat(e.earlier, e.Lines)
	is := begins(s.line, e.prompt) || runner.SameButDigits(s.line, strings.TrimRight(e.prompt, " ")) ||
		len(typed) > 0 && len(typed[0]) >= leastEcho && strings.Contains(s.line, typed[0])
	if !is || e.begun || len(e.Lines) == 0 {
		return is
	}
	rest := strings.TrimSpace(strings.TrimPrefix(s.line, e.prompt))
	switch whole := strings.Contains(s.line, e.Lines[0]); {
	case !whole && !s.cursor && rest != "" && strings.HasPrefix(e.Lines[0], rest):
		v.begun = true
		return false // the shell itself continues in the next row
	case whole, !s.cursor:
		v.echo, v.text = appears, s.line
	}
	return true
}

// designator matches what shells expand from their history.
var designator = lazy.Regexp("^\\^|(?:^|[^\\\\$\\[{])![^\\s=(;|&<>\"'`]+")

// notExpanded matches how shells say that they have not.
var notExpanded = lazy.Regexp(`^-?(ba|z)?sh: `)

// expands reports whether a line is a typed one that the shell shows with the text from its
// history, in the next row, before it runs it.
func (e *Echo) expands(s sighting, v *verdict) bool {
	typed := e.expansion
	if v.below = typed != "" && s.row > e.row; !v.below || notExpanded().MatchString(s.line) {
		return false
	}
	at := 0
	if typed[0] != '^' {
		for _, part := range designator().Split(typed, -1) {
			i := strings.Index(s.line[at:], part)
			if i < 0 {
				return false
			}
			at += i + len(part)
		}
	}
	return !strings.Contains(s.line, typed)
}

// scrolls reports whether a line is a part of a typed one that is longer than its row, shown
// by an editor that scrolls sideways: with a mark where the line goes on, or behind the
// prompt.
func (e *Echo) scrolls(s sighting, v *verdict) bool {
	before, part, kept := "", s.line, false
	if s.typed && e.text != "" {
		before = e.text
		part, kept = strings.CutPrefix(s.line, before)
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
		is := marked && !strings.Contains(whole, unspaced(s.line)) || kept && !strings.HasPrefix(unspaced(typed), shown)
		if !is || cells.Width(before+typed) < s.width-4 || cells.Width(shown) < s.width/4 || !strings.Contains(whole, shown) {
			continue
		}
		if i == 0 && len(e.Lines) > 0 && (!s.cursor || strings.HasSuffix(whole, shown)) {
			v.echo, v.text = appears, s.line
		}
		return true
	}
	return false
}

// unspaced returns a text without its blanks.
func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }
