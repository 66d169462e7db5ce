package tmux

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
)

// Limits on the formats that [Inert] accepts. tmux expands formats in its only thread, so a
// slow one stops every session.
const (
	maxInertBytes = 2000
	maxInertDepth = 5
	// maxInertValues is the most bytes that all values read by a format may have together.
	maxInertValues = 64 << 10
)

// Inert rewrites an untrusted format as one that can only read values that are not secret,
// and read them cheaply: it runs no command, shows no paste buffer and no environment, and
// keeps tmux version v neither busy nor growing. Percent signs are literal. If the format
// is not accepted, the error is an [ErrArgument] that says why.
//
// The format is not searched for dangerous parts. It is parsed, and written anew from the
// parts known to be safe:
//
//   - text, styles such as #[bold], and one-letter names such as #S;
//   - #{name}, where the name is a [Token], an option or an @option; tmux would look up
//     others in its environment. Tokens of paste buffers are not accepted, and those of
//     other versions are empty;
//   - #{?name,a,b}, and #{==:a,b}, #{!=:a,b}, #{&&:a,b} and #{||:a,b};
//   - #{l:text}, and before a name or a format any of =20: p20: t: t/p: b: d: n: w: q:, or
//     several separated by semicolons.
//
// A format may be 5 deep and 2,000 bytes long, and its values 64 kB together, each counted
// as often as it occurs; if they are longer, tmux expands the format to a mark that
// [CheckInert] detects. There are no loops, so the length of a format bounds its cost. For
// loops use a list; match regular expressions in the caller.
func Inert(format string, v Version) (Format, error) {
	if len(format) > maxInertBytes {
		return "", argumentError("format longer than %d bytes", maxInertBytes)
	}
	p := inertParser{s: format, v: v}
	part, err := p.sequence("")
	if err != nil || p.uses == 0 {
		return part.format, err
	}
	// It is enough to measure each name once.
	var values Format
	for _, name := range p.long {
		values += guarded(name, "#{"+Format(name)+"}", p.v)
	}
	limit := maxInertValues / p.uses
	return Format(fmt.Sprintf("#{?#{e|<=|:#{n:%s},%d},%s,%s%d;}", values, limit, part.format, inertMark, limit)), nil
}

// inertMark is what a format expands to if its values are too long. No program on a screen
// can know it.
var inertMark = "inert" + rand.Text()

// CheckInert returns an [ErrArgument] if text, the expansion of a format from [Inert],
// lacks values because they are too long.
func CheckInert(text string) error {
	_, after, found := strings.Cut(text, inertMark)
	if !found {
		return nil
	}
	limit, _, _ := strings.Cut(after, ";")
	return argumentError("its values are longer than the %s bytes that this format affords in all; one that reads fewer affords more", limit)
}

type inertParser struct {
	s        string
	i, depth int
	v        Version
	long     []string // names of values that may be long
	uses     int      // how often they are read
}

// inertPart is a part of a format, as written for tmux.
type inertPart struct {
	format  Format
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
func (p *inertParser) sequence(end string) (part inertPart, err error) {
	var text strings.Builder
	flush := func() {
		part.format += Literal(text.String())
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
		var inner Format
		switch {
		case next == '(':
			return part, argumentError("#( ) runs a shell command")
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
		return part, errInertOpen
	}
	return part, nil
}

var errInertOpen = argumentError("unclosed #{")

// value returns the format for a name with modifiers.
func (p *inertParser) value(modifiers, name string) Format {
	if t := tokensByName()[name]; t == nil || t.Type == "string" || strings.HasPrefix(t.Type, "[]") {
		p.uses++
		if !slices.Contains(p.long, name) {
			p.long = append(p.long, name)
		}
	}
	return guarded(name, "#{"+Format(modifiers+name)+"}", p.v)
}

// absent is an option that nobody sets. It replaces names that only other versions of tmux
// have, which are empty in this one.
const absent = "@tmux-mcp-absent"

// known refuses names that no tmux has, and names of paste buffers. A name that only other
// versions have becomes absent, since this one would look it up in its environment.
func (p *inertParser) known(name string) (string, error) {
	base, _, _ := strings.Cut(name, "[")
	if strings.HasPrefix(name, "@") {
		return name, nil
	}
	if t := tokensByName()[name]; t != nil {
		switch {
		case t.Scope == BufferScope:
			return "", argumentError("#{%s} belongs to a paste buffer, which formats may not read", name)
		case t.In(p.v):
			return name, nil
		}
		return absent, nil
	} else if kind, ok := optionKinds()[base]; ok && !kind.hook {
		if !p.v.Has(kind.since) {
			return absent, nil
		}
		return name, nil
	}
	return "", argumentError("%.40q is not a token, option or @option of tmux %s (environment variables are not read)", name, p.v)
}

var (
	// inertName matches a token, a user option, or an option, with an optional index.
	inertName = lazy.Regexp(`^@?[A-Za-z_][A-Za-z0-9_-]*(\[[A-Za-z0-9_-]+\])?$`)
	// inertModifiers matches modifiers that only change the text of a value.
	inertModifiers = lazy.Regexp(strings.ReplaceAll("^(M;)*M:", "M", `(?:[bdnwqt]|t/p|[=p]-?(?:[0-9]{1,3}|1000))`))
)

// braces parses what follows #{, including the closing brace.
func (p *inertParser) braces() (Format, error) {
	if p.depth++; p.depth > maxInertDepth {
		return "", argumentError("formats nested more than %d deep", maxInertDepth)
	}
	defer func() { p.depth-- }()
	rest := p.s[p.i:]
	for _, op := range []string{"?", "==:", "!=:", "&&:", "||:"} {
		if strings.HasPrefix(rest, op) {
			p.i += len(op)
			return p.operator(strings.TrimSuffix(op, ":"))
		}
	}
	modifiers := inertModifiers().FindString(rest)
	p.i += len(modifiers)
	end := strings.IndexByte(p.s[p.i:], '}')
	switch {
	case end < 0:
		return "", errInertOpen
	case inertName().MatchString(p.s[p.i : p.i+end]):
		name, err := p.known(p.s[p.i : p.i+end])
		p.i += end + 1
		return p.value(modifiers, name), err
	case modifiers == "":
		return "", argumentError("#{%.20s is not taken: a format has text, #{name}, #{?name,a,b}, == != && || of these, and = p t b d n w q l before them; "+
			"the list tools loop and filter", rest)
	}
	start := p.i
	part, err := p.sequence("}")
	if err != nil {
		return "", err
	}
	p.i++
	if !part.formats {
		return "", argumentError("%q is not a name", p.s[start:p.i-1])
	}
	return "#{" + Format(modifiers) + part.format + "}", nil
}

// operator parses the operands of a condition or comparison, including the closing brace.
func (p *inertParser) operator(op string) (Format, error) {
	var operands []inertPart
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
	var texts []Format
	for _, o := range operands {
		texts = append(texts, o.format)
	}
	switch n := len(operands); {
	case op == "&&" && n > 1:
		return And(texts...), nil
	case op == "||" && n > 1:
		return Or(texts...), nil
	case op == "?" && (n == 2 || n == 3):
		if text := operands[0].text; operands[0].formats {
		} else if inertName().MatchString(text) {
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
		return "#{" + Format(op) + ":" + texts[0] + "," + texts[1] + "}", nil
	}
	return "", argumentError("%s with %d operands", op, len(operands))
}

// literal parses the text after l:, including the closing brace.
func (p *inertParser) literal(text *strings.Builder) error {
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
	return errInertOpen
}
