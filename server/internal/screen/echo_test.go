package screen

import (
	"slices"
	"testing"
	"time"
)

// TestJudge has the habits of shells and other programs that tell an echo from output: what a
// new line is, and what is known of the echo afterwards.
func TestJudge(t *testing.T) {
	t.Parallel()
	const long = "echo one two three four five six seven eight nine ten eleven twelve"
	ls := func(change ...func(*Echo)) Echo { // typed in row 5, where "in> " was before
		e := Echo{Lines: []string{"ls -l"}, Entered: true, known: true, row: 5, text: "in>"}
		for _, c := range change {
			c(&e)
		}
		return e
	}
	shell := func(lines ...string) Echo { // at the prompt of a shell
		return Echo{Lines: lines, Entered: true, known: true, row: 5, text: "$", prompt: "$ ", promptRow: 5}
	}
	after := func(typed string, e Echo) Echo { // a line that has appeared
		e.Lines, e.earlier, e.begun, e.text = nil, []string{typed}, true, "$ "+typed
		return e
	}
	history := after("echo !$", shell())
	history.expansion = "echo !$"
	unknown := after("!x", shell())
	unknown.expansion = "!x"
	const redirects = "cat one two three four five six > out"
	for _, c := range []struct {
		name   string
		e      Echo
		line   string
		row    int
		cursor bool
		left   string

		printed string // "-" for nothing
		lines   []string
		earlier []string
		change  string
	}{
		{"a line of output", ls(), "total 0", 6, false, "", "total 0", []string{"ls -l"}, nil, ""},
		{"a blank line of output", ls(), "", 6, false, "", "", []string{"ls -l"}, nil, ""},
		{"blanks of output", ls(), "  ", 6, false, "", "  ", []string{"ls -l"}, nil, ""},
		{"a blank line in the row, which had no prompt", ls(func(e *Echo) { e.Lines, e.text = nil, "" }), "", 5, false, "", "", nil, nil, ""},
		{"output in the row of the prompt", ls(func(e *Echo) { e.Lines = nil }), "in> 7", 5, false, "", " 7", nil, nil, ""},
		{"the row as it was", ls(func(e *Echo) { e.Lines = nil }), "in>", 5, true, "in>", "-", nil, nil, ""},
		{"another text in the row", ls(func(e *Echo) { e.Lines = nil }), "no", 5, false, "", "no", nil, nil, ""},

		{"the echo", ls(), "in> ls -l", 5, false, "", "-", nil, []string{"ls -l"}, "appeared"},
		{"the echo and output in its row", ls(), "in> ls -l 3", 5, false, "", " 3", nil, []string{"ls -l"}, "appeared"},
		{"a suggestion behind it", ls(), "in> ls -l /tmp", 5, true, "in> ls -l", "-", nil, []string{"ls -l"}, "appeared"},
		{"output before the cursor", ls(), "in> ls -l /tmp", 5, true, "in> ls -l /tmp", " /tmp", nil, []string{"ls -l"}, "appeared"},
		{"the echo in another row", ls(), "new> ls -l", 7, false, "", "-", nil, []string{"ls -l"}, "appeared"},
		{"a short echo in another row", ls(func(e *Echo) { e.Lines = []string{"y"} }), "any", 7, false, "", "any", []string{"y"}, nil, ""},
		{"a short echo in its row", ls(func(e *Echo) { e.Lines = []string{"y"} }), "in: y", 5, false, "", "-", nil, []string{"y"}, "appeared"},
		{"the prompt, drawn again", ls(), "in>", 5, true, "in>", "-", []string{"ls -l"}, nil, ""},
		{"its beginning", ls(), "in> ls", 5, true, "in> ls", "-", []string{"ls -l"}, nil, "held, showing"},
		{"it may come", ls(), "else", 6, true, "else", "-", []string{"ls -l"}, nil, "held"},
		{"its beginning, and the cursor below", ls(), "in> ls", 5, false, "", "-", []string{"-l"}, nil, "wrapped"},
		{"a key draws the row", ls(func(e *Echo) { e.Redrawn = true }), "in> make", 5, false, "", "-", []string{"ls -l"}, nil, ""},
		{"a key draws no other row", ls(func(e *Echo) { e.Redrawn = true }), "made", 6, false, "", "made", []string{"ls -l"}, nil, ""},

		{"typed ahead, again at the prompt", after("make", shell()), "$ make", 6, false, "", "-", nil, nil, ""},
		{"the same text as output", after("make", shell()), "make", 6, false, "", "make", nil, []string{"make"}, ""},

		{"a shell completes", shell("ls"), "$ ls    # list", 5, true, "$ ls", "-", nil, []string{"ls"}, "appeared"},
		{"a shell has not begun", shell("ls"), "$", 5, true, "$ ", "-", []string{"ls"}, nil, ""},
		{"a shell goes on in the next row", shell("ls -l"), "$ ls", 5, false, "", "-", []string{"-l"}, nil, "begun, wrapped"},
		{"a shell shows another line", shell("ls"), "$ make", 5, false, "", "-", nil, []string{"ls"}, "appeared"},
		{"the row was cleared", after("clear", shell()), "kept", 5, false, "", "kept", nil, []string{"clear"}, ""},
		{"a clock in the prompt", Echo{Lines: []string{"ls"}, Entered: true, known: true, row: 5, text: "12:01 $", prompt: "12:01 $ ", promptRow: 5}, "12:02 $", 5, true, "", "-", []string{"ls"}, nil, ""},
		{"a key that is no text, without Enter", func() Echo {
			e := shell()
			e.Edits, e.Entered = true, false
			return e
		}(), "$ done", 5, true, "", " done", nil, nil, ""},

		{"history", history, "echo file", 6, false, "", "-", nil, []string{"echo !$"}, "not expanded"},
		{"no history", history, "bash: !$: event not found", 6, false, "", "bash: !$: event not found", nil, []string{"echo !$"}, "not expanded"},
		{"no history for a word", unknown, "zsh: event not found: x", 6, false, "", "zsh: event not found: x", nil, []string{"!x"}, "not expanded"},
		{"output below history", history, "file", 6, false, "", "file", nil, []string{"echo !$"}, "not expanded"},
		{"the line of history itself", history, "echo !$", 6, false, "", "echo !$", nil, []string{"echo !$"}, "not expanded"},

		{"scrolled to its end", Echo{Lines: []string{long}, known: true, row: 5, text: "$"}, "<nine ten eleven twelve", 5, true, "", "-", nil, []string{long}, "appeared"},
		{"scrolled, and not at its end", Echo{Lines: []string{long}, known: true, row: 5, text: "$"}, "<four five six seven>", 5, true, "", "-", []string{long}, nil, ""},
		{"scrolled behind the prompt", Echo{Lines: []string{long}, known: true, row: 5, text: "$ "}, "$ ten eleven twelve", 5, false, "", "-", nil, []string{long}, "appeared"},
		{"a mark in short output", Echo{Lines: []string{long}, known: true, row: 5, text: "$"}, "<ten>", 6, false, "", "<ten>", []string{long}, nil, ""},
		{"a line that fits is not scrolled", Echo{Lines: []string{"echo three four"}, known: true, row: 5, text: "$"}, "<three four", 6, false, "", "<three four", []string{"echo three four"}, nil, ""},
		{"scrolled behind another prompt", Echo{Lines: []string{long}, known: true, row: 5, text: "$"}, "new$ ten eleven twelve<", 6, false, "", "-", nil, []string{long}, "appeared"},
		{"a mark that was typed", Echo{Lines: []string{redirects}, known: true, row: 5, text: "$"}, "three four five six >", 6, false, "", "three four five six >", []string{redirects}, nil, ""},
		{"the beginning of a long line", Echo{Lines: []string{long}, known: true, row: 5, text: "$"}, "$ echo one two three", 5, true, "", "-", []string{long}, nil, "held, showing"},
	} {
		e := c.e.clone()
		before := *c.e.clone()
		s := e.sight(c.line, c.row, c.cursor, c.left, 30)
		v := e.judge(s)
		e.take(s, v)
		printed := "-"
		if v.prints {
			printed = v.printed
		}
		if printed != c.printed || !slices.Equal(e.Lines, c.lines) || !slices.Equal(e.earlier, c.earlier) {
			t.Errorf("%s: printed %q, want %q; to come %q, want %q; shown %q, want %q", c.name, printed, c.printed, e.Lines, c.lines, e.earlier, c.earlier)
		}
		change := ""
		add := func(is bool, what string) {
			if is && change != "" {
				change += ", "
			}
			if is {
				change += what
			}
		}
		add(e.begun && !before.begun && v.echo != appears, "begun")
		add(len(e.earlier) > len(before.earlier) && e.begun && e.row == c.row, "appeared")
		add(e.row == c.row+1 && e.text == "", "wrapped")
		add(!e.since.IsZero() && time.Since(e.since) < time.Minute && e.heldRow == c.row && e.held != "", "held")
		add(e.showing, "showing")
		add(before.expansion != "" && e.expansion == "", "not expanded")
		if change != c.change {
			t.Errorf("%s: %q, want %q", c.name, change, c.change)
		}
	}
}
