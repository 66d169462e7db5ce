package server

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

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
	steps     int // how many at most for each byte of a line
	// space is set when the pattern ends in a space, as that of a prompt does.
	space bool
}

// Limits of the patterns that clients send: what they are long, and the
// instructions that their repeat counts become. Matching takes as long as the
// text times these.
const (
	maxPattern  = 1000
	maxPatterns = 50 // of one call
	maxProgram  = 1000
)

// compileRegexp compiles a regular expression of a client with flags before it.
// The error says what is wrong with it, without it.
func compileRegexp(flags, pattern string) (*regexp.Regexp, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(flags+pattern, syntax.Perl)
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		msg, _, _ = strings.Cut(msg, ": `")
		return nil, errors.New(msg)
	}
	if programSize(tree) > maxProgram {
		return nil, fmt.Errorf("its repeat counts make it larger than %d steps; repeat less, or use * or +", maxProgram)
	}
	return regexp.Compile(flags + pattern)
}

// programSize is how many instructions a regular expression becomes.
func programSize(tree *syntax.Regexp) int {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return maxProgram + 1
	}
	return len(prog.Inst)
}

func checkPattern(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("it has %d bytes; the limit is %d", len(pattern), maxPattern)
	}
	return nil
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
		re, err := compileRegexp(flags, pattern)
		if err != nil {
			return nil, argumentFault(argument, "has an invalid regex pattern: %s", err)
		}
		m.setRegexp(re)
		return m, nil
	}
	if err := checkPattern(pattern); err != nil {
		return nil, argumentFault(argument, "has a pattern that is too long: %s", err)
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
	m.setRegexp(regexp.MustCompile(expr))
	return m, nil
}

func (m *matcher) setRegexp(re *regexp.Regexp) {
	m.re, m.steps = re, maxProgram
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		m.steps = programSize(tree)
	}
}

func isASCII(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// match reports whether a line matches. The line comes without its trailing spaces,
// because tmux cannot distinguish them from cells that nothing was written to.
func (m *matcher) match(line string) bool {
	return m.re.MatchString(line) || m.space && m.re.MatchString(line+" ")
}

// widestInTmux is how long a text may be to be looked for in tmux, in cells:
// narrower panes are never ruled out. Of each half of it tmux looks for so much,
// as its search takes as long as the screen times the text at worst.
const (
	widestInTmux = 39
	mostInTmux   = 8
)

// condition is a format that is true for every pane whose screen the pattern may
// match, and for some others; empty when tmux cannot know. tmux looks at each row
// by itself, and a wrapped line has the text in two: so it is a half of the text
// that must be there, except in panes where that may be wrapped twice. It gets
// plain text only: what a regular expression costs in tmux has no bound.
func (m *matcher) condition() tmux.Format {
	n := len(m.text)
	if n == 0 || n > widestInTmux || !isASCII(m.text) {
		return ""
	}
	var condition tmux.Format
	for i, half := range []string{m.text[:n/2], m.text[n/2:]} {
		half = strings.TrimSpace(half)
		if half == "" {
			if n > 1 {
				return ""
			}
			continue // the first half of one character
		}
		if cut := len(half) - mostInTmux; cut > 0 {
			half = strings.TrimSpace(half[i*cut:][:mostInTmux]) // the ends of a text are the rarer part
		}
		is := tmux.MatchContent(half, tmux.Match{IgnoreCase: !m.matchCase})
		if condition == "" {
			condition = is
		} else {
			condition = choose(condition, "1", is)
		}
	}
	if condition == "" {
		return ""
	}
	for _, narrow := range []string{"[0-9]", "[1-3][0-9]"} {
		condition = choose(tmux.MatchToken("pane_width", narrow, tmux.Match{Glob: true}), "1", condition)
	}
	return condition
}

// choose is a format that expands only what the condition chooses, where And and
// Or expand all of their conditions.
func choose(condition, then, otherwise tmux.Format) tmux.Format {
	return "#{?" + condition + "," + then + "," + otherwise + "}"
}

// Limits of what matching the text of one call may take: all of it, and the steps
// of a single line, which cannot be interrupted. A wrapped line may be as long as
// a history.
const (
	maxMatching  = 5 * time.Second
	maxLineSteps = 100_000_000
)

// matching matches lines as long as a call may. The time it took adds up.
type matching struct {
	took, most time.Duration
}

// match is [matcher.match] with limits.
func (w *matching) match(ctx context.Context, m *matcher, line string) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if len(line)*m.steps > maxLineSteps {
		return false, faultf(kindRefused, "a line of %d bytes takes too long to match: the pattern has %d steps", len(line), m.steps).
			suggest("use a shorter pattern with smaller repeat counts, or fewer lines")
	}
	start := time.Now()
	is := m.match(line)
	if w.took += time.Since(start); w.took > w.most {
		return false, faultf(kindRefused, "matching the text took longer than %v", w.most.Round(time.Second)).
			suggest("use shorter patterns with smaller repeat counts, or fewer panes and lines")
	}
	return is, nil
}

// first is the index of the first pattern that any line matches, or -1.
func (w *matching) first(ctx context.Context, patterns []*matcher, lines []string) (int, error) {
	for i, m := range patterns {
		for _, l := range lines {
			if is, err := w.match(ctx, m, l); is || err != nil {
				return i, err
			}
		}
	}
	return -1, nil
}

// lines are the lines that match.
func (w *matching) lines(ctx context.Context, m *matcher, lines []string) (all []string, err error) {
	matches, err := w.indexes(ctx, m, lines)
	for _, i := range matches {
		all = append(all, lines[i])
	}
	return all, err
}

// indexes are the indexes of the lines that match.
func (w *matching) indexes(ctx context.Context, m *matcher, lines []string) (all []int, err error) {
	for i, l := range lines {
		is, err := w.match(ctx, m, l)
		if err != nil {
			return nil, err
		}
		if is {
			all = append(all, i)
		}
	}
	return all, nil
}
