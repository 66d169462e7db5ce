package agents

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/cells"
	"tmuxmcp/internal/lazy"
)

// How far from the bottom of the screen, or from the box, to search.
const (
	mostFooter  = 16 // rows below the box that are not blank: suggestions, status lines
	mostAbove   = 60 // rows above the box: current activity, tips, queued prompts
	mostEnd     = 8  // rows from the end of a dialog
	mostDialog  = 60
	mostChoices = 24
	mostAsked   = 600 // bytes of a question
)

// Classify determines what a terminal shows.
func Classify(v View) Status { return classify(v, nil) }

func classify(v View, t *trace) Status {
	r := v.Program.Rules
	switch {
	case v.Ended:
		return Status{State: Ended}
	case r == nil:
		return Status{State: Unknown}
	}
	rows := trimmed(v.Rows)
	if question, choices, ok := r.dialog(window(rows), true, t); ok {
		return Status{State: Asks, Question: question, Choices: choices}
	}
	r.cut(rows)
	box, hint, top, bottom := r.box(v, rows, t)
	if box == nil || r.Box.OwnCursor {
		if question, choices, ok := r.dialog(rows, false, t); ok {
			return Status{State: Asks, Question: question, Choices: choices}
		}
	}
	if box == nil {
		return Status{State: Unknown}
	}
	s := Status{State: Idle, Box: box}
	if t.text("working.title", r.Working.Title, v.Title) || t.any("working.above", r.Working.Above, rows, max(0, top-mostAbove), top) ||
		t.any("working.below", r.Working.Below, rows, bottom, len(rows)) || t.text("working.hint", r.Working.Hint, hint) {
		s.State = Working
	}
	return s
}

