package paneprog

import (
	"regexp"
	"strings"
)

// A Class says what a piece of output can do to text that is already on the screen.
type Class int

const (
	// Plain is text and line feeds in blank places: removes nothing.
	Plain Class = iota
	// Moves moves, sets a mode, or shows nothing: removes nothing.
	Moves
	// Text removes what it overwrites, on the cursor's row and below.
	Text
	// Scrolls removes the top row of a scroll region that does not feed the history.
	Scrolls
	// Draws removes anything on the screen, but nothing above it.
	Draws
	// Erases removes all of the screen or the history.
	Erases
	// Alternates enters or leaves the alternate screen.
	Alternates
	// Unknown may do anything.
	Unknown
)

// An Atom is a piece of output that ends where a terminal has read a complete sequence.
type Atom struct {
	Bytes string
	Class Class
}

var (
	atoms = regexp.MustCompile(`(?s)` +
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

// Atoms splits output into atoms.
func Atoms(out string) []Atom {
	var list []Atom
	for _, s := range atoms.FindAllString(out, -1) {
		list = append(list, Atom{s, classify(s)})
	}
	return list
}

// IsPlain reports whether an atom is text, a colour, a tab or the end of a line.
func (a Atom) IsPlain() bool {
	return a.Class == Text && !strings.Contains(a.Bytes, "\x1b") || a.Bytes == "\r\n" || a.Bytes == "\n" || a.Bytes == "\t" || colour.MatchString(a.Bytes)
}

func classify(s string) Class {
	last := s[len(s)-1]
	switch {
	case s[0] >= ' ':
		return Text
	case s[0] != '\x1b':
		if strings.ContainsAny(s, "\n\v\f") {
			return Scrolls
		}
		return Moves
	case len(s) == 1 || s == "\x1b[":
		return Moves
	case s[1] != '[':
		switch {
		case strings.ContainsRune(`]PX^_k`, rune(s[1])):
			return Moves
		case s == "\x1bc":
			return Erases
		case s == "\x1bD", s == "\x1bE":
			return Scrolls
		case s == "\x1bM", s == "\x1b#8":
			return Draws
		}
		return Moves
	case alternates.MatchString(s):
		return Alternates
	case eraseED.MatchString(s), columns.MatchString(s):
		return Erases
	case s[2] == '?' || s[2] == '>' || s[2] == '=' || s[2] == '<':
		return Moves
	case last == 'S':
		return Scrolls
	case last == 'b':
		return Text
	case strings.ContainsRune("@JKLMPTX", rune(last)):
		return Draws
	}
	return Moves
}

// ErasesBelow reports whether an atom erases the screen from the cursor on.
func (a Atom) ErasesBelow() bool { return a.Bytes == "\x1b[J" || a.Bytes == "\x1b[0J" }
