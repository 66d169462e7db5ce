// Package cells counts the columns of a terminal that text takes, as tmux does.
package cells

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// SplitAt splits a line of text at a terminal column, padding a shorter line with blanks.
func SplitAt(text string, column int) (left, right string) {
	x := 0
	for i, c := range text {
		w := Of(c)
		if c == '\t' {
			w = 8 - x%8
		}
		if w > 0 && x+w > column {
			return text[:i], text[i:]
		}
		x += w
	}
	return text + strings.Repeat(" ", max(0, column-x)), ""
}

// Width returns the number of columns of a text without tabs.
func Width(text string) (columns int) {
	for _, c := range text {
		columns += Of(c)
	}
	return columns
}

// Of returns the number of columns of a character.
func Of(c rune) int {
	switch {
	case c < 0x300 || unicode.Is(unicode.Prepended_Concatenation_Mark, c):
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, jamo):
		return 0
	case unicode.Is(alsoWide, c):
		return 2
	}
	if kind := width.LookupRune(c).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Vary reports whether versions of tmux may differ in the number of columns of a character.
func Vary(c rune) bool { return unicode.In(c, jamo, unlike) }

var (
	// jamo are the Hangul vowels and final consonants that tmux combines with the character
	// before them.
	jamo     = table(0x1160, 0x11ff, 0xd7b0, 0xd7ff)
	alsoWide = table(0x3248, 0x324f, 0x4dc0, 0x4dff)
	// unlike are joiners, emoji modifiers, regional indicators, and emoji and scripts that
	// are newer than some versions of tmux, or wider in some.
	unlike = table(0x0cf3, 0x0cf3, 0x0ece, 0x0ece, 0x200d, 0x200d, 0x261d, 0x261d, 0x26f9, 0x26f9, 0x270c, 0x270d, 0x3164, 0x3164, 0xfe0f, 0xfe0f,
		0x10efd, 0x10eff, 0x1123f, 0x11241, 0x11f00, 0x11f59, 0x13430, 0x13455, 0x1b132, 0x1b132, 0x1b155, 0x1b155, 0x1d2c0, 0x1d2d3, 0x1df25, 0x1df2a,
		0x1e030, 0x1e08f, 0x1e4d0, 0x1e4f9, 0x1f1e6, 0x1f1ff, 0x1f3cb, 0x1f3cc, 0x1f3fb, 0x1f3ff, 0x1f574, 0x1f575, 0x1f590, 0x1f590, 0x1f6dc, 0x1f6dc,
		0x1f774, 0x1f77f, 0x1f7d9, 0x1f7d9, 0x1fa70, 0x1faff)
)

func table(bounds ...uint32) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for i := 0; i < len(bounds); i += 2 {
		t.R32 = append(t.R32, unicode.Range32{Lo: bounds[i], Hi: bounds[i+1], Stride: 1})
	}
	return t
}
