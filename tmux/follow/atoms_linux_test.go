package follow_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// An effect is what a piece of output can do to text that is already on the screen.
type effect int

const (
	// effectPlain is text and line feeds in blank places: removes nothing.
	effectPlain effect = iota
	// effectMoves moves, sets a mode, or shows nothing: removes nothing.
	effectMoves
	// effectText removes what it overwrites, on the cursor's row and below.
	effectText
	// effectScrolls removes the top row of a scroll region that does not feed the history.
	effectScrolls
	// effectDraws removes anything on the screen, but nothing above it.
	effectDraws
	// effectErases removes all of the screen or the history.
	effectErases
	// effectAlternates enters or leaves the alternate screen.
	effectAlternates
	// effectUnknown may do anything.
	effectUnknown
)

// An atom is a piece of output that ends where a terminal has read a complete sequence.
type atom struct {
	bytes  string
	effect effect
}

var (
	atomForm = regexp.MustCompile(`(?s)` +
		`\x1b\[[0-?]*[ -/]*[@-~]` + // CSI
		`|\x1b[\]PX^_k].*?(?:\x1b\\|\x07)` + // OSC, DCS, SOS, PM, APC, title
		`|\x1b[ -/]*[0-~]` + // ESC
		`|\r\n|[\x00-\x1a\x1c-\x1f]` + // C0
		`|[^\x00-\x1f]+(?:\x1b\[[0-9]*b)*` + // text and repetitions of its last character
		`|.`)
	eraseED    = regexp.MustCompile(`^\x1b\[[0-9;]*[23]J$`)
	alternates = regexp.MustCompile(`^\x1b\[\?[0-9;]*(47|1047|1049)[hl]$`)
	columns    = regexp.MustCompile(`^\x1b\[\?[0-9;]*3[hl]$`)
	colour     = regexp.MustCompile(`^\x1b\[[0-9;:]*m$`)
)

// atomsOf splits output into atoms.
func atomsOf(out string) []atom {
	var list []atom
	for _, s := range atomForm.FindAllString(out, -1) {
		list = append(list, atom{s, effectOf(s)})
	}
	return list
}

// isPlain reports whether an atom is text, a colour, a tab or the end of a line.
func (a atom) isPlain() bool {
	return a.effect == effectText && !strings.Contains(a.bytes, "\x1b") || a.bytes == "\r\n" || a.bytes == "\n" || a.bytes == "\t" || colour.MatchString(a.bytes)
}

func effectOf(s string) effect {
	last := s[len(s)-1]
	switch {
	case s[0] >= ' ':
		return effectText
	case s[0] != '\x1b':
		if strings.ContainsAny(s, "\n\v\f") {
			return effectScrolls
		}
		return effectMoves
	case len(s) == 1 || s == "\x1b[":
		return effectMoves
	case s[1] != '[':
		switch {
		case strings.ContainsRune(`]PX^_k`, rune(s[1])):
			return effectMoves
		case s == "\x1bc":
			return effectErases
		case s == "\x1bD", s == "\x1bE":
			return effectScrolls
		case s == "\x1bM", s == "\x1b#8":
			return effectDraws
		}
		return effectMoves
	case alternates.MatchString(s):
		return effectAlternates
	case eraseED.MatchString(s), columns.MatchString(s):
		return effectErases
	case s[2] == '?' || s[2] == '>' || s[2] == '=' || s[2] == '<':
		return effectMoves
	case last == 'S':
		return effectScrolls
	case last == 'b':
		return effectText
	case strings.ContainsRune("@JKLMPTX", rune(last)):
		return effectDraws
	}
	return effectMoves
}

// erasesBelow reports whether an atom erases the screen from the cursor on.
func (a atom) erasesBelow() bool { return a.bytes == "\x1b[J" || a.bytes == "\x1b[0J" }

func TestAtoms(t *testing.T) {
	out := "ab\r\n\x1b[31mx\x1b[3b\x1b[2J\x1b[0K\x1b]0;t\x07\x1bP1\x1b\\\x1b[?1049h\x1bM\x1bD\x1b(0\x1bc\t\x1b[?3h日\x1b["
	want := []effect{effectText, effectScrolls, effectMoves, effectText, effectErases, effectDraws, effectMoves, effectMoves, effectAlternates, effectDraws, effectScrolls, effectMoves, effectErases, effectMoves, effectErases, effectText, effectMoves}
	var got []effect
	var all strings.Builder
	for _, a := range atomsOf(out) {
		got = append(got, a.effect)
		all.WriteString(a.bytes)
	}
	if !reflect.DeepEqual(got, want) || all.String() != out {
		t.Errorf("%q has atoms with the effects %v, want %v", out, got, want)
	}
}
