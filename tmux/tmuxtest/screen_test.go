package tmuxtest

import "testing"

// TestParseRows: what tmux prints is read, and what is written from that says the same.
func TestParseRows(t *testing.T) {
	for _, test := range []struct{ captured, text, styled string }{
		{"", "", ""},
		{"\n\n", "", ""},
		{"a\n\nb  \n\n", "a\n\nb", "a\n\nb"},
		{"\x1b[31mred\nstill\x1b[39m not\n", "red\nstill not", "\x1b[31mred\x1b[0m\n\x1b[31mstill\x1b[0m not"},
		{"\x1b[1m\x1b[7m \x1b[0m  \n", "", "\x1b[1;7m \x1b[0m"},
		{"\x1b[44m  \x1b[49m \n", "", "\x1b[44m  \x1b[0m"},
		{"\x1b[1m  \n", "", ""},
		{"\x1b[0;5:3ma\x1b[0;4:3mb\x1b[38;5m", "ab", "\x1b[53ma\x1b[0m\x1b[4:3mb\x1b[0m"},
		{"\x0elqk\nx\x0fx\n", "┌─┐\n│x", "┌─┐\n│x"},
		{"日\tx\n", "日      x", "日      x"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "link", "link"},
		{"\x1b", "", ""},
	} {
		if test.captured == "" || test.captured[len(test.captured)-1] != '\n' {
			test.captured += "\n"
		}
		s := screen{rows: parseRows(test.captured)}
		if got := s.text(); got != test.text {
			t.Errorf("%q: text %q, want %q", test.captured, got, test.text)
		}
		styled := s.as(row.styled)
		if styled != test.styled {
			t.Errorf("%q: styled %q, want %q", test.captured, styled, test.styled)
		}
		if again := (&screen{rows: parseRows(styled + "\n")}).as(row.styled); again != styled {
			t.Errorf("%q: read again it is %q", styled, again)
		}
	}
}

// FuzzParseRows: any output of tmux is read, and its own form is stable.
func FuzzParseRows(f *testing.F) {
	f.Add("\x1b[31;44mx\x1b[m y\t\x0eq\x0f\n\x1b]8;;u\x1b\\l\n")
	f.Add("\x1b[4:3;58;2;1;2;3;38;2m \n")
	f.Fuzz(func(t *testing.T, captured string) {
		styled := (&screen{rows: parseRows(captured + "\n")}).as(row.styled)
		if again := (&screen{rows: parseRows(styled + "\n")}).as(row.styled); again != styled {
			t.Errorf("%q is %q, and then %q", captured, styled, again)
		}
	})
}
