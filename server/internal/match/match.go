// Package match finds texts and regular expressions in lines, within a time.
package match

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
)

// Matcher finds a text or a regular expression in lines. Matching is done here and not in
// tmux, whose patterns are of another kind and whose formats a pattern could break out of.
type Matcher struct {
	re    *regexp.Regexp
	steps int // maximum per byte of a line
	// space is set if the pattern ends in a space, as a prompt does.
	space bool
	// part is in every line that matches; if fold is set, in either case.
	part []byte
	fold bool
}

// Limits on patterns from clients: their length, and the number of instructions that their
// repeat counts expand to. The time to match is proportional to the text times that number.
const (
	maxPattern  = 1000
	maxPatterns = 50 // per call
	maxProgram  = 1000
)

// Compile compiles a client's regular expression, preceded by flags. The error says
// what is wrong with the expression without quoting it.
func Compile(flags, pattern string) (*regexp.Regexp, error) {
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

// programSize returns the number of instructions of a regular expression.
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

// New compiles the pattern of an argument.
func New(argument, pattern string, isRegexp, matchCase bool) (*Matcher, error) {
	if pattern == "" {
		return nil, reply.Argument(argument, "must not have an empty pattern, which every line would match")
	}
	if strings.Contains(pattern, "\n") || isRegexp && strings.Contains(pattern, `\n`) {
		return nil, reply.Argument(argument, "must not have a newline: a pattern is compared with one line at a time")
	}
	flags := ""
	if !matchCase {
		flags = "(?i)"
	}
	m := &Matcher{steps: maxProgram}
	if !isRegexp || !strings.ContainsAny(pattern, `\.*+?{}()[]|^$`) {
		if err := checkPattern(pattern); err != nil {
			return nil, reply.Argument(argument, "has a pattern that is too long: %s", err)
		}
		m.re = regexp.MustCompile(flags + regexp.QuoteMeta(pattern))
	} else if re, err := Compile(flags, pattern); err != nil {
		return nil, reply.Argument(argument, "has an invalid regex pattern: %s", err)
	} else {
		m.re = re
	}
	if tree, err := syntax.Parse(m.re.String(), syntax.Perl); err == nil {
		m.steps = programSize(tree)
		m.part, m.fold = partOf(tree)
	}
	text, space := strings.CutSuffix(strings.TrimSuffix(pattern, "$"), " ")
	m.space = space && strings.TrimSpace(text) != ""
	return m, nil
}

// partOf returns the longest text that must be in a line for tree to match, and whether its
// case is ignored. It has no trailing spaces, as lines have none, and no characters that have
// another case beyond ASCII.
func partOf(tree *syntax.Regexp) (part []byte, fold bool) {
	switch {
	case tree.Op == syntax.OpLiteral:
		fold = tree.Flags&syntax.FoldCase != 0
		for piece := range strings.FieldsFuncSeq(string(tree.Rune), func(r rune) bool {
			return r >= utf8.RuneSelf || fold && strings.ContainsRune("kKsS", r)
		}) {
			if piece = strings.TrimRight(piece, " "); len(piece) > len(part) {
				part = []byte(piece)
			}
		}
		if fold {
			foldCase(part)
		}
	case tree.Op == syntax.OpConcat, tree.Op == syntax.OpCapture, tree.Op == syntax.OpPlus, tree.Op == syntax.OpRepeat && tree.Min > 0:
		for _, sub := range tree.Sub {
			if p, f := partOf(sub); len(p) > len(part) {
				part, fold = p, f
			}
		}
	}
	return part, fold
}

// foldCase sets the bit that distinguishes lower case from upper case. That makes some other
// bytes equal too.
func foldCase(text []byte) {
	for i := range text {
		text[i] |= 0x20
	}
}

// All returns the matchers of the patterns of an argument.
func All(ctx context.Context, argument string, patterns []string, regex, matchCase bool) (all []*Matcher, err error) {
	if len(patterns) > maxPatterns {
		return nil, reply.Argument(argument, "takes at most %d patterns", maxPatterns)
	}
	for _, p := range patterns {
		m, err := New(argument, p, regex, matchCase)
		if err != nil {
			if p != "" {
				stdio.Warn(ctx, reply.Said(err.Error()))
			}
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// match reports whether a line matches. A line of a pane has no trailing spaces, because tmux
// cannot tell them from cells that were never written to.
func (m *Matcher) match(line string) bool {
	return m.re.MatchString(line) || m.space && m.re.MatchString(line+" ")
}

// Limits on matching in one call: on all of it, and on the steps for a single line, which
// cannot be interrupted. A wrapped line may be as long as a whole history.
const (
	MaxTime      = 5 * time.Second
	maxLineSteps = 100_000_000
)

// Search matches lines within the time limit of a call. It adds up the time taken.
type Search struct {
	took, Most time.Duration
	folded     []byte // for candidates
	line       []byte // for mayMatch
}

// Match reports whether a line matches, within the limits.
func (w *Search) Match(ctx context.Context, m *Matcher, line string) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if len(line)*m.steps > maxLineSteps {
		return false, reply.Faultf(reply.KindRefused, "a line of %d bytes takes too long to match: the pattern has %d steps", len(line), m.steps).
			Suggest("use a shorter pattern with smaller repeat counts, or fewer lines")
	}
	if !w.mayMatch(m, line) {
		return false, nil
	}
	start := time.Now()
	is := m.match(line)
	if w.took += time.Since(start); w.took > w.Most {
		return false, reply.Faultf(reply.KindRefused, "matching the text took longer than %v", w.Most.Round(time.Second)).
			Suggest("use shorter patterns with smaller repeat counts, or fewer panes and lines")
	}
	return is, nil
}

// mayMatch reports whether a line has m's part, without which it does not match: most lines of
// an output do not, and that takes a twentieth of the time of matching.
func (w *Search) mayMatch(m *Matcher, line string) bool {
	switch {
	case len(m.part) == 0:
		return true
	case !m.fold:
		return strings.Contains(line, string(m.part))
	}
	w.line = append(w.line[:0], line...)
	foldCase(w.line)
	return bytes.Contains(w.line, m.part)
}

// First returns the index of the first pattern that any line matches, or -1.
func (w *Search) First(ctx context.Context, patterns []*Matcher, lines []string) (int, error) {
	for i, m := range patterns {
		for _, l := range lines {
			if is, err := w.Match(ctx, m, l); is || err != nil {
				return i, err
			}
		}
	}
	return -1, nil
}

// Lines returns the lines that match.
func (w *Search) Lines(ctx context.Context, m *Matcher, lines []string) (all []string, err error) {
	for _, l := range lines {
		is, err := w.Match(ctx, m, l)
		if err != nil {
			return nil, err
		}
		if is {
			all = append(all, l)
		}
	}
	return all, nil
}

// Any reports whether a line of a text matches. See [Search.Indexes].
func (w *Search) Any(ctx context.Context, m *Matcher, text []byte) (bool, error) {
	for _, line := range w.candidates(m, text) {
		if is, err := w.Match(ctx, m, line); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

// Indexes returns the indexes of the lines of a text that match. Lines have no trailing
// spaces, and the text no trailing blank lines.
func (w *Search) Indexes(ctx context.Context, m *Matcher, text []byte) (all []int, err error) {
	for i, line := range w.candidates(m, text) {
		is, err := w.Match(ctx, m, line)
		if err != nil {
			return nil, err
		}
		if is {
			all = append(all, i)
		}
	}
	return all, nil
}

// candidates yields the lines of a text that have m's part, with their indexes. Looking for
// it in the whole text takes a twentieth of the time of matching each line.
func (w *Search) candidates(m *Matcher, text []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		text = bytes.TrimRight(text, " \n")
		in := text
		if m.fold {
			w.folded = append(w.folded[:0], text...)
			in = w.folded
			foldCase(in)
		}
		for at, index := 0, 0; at < len(text); index++ {
			skip := bytes.Index(in[at:], m.part)
			if skip < 0 {
				return
			}
			index += bytes.Count(text[at:at+skip], []byte("\n"))
			at += bytes.LastIndexByte(text[at:at+skip], '\n') + 1
			line, _, _ := bytes.Cut(text[at:], []byte("\n"))
			if !yield(index, string(bytes.TrimRight(line, " "))) {
				return
			}
			at += len(line) + 1
		}
	}
}
