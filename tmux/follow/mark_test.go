package follow

import (
	"strings"
	"testing"
)

// picture returns the rows of a picture, which are separated by "|", and their lines. A row that
// begins with "+" continues the line above.
func picture(first int, text string) (known knownRows, lines []textLine) {
	var rows []string
	if text != "" {
		rows = strings.Split(text, "|")
	}
	for i, row := range rows {
		if more, ok := strings.CutPrefix(row, "+"); ok && i > 0 {
			rows[i] = more
			last := &lines[len(lines)-1]
			last.text, last.end = last.text+more, last.end+1
			continue
		}
		lines = append(lines, textLine{text: row, first: first + i, end: first + i + 1})
	}
	return newRows(first, rows, lines), lines
}

// Which lines of a picture are new after another one, whose first row had a number.
func TestUnseen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		first  int
		old    string
		shift  int
		now    string
		cursor int
		typed  string
		want   string
	}{
		{"the example", 0, "$ make|building|one|two|four|$||", 2, "one|three|two|$ echo||done", 5, "$", "three|$ echo||done"},
		{"nothing", 0, "a|b|", 0, "a|b|", 2, "", ""},
		{"one line more", 0, "a|", 0, "a|b", 1, "", "b"},
		{"the same text twice", 0, "a|", 0, "a|a", 1, "", "a"},
		{"trimmed", 0, "a|b|c", 1, "b|c|d", 2, "", "d"},
		{"trimmed, and printed again", 0, "a|b", 1, "b|a", 1, "", "a"},
		{"moved down", 0, "a|b|c", 0, "x|a|b|c", 2, "", "x"},
		{"moved down, one of two", 0, "a|b", 0, "x|a|a", 2, "", "x|a"},
		{"still there, and a second one", 0, "a|b", 0, "a|a", 0, "", "a"},
		{"above what is known", 2, "c|d", 0, "x|y|c|d|e", 3, "", "e"},
		{"above what is known, with a shift", 2, "c|d", 1, "y|c|d|e", 3, "", "e"},
		{"a line that reaches into what is known", 1, "b|c", 0, "a|+b|c|d", 2, "", "d"},

		{"a blank line above the cursor", 0, "a||b", 0, "a||b|c", 3, "", "c"},
		{"a blank line that had text", 0, "a|b|c", 0, "a||c|d", 1, "", "d"},
		{"a blank line that had text, before a line below the cursor", 0, "a|b|c", 0, "a||d", 1, "", "|d"},
		{"blank lines below the cursor", 0, "a||", 0, "a|||b", 0, "", "||b"},
		{"blank lines at the end", 0, "a|b", 0, "a|b||", 1, "", ""},
		{"blank lines before a line that stays", 0, "a|||b", 0, "a|||b", 0, "", ""},

		{"a continued line", 0, "a|$", 0, "a|$ ls|b", 1, "$", "$ ls|b"},
		{"a continued line, and one like it was", 0, "a|$", 0, "a|$ ls|$", 1, "$", "$ ls|$"},
		{"a line like the typed one, which is not at the cursor", 0, "$|a", 0, "$ ls|$", 1, "a", "$ ls"},
		{"a continued line, with a shift", 0, "z|a|$", 1, "a|$ ls|$", 2, "$", "$ ls|$"},
		{"a line like the typed one, above the cursor", 0, "x|$", 0, "$ ls|b|x", 1, "$", "$ ls|b"},
		{"a line like the typed one, below the cursor", 0, "$|x", 0, "a|$ ls|x", 0, "$", "a|$ ls"},
		{"nothing typed, so the line may have moved", 0, "a|$", 0, "a|$ ls|$", 1, "", "$ ls"},
		{"another line has moved to the cursor", 0, "$ ls|$", 0, "x|$ ls|$", 1, "$", "x"},
		{"the line at the cursor has moved, another is there", 0, "a|$", 0, "a|b|$", 1, "$", "b"},

		{"a line that wraps", 0, "abc|+de|f", 0, "abc|+de|f|g", 2, "", "g"},
		{"a line that wraps has moved", 0, "abc|+de|f", 0, "x|abc|+de|f", 2, "", "x"},
		{"the first row of a line that wraps has moved", 0, "abc|+de|f", 0, "x|abc|de|f", 2, "", "x|abc|de"},
		{"a line that wrapped is in one row", 0, "abc|+de|f", 0, "abcde||f", 2, "", ""},
		{"a line has got a second row", 0, "ab||f", 0, "ab|+|f", 2, "", ""},
		{"a line has got a second row, which had text", 0, "ab|x|f", 0, "ab|+|f", 2, "", ""},
		{"a line has got a second row, which had text, with a shift", 0, "z|ab|x|f", 1, "ab|+|f", 3, "", ""},
		{"a line begins a row higher", 0, "|ab|f", 0, "|+ab|f", 2, "", ""},
		{"the second row of a line has changed", 0, "abc|+de|f", 0, "abc|+dx|f", 2, "", "abcdx"},
		{"trimmed within a line", 0, "abc|+de|f", 1, "de|f|g", 2, "", "g"},

		{"no rows before", 0, "", 0, "a||b", 2, "", "a|b"},
		{"no rows now", 0, "a|b", 0, "", 2, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old, _ := picture(tt.first, tt.old)
			now, lines := picture(0, tt.now)
			var got []string
			for _, line := range unseen(old, now, lines, tt.shift, tt.cursor, tt.typed) {
				got = append(got, line.text)
			}
			if got := strings.Join(got, "|"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
