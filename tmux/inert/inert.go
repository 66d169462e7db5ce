// Package inert makes formats of tmux's language that come from elsewhere safe to expand: from
// a model, a form, another user.
//
// A format can run a shell command, read the environment and keep tmux busy for minutes. What
// [Format] returns can do none of that:
//
//	f, err := inert.Format("#{session_name}: #{pane_title}", version)
//	text, err := pane.Display(ctx, f)
//	err = inert.Check(text)
package inert

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/internal/wire"
)

// Limits on the formats that [Format] accepts. tmux expands formats in its only thread, so a
// slow one stops every session.
const (
	maxBytes = 2000
	maxDepth = 5
	// maxValues is the most bytes that all values read by a format may have together.
	maxValues = 64 << 10
)

// Format rewrites an untrusted format as one that can only read values that are not secret,
// and read them cheaply: it runs no command, shows no paste buffer and no environment, and
// keeps tmux version v neither busy nor growing. Percent signs are literal. If the format
// is not accepted, the error is an [tmux.ErrArgument] that says why.
//
// The format is not searched for dangerous parts. It is parsed, and rewritten from the
// parts known to be safe:
//
//   - text, styles such as #[bold], and one-letter names such as #S;
//   - #{name}, where the name is a [tmux.Token], an option or an @option; tmux would look up
//     others in its environment. Tokens of paste buffers are not accepted, and those of
//     other versions are empty;
//   - #{?name,a,b}, and #{==:a,b}, #{!=:a,b}, #{&&:a,b} and #{||:a,b};
//   - #{l:text}, and before a name or a format any of =20: p20: t: t/p: b: d: n: w: q:, or
//     several separated by semicolons.
//
// A format may be 5 deep and 2,000 bytes long, and its values 64 kB together, each counted
// as often as it occurs; if they are longer, tmux expands the format to a mark that
// [Check] detects. There are no loops, so the length of a format bounds its cost. For
// loops use a list; match regular expressions in the caller.
func Format(format string, v tmux.Version) (tmux.Format, error) {
	if len(format) > maxBytes {
		return "", wire.Argument("format longer than %d bytes", maxBytes)
	}
	p := parser{s: format, v: v}
	part, err := p.sequence("")
	switch {
	case err != nil:
		return "", err
	case p.uses == 0:
		return part.format, nil
	}
	// It is enough to measure each name once.
	var values tmux.Format
	for _, name := range p.long {
		values += tokens()[name].Guarded("#{"+tmux.Format(name)+"}", p.v)
	}
	limit := maxValues / p.uses
	return tmux.Format(fmt.Sprintf("#{?#{e|<=|:#{n:%s},%d},%s,%s%d;}", values, limit, part.format, tooLong, limit)), nil
}

// tooLong is what a format expands to if its values are too long. No program on a screen
// can know it.
var tooLong = "inert" + rand.Text()

// Check returns an [tmux.ErrArgument] if text, the expansion of a format from [Format],
// lacks values because they are too long.
func Check(text string) error {
	_, after, found := strings.Cut(text, tooLong)
	if !found {
		return nil
	}
	limit, _, _ := strings.Cut(after, ";")
	return wire.Argument("its values are longer than the %s bytes that this format affords in all; one that reads fewer affords more", limit)
}

type parser struct {
	s        string
	i, depth int
	v        tmux.Version
	long     []string // names of values that may be long
	uses     int      // how often they are read
}

// piece is a part of a format, as written for tmux.
type piece struct {
	format  tmux.Format
	text    string // of a part without formats
	formats bool
}

// formatAliases are the one-letter names.
var formatAliases = map[byte]string{
	'D': "pane_id", 'F': "window_flags", 'H': "host", 'I': "window_index", 'P': "pane_index",
	'S': "session_name", 'T': "pane_title", 'W': "window_name", 'h': "host_short",
}

// sequence parses text and formats up to an unescaped byte of end, which it leaves, or to
// the end of the input if end is empty.
func (p *parser) sequence(end string) (part piece, err error) {
	var text strings.Builder
	flush := func() {
		part.format += tmux.Literal(text.String())
		part.text += text.String()
		text.Reset()
	}
	for p.i < len(p.s) {
		rest := p.s[p.i:]
		if rest[0] != '#' {
			if strings.IndexByte(end, rest[0]) >= 0 {
				flush()
				return part, nil
			}
			text.WriteByte(rest[0])
			p.i++
			continue
		}
		// The beginning of a style is kept, with every # before it.
		if run := len(rest) - len(strings.TrimLeft(rest, "#")); run < len(rest) && rest[run] == '[' {
			text.WriteString(rest[:run+1])
			p.i += run + 1
			continue
		}
		if strings.HasPrefix(rest, "#{l:") {
			p.i += len("#{l:")
			if err = p.literal(&text); err != nil {
				return part, err
			}
			continue
		}
		next := byte(0)
		if p.i++; len(rest) > 1 {
			next = rest[1]
			p.i++
		}
		var inner tmux.Format
		switch {
		case next == '(':
			return part, wire.Argument("#( ) runs a shell command")
		case next == '{':
			inner, err = p.braces()
		case formatAliases[next] != "":
			inner = p.value("", formatAliases[next])
		case next == 0:
			text.WriteByte('#')
		case strings.IndexByte("#,}", next) >= 0:
			text.WriteByte(next)
		default:
			text.WriteString(rest[:2])
		}
		if err != nil {
			return part, err
		}
		if inner != "" {
			flush()
			part.format += inner
			part.formats = true
		}
	}
	flush()
	if end != "" {
		return part, errOpen
	}
	return part, nil
}