// trimmed returns the rows of a screen without trailing blanks, and without the blank ones
// at its end.
func trimmed(screen []string) []string {
	rows := make([]string, len(screen))
	for i, row := range screen {
		rows[i] = strings.TrimRight(row, " \u00a0")
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// cut removes the column beside the box.
func (r *Rules) cut(rows []string) {
	if r.Aside.Regexp == nil {
		return
	}
	for _, row := range rows {
		if at := r.Aside.FindStringIndex(row); at != nil {
			left := cells.Width(row[:at[0]])
			for i := range rows {
				rows[i], _ = cells.SplitAt(rows[i], left)
				rows[i] = strings.TrimRight(rows[i], " ")
			}
			return
		}
	}
}

// box finds the input box that the cursor is in. It returns the box, the placeholder that
// it shows, its first row and the row below it.
func (r *Rules) box(v View, rows []string, t *trace) (box *Box, hint string, top, bottom int) {
	end := 0
	for i := range r.Box.Frames {
		if top, end, bottom = r.framed(i, rows, t); end > 0 && (r.Box.OwnCursor || t.cursor(i, v.Y, top, end)) {
			break
		}
		end = 0
	}
	if end == 0 {
		return nil, "", 0, 0
	}
	var lines []string
	left := 0
	first := r.Box.First.FindStringSubmatchIndex(rows[top])
	text, mode := 2*r.Box.First.SubexpIndex("text"), 2*r.Box.First.SubexpIndex("mode")
	if first != nil {
		left = len(rows[top])
		right := left
		if first[text] >= 0 {
			left, right = first[text], first[text+1]
		}
		lines = append(lines, rows[top][left:right])
	}
	for i := top + len(lines); i < end; i++ {
		line := rows[i]
		if m := t.find("box.more", -1, r.Box.More.pattern, rows, i); m != nil {
			line = r.Box.More.group(m, "text")
		}
		lines = append(lines, line)
	}
	box = &Box{Text: strings.TrimSpace(strings.Join(lines, "\n")), Row: v.Y - top, First: rows[top]}
	atStart := v.Y == top && v.X <= utf8.RuneCountInString(rows[top][:left])+1
	if r.Box.OwnCursor {
		box.Row, atStart = len(lines)-1, true
	}
	if atStart && t.text("box.placeholder", r.Box.Placeholder, box.Text) || t.any("box.suggests", r.Box.Suggests, rows, bottom, len(rows)) {
		box.Text, hint = "", box.Text
	}
	box.Text = strings.TrimRight(box.Text, " \u200b")
	if first != nil && mode >= 0 && first[mode] >= 0 {
		box.Text = rows[top][first[mode]:first[mode+1]] + box.Text
	}
	box.Collapsed = t.text("box.collapsed", r.Box.Collapsed, box.Text)
	return box, hint, top, bottom
}

// framed finds a box in the nth frame: its first row, the row after its last, and the row below
// it. end is 0 if there is none.
func (r *Rules) framed(n int, rows []string, t *trace) (top, end, bottom int) {
	f := r.Box.Frames[n]
	if bottom = r.below(n, rows, t); bottom == 0 {
		return 0, 0, 0
	}
	end = bottom - int(f.Inner)
	top = end - 1
	if f.Top.Regexp == nil {
		for top >= 0 && !t.row("box.first", -1, r.Box.First.pattern, rows, top) && t.row("box.more", -1, r.Box.More.pattern, rows, top) {
			top--
		}
		if r.Box.Scrolls && top < end-1 && (top < 0 || !r.Box.First.Matches(rows[top])) {
			return top + 1, end, bottom
		}
	} else {
		for top > 0 && !t.row("box.frames.top", n, f.Top, rows, top-1) {
			top--
		}
		// What is below may be left from an earlier drawing, if it is no text.
		for i := top + 1; i < bottom; i++ {
			below := func(row string) bool { return !r.Box.More.Matches(row) }
			if f.Bottom.Matches(rows[i]) && slices.ContainsFunc(rows[i+1:bottom], below) {
				t.tried("box.frames.bottom", n, i, true)
				bottom, end = i, i-int(f.Inner)
			}
		}
		top += int(f.Pad)
	}
	if top < 0 {
		return 0, 0, 0
	}
	hint := func(row int) bool { return top < end && t.row("box.hints", -1, r.Box.Hints, rows, row) }
	for hint(top) {
		top++
	}
	for hint(end - 1) {
		end--
	}
	if top >= end || !t.row("box.first", -1, r.Box.First.pattern, rows, top) {
		return 0, 0, 0
	}
	return top, end, bottom
}

// below returns the row below a box in the nth frame, which is the lowest that can be its
// bottom; 0 if there is none so far down.
func (r *Rules) below(n int, rows []string, t *trace) int {
	footer := 0
	for i := len(rows) - 1; i > 0 && footer < mostFooter; i-- {
		if t.row("box.frames.bottom", n, r.Box.Frames[n].Bottom, rows, i) {
			return i
		}
		if rows[i] != "" {
			footer++
		}
	}
	return 0
}

// border is what surrounds the text of a dialog: lines, and a scroll bar at its right.
var border = lazy.Regexp(`^[\s│┃╭╰╮╯┌└─╌]+|[\s│╮╯┐┘─╌█]+$`)

var (
	windowTop    = lazy.Regexp(`^╭─+╮$`)
	windowRow    = lazy.Regexp(`^│.*│$`)
	windowBottom = lazy.Regexp(`╰─{8,}╯`)
)

// window returns what is within the lowest frame on the screen: its rows, in their places,
// below blank ones; nil if there is none.
func window(rows []string) []string {
	for bottom := len(rows) - 1; bottom > 0; bottom-- {
		at := windowBottom().FindStringIndex(rows[bottom])
		if at == nil {
			continue
		}
		inside := make([]string, bottom)
		left, width := cells.Width(rows[bottom][:at[0]]), cells.Width(rows[bottom][at[0]:at[1]])
		for i := bottom - 1; i >= 0; i-- {
			_, row := cells.SplitAt(rows[i], left)
			row, _ = cells.SplitAt(row, width)
			if windowTop().MatchString(row) {
				return inside
			}
			if !windowRow().MatchString(row) {
				break
			}
			inside[i] = strings.TrimRight(strings.Trim(row, "│"), " ")
		}
	}
	return nil
}

// dialog finds the question at the bottom of the screen, or of a window.
func (r *Rules) dialog(rows []string, window bool, t *trace) (question string, choices []Choice, ok bool) {
	for n, d := range r.Dialogs {
		if d.Window != window {
			continue
		}
		for end := len(rows) - 1; end >= max(0, len(rows)-mostEnd); end-- {
			if !t.row("dialogs.end", n, d.End, rows, end) {
				continue
			}
			first := end
			switch {
			case d.Side.Regexp != nil:
				choices, first = sideBySide(n, d.Side.pattern, rows[:end+1], t)
			case d.Choice.has("key"):
				choices, first = numbered(n, d.Choice.pattern, rows[:end], t)
			default:
				choices, first = listed(n, d.Choice.pattern, d.Spaced, rows[:end], t)
			}
			if choices == nil {
				continue
			}
			return asked(n, d.Start, rows[:first], t), choices, true
		}
	}
	return "", nil, false
}

// numbered returns choices that each have a key, beginning with 1 or y. Rows between them are
// descriptions.
func numbered(n int, p pattern, rows []string, t *trace) (choices []Choice, first int) {
	for i := len(rows) - 1; i >= max(0, len(rows)-mostDialog); i-- {
		m := t.find("dialogs.choice", n, p, rows, i)
		if m == nil {
			continue
		}
		key := p.group(m, "key")
		choices = append(choices, Choice{Keys: []string{key}, Label: p.group(m, "label")})
		if key == "1" || key == "y" {
			slices.Reverse(choices)
			return choices, i
		}
	}
	return nil, 0
}

// listed returns choices that are reached with arrow keys from the marked one, or from the
// first if the mark is only a color. If they are spaced, each is the first of some rows
// between blank ones.
func listed(n int, p pattern, spaced bool, rows []string, t *trace) (choices []Choice, first int) {
	marked, top := -1, len(rows)
	for i := len(rows) - 1; i >= 0 && len(choices) < mostChoices; i-- {
		blank := func(i int) bool { return border().ReplaceAllString(rows[i], "") == "" }
		if blank(i) && (spaced || choices == nil) || spaced && i > 0 && !blank(i-1) {
			continue
		}
		m := t.find("dialogs.choice", n, p, rows, i)
		if m == nil && !p.has("mark") && border().ReplaceAllString(rows[i], "") != "" {
			continue // a choice continues there
		}
		if m == nil {
			break
		}
		if strings.TrimSpace(p.group(m, "mark")) != "" {
			marked = len(choices)
		}
		choices, top = append(choices, Choice{Label: p.group(m, "label")}), i
	}
	if p.SubexpIndex("mark") < 0 {
		marked = len(choices) - 1
	}
	if marked < 0 {
		return nil, 0
	}
	for n := range choices {
		key, steps := "Down", marked-n
		if steps < 0 {
			key, steps = "Up", -steps
		}
		choices[n].Keys = append(slices.Repeat([]string{key}, steps), "Enter")
	}
	slices.Reverse(choices)
	return choices, top
}

// blanks separate choices in one row.
var blanks = lazy.Regexp(` {2,}`)

// sideBySide returns choices in one row: each with its key, or reached with arrow keys from
// the first, which is marked initially. It is the last row or, in a narrow terminal, one of
// those above.
func sideBySide(n int, p pattern, rows []string, t *trace) (choices []Choice, first int) {
	for first = len(rows) - 1; first >= max(0, len(rows)-mostEnd) && choices == nil; first-- {
		m := t.find("dialogs.side", n, p, rows, first)
		switch {
		case m == nil:
		case p.has("key"):
			for _, m := range p.FindAllStringSubmatch(rows[first], -1) {
				choices = append(choices, Choice{Keys: []string{p.group(m, "key")}, Label: p.group(m, "label")})
			}
		default:
			for n, label := range blanks().Split(p.group(m, "label"), -1) {
				choices = append(choices, Choice{Keys: append(slices.Repeat([]string{"Right"}, n), "Enter"), Label: label})
			}
		}
	}
	return choices, first + 1
}

// asked returns the text above the choices, from where the dialog begins. If it is long,
// only its end is kept, which contains the question.
func asked(n int, start pattern, rows []string, t *trace) string {
	var lines []string
	for i := len(rows) - 1; i >= max(0, len(rows)-mostDialog); i-- {
		if line := border().ReplaceAllString(rows[i], ""); line != "" {
			lines = append(lines, line)
		}
		if t.row("dialogs.start", n, start, rows, i) && lines != nil {
			break
		}
	}
	slices.Reverse(lines)
	text := strings.Join(lines, "\n")
	for len(text) > mostAsked {
		_, rest, more := strings.Cut(text, "\n")
		if !more {
			return strings.ToValidUTF8(text[len(text)-mostAsked:], "")
		}
		text = rest
	}
	return text
}
