package server

import (
	"regexp"
	"strings"

	"tmuxmcp/tmux"
)

// matcher finds a text or a regular expression in lines. Matching is done here
// and not in tmux, whose patterns are of another kind and whose formats a
// pattern could break out of.
type matcher struct {
	re *regexp.Regexp
	// text is what is looked for when that is plain text.
	text      string
	matchCase bool
	// space is set when the pattern ends in a space, as that of a prompt does.
	space bool
}

// newMatcher compiles the pattern of an argument.
func newMatcher(argument, pattern string, isRegexp, matchCase bool) (*matcher, error) {
	if pattern == "" {
		return nil, argumentFault(argument, "must not have an empty pattern, which every line would match")
	}
	m := &matcher{matchCase: matchCase}
	if text, ok := strings.CutSuffix(strings.TrimSuffix(pattern, "$"), " "); ok && strings.TrimSpace(text) != "" {
		m.space = true
	}
	if isRegexp && strings.ContainsAny(pattern, `\.*+?{}()[]|^$`) {
		flags := ""
		if !matchCase {
			flags = "(?i)"
		}
		re, err := regexp.Compile(flags + pattern)
		if err != nil {
			return nil, argumentFault(argument, "has an invalid regex pattern: %s", regexpProblem(err))
		}
		m.re = re
		return m, nil
	}
	m.text = pattern
	expr := regexp.QuoteMeta(pattern)
	if !matchCase && isASCII(pattern) {
		// Letters of both cases and nothing else that Unicode folds with them, so
		// that tmux, which folds less, does not miss a line.
		var b strings.Builder
		for _, c := range []byte(pattern) {
			if lower := c | 0x20; 'a' <= lower && lower <= 'z' {
				b.Write([]byte{'[', lower, lower ^ 0x20, ']'})
			} else {
				b.WriteString(regexp.QuoteMeta(string(c)))
			}
		}
		expr = b.String()
	} else if !matchCase {
		expr = "(?i)" + expr
	}
	m.re = regexp.MustCompile(expr)
	return m, nil
}

func isASCII(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// match reports whether a line matches, which is given without the spaces at its
// end: tmux cannot tell them from cells that nothing was written to.
func (m *matcher) match(line string) bool {
	return m.re.MatchString(line) || m.space && m.re.MatchString(line+" ")
}

// widestInTmux is how long a text may be to be looked for in tmux, in cells:
// narrower panes are never ruled out.
const widestInTmux = 39

// condition is a format that is true for every pane whose screen the pattern may
// match, and for some others; empty when tmux cannot tell. tmux looks at each row
// by itself, and a wrapped line has the text in two: so it is a half of the text
// that must be there, except in panes where that may be wrapped twice.
func (m *matcher) condition() tmux.Format {
	n := len(m.text)
	if n == 0 || n > widestInTmux || !isASCII(m.text) {
		return ""
	}
	how := tmux.Match{IgnoreCase: !m.matchCase}
	conditions := []tmux.Format{
		tmux.MatchToken("pane_width", "[0-9]", tmux.Match{Glob: true}),
		tmux.MatchToken("pane_width", "[1-3][0-9]", tmux.Match{Glob: true}),
	}
	for _, half := range []string{m.text[:n/2], m.text[n/2:]} {
		half = strings.TrimSpace(half)
		if half == "" {
			if n > 1 {
				return ""
			}
			continue // the first half of one character
		}
		conditions = append(conditions, tmux.MatchContent(half, how))
	}
	if len(conditions) == 2 {
		return ""
	}
	return tmux.Or(conditions...)
}