var errOpen = wire.Argument("unclosed #{")

// value returns the format for a name with modifiers.
func (p *parser) value(modifiers, name string) tmux.Format {
	if t, ok := tokens()[name]; !ok || t.Type == "string" || strings.HasPrefix(t.Type, "[]") {
		p.uses++
		if !slices.Contains(p.long, name) {
			p.long = append(p.long, name)
		}
	}
	return tokens()[name].Guarded("#{"+tmux.Format(modifiers+name)+"}", p.v)
}

var tokens = sync.OnceValue(func() map[string]tmux.Token {
	m := map[string]tmux.Token{}
	for _, t := range tmux.Tokens() {
		m[t.Name] = t
	}
	return m
})

// absent is an option that nobody sets. It replaces names that only other versions of tmux
// have, which are empty in this one.
const absent = "@tmux-mcp-absent"

// known refuses names that no tmux has, and names of paste buffers. A name that only other
// versions have becomes absent, since this one would look it up in its environment.
func (p *parser) known(name string) (string, error) {
	base, _, _ := strings.Cut(name, "[")
	if strings.HasPrefix(name, "@") {
		return name, nil
	}
	if t, ok := tokens()[name]; ok {
		switch {
		case t.Scope == tmux.BufferScope:
			return "", wire.Argument("#{%s} belongs to a paste buffer, which formats may not read", name)
		case t.In(p.v):
			return name, nil
		}
		return absent, nil
	} else if full, hook, since := tmux.LookupOption(base); full == base && !hook {
		if !p.v.Has(since) {
			return absent, nil
		}
		return name, nil
	}
	return "", wire.Argument("%.40q is not a token, option or @option of tmux %s (environment variables are not read)", name, p.v)
}

var (
	// safeName matches a token, a user option, or an option, with an optional index.
	safeName = lazy.Regexp(`^@?[A-Za-z_][A-Za-z0-9_-]*(\[[A-Za-z0-9_-]+\])?$`)
	// safeModifiers matches modifiers that only change the text of a value.
	safeModifiers = lazy.Regexp(strings.ReplaceAll("^(M;)*M:", "M", `(?:[bdnwqt]|t/p|[=p]-?(?:[0-9]{1,3}|1000))`))
)

// braces parses what follows #{, including the closing brace.
func (p *parser) braces() (tmux.Format, error) {
	if p.depth++; p.depth > maxDepth {
		return "", wire.Argument("formats nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	rest := p.s[p.i:]
	for _, op := range []string{"?", "==:", "!=:", "&&:", "||:"} {
		if strings.HasPrefix(rest, op) {
			p.i += len(op)
			return p.operator(strings.TrimSuffix(op, ":"))
		}
	}
	modifiers := safeModifiers().FindString(rest)
	p.i += len(modifiers)
	end := strings.IndexByte(p.s[p.i:], '}')
	switch {
	case end < 0:
		return "", errOpen
	case safeName().MatchString(p.s[p.i : p.i+end]):
		name, err := p.known(p.s[p.i : p.i+end])
		p.i += end + 1
		return p.value(modifiers, name), err
	case modifiers == "":
		return "", wire.Argument("#{%.20s is not taken: a format has text, #{name}, #{?name,a,b}, == != && || of these, and = p t b d n w q l before them; "+
			"the list tools loop and filter", rest)
	}
	start := p.i
	part, err := p.sequence("}")
	if err != nil {
		return "", err
	}
	p.i++
	if !part.formats {
		return "", wire.Argument("%q is not a name", p.s[start:p.i-1])
	}
	return "#{" + tmux.Format(modifiers) + part.format + "}", nil
}

// operator parses the operands of a condition or comparison, including the closing brace.
func (p *parser) operator(op string) (tmux.Format, error) {
	var operands []piece
	for {
		part, err := p.sequence(",}")
		if err != nil {
			return "", err
		}
		operands = append(operands, part)
		if p.i++; p.s[p.i-1] == '}' {
			break
		}
	}
	var texts []tmux.Format
	for _, o := range operands {
		texts = append(texts, o.format)
	}
	switch n := len(operands); {
	case op == "&&" && n > 1:
		return tmux.And(texts...), nil
	case op == "||" && n > 1:
		return tmux.Or(texts...), nil
	case op == "?" && (n == 2 || n == 3):
		if text := operands[0].text; operands[0].formats {
		} else if safeName().MatchString(text) {
			name, err := p.known(text)
			if err != nil {
				return "", err
			}
			texts[0] = p.value("", name)
		} else {
			texts[0] = "" // what tmux takes it for, unless its environment has the name
		}
		return "#{?" + texts[0] + "," + texts[1] + "," + append(texts, "")[2] + "}", nil
	case (op == "==" || op == "!=") && n == 2:
		return "#{" + tmux.Format(op) + ":" + texts[0] + "," + texts[1] + "}", nil
	}
	return "", wire.Argument("%s with %d operands", op, len(operands))
}

// literal parses the text after l:, including the closing brace.
func (p *parser) literal(text *strings.Builder) error {
	for depth := 0; p.i < len(p.s); p.i++ {
		c, rest := p.s[p.i], p.s[p.i:]
		switch {
		case strings.HasPrefix(rest, "#{"):
			depth++
		case c == '#' && len(rest) > 1 && strings.IndexByte(",#}:", rest[1]) >= 0:
			p.i++
			if depth > 0 {
				text.WriteByte('#')
			}
			c = rest[1]
		case c == '}' && depth == 0:
			p.i++
			return nil
		case c == '}':
			depth--
		}
		text.WriteByte(c)
	}
	return errOpen
}
