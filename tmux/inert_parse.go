package tmux

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

type inertParser struct {
	s     string
	i     int
	depth int
	loop  string // the loop around here
	v     Version
}

// formatAliases are the names of one letter.
var formatAliases = map[byte]string{
	'D': "pane_id", 'F': "window_flags", 'H': "host", 'I': "window_index", 'P': "pane_index",
	'S': "session_name", 'T': "pane_title", 'W': "window_name", 'h': "host_short",
}

// at is the next byte, 0 at the end.
func (p *inertParser) at() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// sequence reads text and formats up to an unescaped byte of end, which it
// leaves, or to the end of everything if end is empty.
func (p *inertParser) sequence(end string) ([]inertNode, error) {
	var seq []inertNode
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			seq = append(seq, inertText(text.String()))
			text.Reset()
		}
	}
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c != '#' {
			if strings.IndexByte(end, c) >= 0 {
				flush()
				return seq, nil
			}
			text.WriteByte(c)
			p.i++
			continue
		}
		// The beginning of a style stays as it is, with all before it.
		if run := len(p.s[p.i:]) - len(strings.TrimLeft(p.s[p.i:], "#")); p.i+run < len(p.s) && p.s[p.i+run] == '[' {
			text.WriteString(p.s[p.i : p.i+run+1])
			p.i += run + 1
			continue
		}
		p.i++
		c = p.at()
		switch {
		case c == 0:
			text.WriteByte('#')
		case c == '(':
			return nil, argumentError("#( ) runs a shell command")
		case c == '{':
			p.i++
			flush()
			node, err := p.braces()
			if err != nil {
				return nil, err
			}
			seq = append(seq, node)
		case c == '#' || c == ',' || c == '}':
			p.i++
			text.WriteByte(c)
		case formatAliases[c] != "":
			p.i++
			flush()
			seq = append(seq, inertValue{name: formatAliases[c]})
		default:
			p.i++
			text.WriteByte('#')
			text.WriteByte(c)
		}
	}
	flush()
	if end != "" {
		return nil, argumentError("a #{ without its }")
	}
	return seq, nil
}

// name reads a name that a closing brace ends, and the brace; found is false if
// there is something else.
func (p *inertParser) name() (name string, found bool, err error) {
	rest := p.s[p.i:]
	end := strings.IndexByte(rest, '}')
	if end <= 0 || !isInertName(rest[:end]) {
		return "", false, nil
	}
	p.i += end + 1
	name, err = p.known(rest[:end])
	return name, true, err
}

// absent is the name of an option that nobody sets. It stands for names that other
// versions of tmux have, which are empty in this one.
const absent = "@tmux-mcp-absent"

// known refuses the names that no tmux has, and the names of paste buffers. This
// version would look up what it lacks in its environment, so that becomes absent.
func (p *inertParser) known(name string) (string, error) {
	base, _, _ := strings.Cut(name, "[")
	if strings.HasPrefix(name, "@") {
		return name, nil
	}
	if t := tokensByName()[name]; t != nil {
		switch {
		case t.Scope == BufferScope:
			return "", argumentError("#{%s} is of a paste buffer, which formats may not read", name)
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
	return "", argumentError("%.40q is no token, option or @option of tmux %s, and its environment is not read", name, p.v)
}

// isInertName reports whether a text has the shape of a token, a user option, or
// an option, with an index perhaps. tmux looks such a name up and nothing more.
func isInertName(s string) bool {
	s, index, indexed := strings.Cut(s, "[")
	if indexed {
		var ok bool
		if index, ok = strings.CutSuffix(index, "]"); !ok || valueOf(index) == "" {
			return false
		}
	}
	s = strings.TrimPrefix(s, "@")
	return s != "" && !strings.Contains(s, "@") && !strings.ContainsAny(s[:1], "0123456789-") && valueOf(s) != ""
}

// braces reads what follows #{, with the closing brace.
func (p *inertParser) braces() (inertNode, error) {
	if p.depth++; p.depth > maxInertDepth {
		return nil, argumentError("formats more than %d deep", maxInertDepth)
	}
	defer func() { p.depth-- }()
	if name, ok, err := p.name(); ok {
		return inertValue{name: name}, err
	}
	var others []inertModifier
	var op *inertModifier
	if p.at() != '?' {
		modifiers, err := p.modifiers()
		if err != nil {
			return nil, err
		}
		for _, m := range modifiers {
			if inertRules[m.name].most == 0 {
				others = append(others, m)
			} else if op != nil {
				return nil, argumentError("%s: and %s: together", op.name, m.name)
			} else {
				op = &m
			}
		}
	}
	switch {
	case op != nil:
		return p.operator(*op, others)
	case p.at() == '?':
		p.i++
		operands, err := p.operands(0)
		if err == nil && len(operands) < 2 {
			err = argumentError("a condition without a value")
		}
		if err != nil {
			return nil, err
		}
		if len(operands)%2 == 0 {
			operands = append(operands, nil)
		}
		for i := 0; i+1 < len(operands); i += 2 {
			text, ok := plainText(operands[i])
			switch {
			case !ok:
			case isInertName(text):
				name, wrong := p.known(text)
				operands[i], err = []inertNode{inertValue{name: name}}, errors.Join(err, wrong)
			default:
				// False, unless the environment has it.
				operands[i] = nil
			}
		}
		return inertChoice{others, operands}, err
	}
	if name, ok, err := p.name(); ok {
		return inertValue{others, name, nil}, err
	}
	start := p.i
	operands, err := p.operands(1)
	if err != nil {
		return nil, err
	}
	if body := p.s[start : p.i-1]; !strings.Contains(body, "#{") {
		return nil, argumentError("%q is not a name", body)
	}
	return inertValue{others, "", operands[0]}, nil
}

// operands reads up to the closing brace, and over it. At most is the number of
// operands, the last of which has all further commas; 0 is any number.
func (p *inertParser) operands(most int) ([][]inertNode, error) {
	var all [][]inertNode
	for {
		end := ",}"
		if len(all)+1 == most {
			end = "}"
		}
		seq, err := p.sequence(end)
		if err != nil {
			return nil, err
		}
		all = append(all, seq)
		p.i++
		if p.s[p.i-1] == '}' {
			return all, nil
		}
	}
}

func (p *inertParser) operator(op inertModifier, others []inertModifier) (inertNode, error) {
	rule := inertRules[op.name]
	if (op.name == "l" || op.name == "a") && len(others) > 0 {
		return nil, argumentError("a modifier of plain text")
	}
	if op.name == "l" {
		return p.literal()
	}
	if rule.loop {
		outer := p.loop
		if outer != "" && !strings.Contains("SW SP WP", outer+op.name) {
			return nil, argumentError("%s: inside %s:; loops go inside each other as S: W: P:, in this order", op.name, outer)
		}
		p.loop = op.name
		defer func() { p.loop = outer }()
	}
	operands, err := p.operands(rule.most)
	if err != nil {
		return nil, err
	}
	if len(operands) < rule.least {
		return nil, argumentError("%s: takes %d operands", op.name, rule.least)
	}
	switch op.name {
	case "a":
		text, ok := plainText(operands[0])
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 32 || n > 126 {
			return nil, argumentError("a: takes a number from 32 to 126")
		}
		return inertText(string(rune(n))), nil
	case "C", "m":
		if err := checkPattern(op, operands[0]); err != nil {
			return nil, err
		}
	}
	return inertOperator{others, op, operands}, nil
}

// literal reads what l: leaves as it is, and the closing brace.
func (p *inertParser) literal() (inertNode, error) {
	var b strings.Builder
	for depth := 0; p.i < len(p.s); p.i++ {
		c, rest := p.s[p.i], p.s[p.i:]
		switch {
		case strings.HasPrefix(rest, "#{"):
			depth++
		case c == '#' && len(rest) > 1 && strings.IndexByte(",#}:", rest[1]) >= 0:
			p.i++
			if depth > 0 {
				b.WriteByte('#')
			}
			c = rest[1]
		case c == '}' && depth == 0:
			p.i++
			return inertText(b.String()), nil
		case c == '}':
			depth--
		}
		b.WriteByte(c)
	}
	return nil, argumentError("a #{ without its }")
}

// plainText is a sequence that is only text.
func plainText(seq []inertNode) (string, bool) {
	switch len(seq) {
	case 0:
		return "", true
	case 1:
		text, ok := seq[0].(inertText)
		return string(text), ok
	}
	return "", false
}

// checkPattern checks what C: or m: looks for.
func checkPattern(op inertModifier, seq []inertNode) error {
	if strings.Contains(strings.Join(op.args, ""), "r") {
		text, ok := plainText(seq)
		if !ok {
			return argumentError("a format inside a regular expression")
		}
		shape, err := shapeOf(text)
		if err == nil && op.name == "C" && shape.quantified > 0 {
			err = argumentError("a * + or ? in C/r:, whose lines may be of any length; C: takes a glob, and search_panes any regular expression")
		}
		return err
	}
	stars, size := 0, 0
	for _, n := range seq {
		switch n := n.(type) {
		case inertText:
			stars, size = stars+strings.Count(string(n), "*"), size+len(n)
		case inertValue:
			if n.name == "" || !isSmall(n.name) || len(n.modifiers) > 0 {
				return argumentError("a value in a pattern that is no number and no id")
			}
		default:
			return argumentError("a pattern that is not made of text, numbers and ids")
		}
	}
	if stars > maxInertStars || size > maxInertText {
		return argumentError("a pattern has at most %d bytes and %d stars", maxInertText, maxInertStars)
	}
	return nil
}

// modifiers reads a list of modifiers and the colon that ends it.
func (p *inertParser) modifiers() ([]inertModifier, error) {
	var all []inertModifier
	for {
		m, err := p.modifier()
		if err != nil {
			return nil, err
		}
		rule, known := inertRules[m.name]
		if !known {
			return nil, argumentError("%s: is no modifier that can be taken", m.name)
		}
		if !p.v.Has(rule.since) {
			return nil, &UnsupportedError{What: "the modifier " + m.name + ":", Since: rule.since, Have: p.v}
		}
		check := rule.args
		if check == nil {
			check = letters("")
		}
		if err := check(m.args, p.v); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		all = append(all, m)
		c := p.at()
		p.i++
		if c == ':' {
			return all, nil
		}
	}
}

// modifier reads one modifier, up to the ";" or ":" after it.
func (p *inertParser) modifier() (inertModifier, error) {
	rest := p.s[p.i:]
	for _, two := range []string{"||", "&&", "!!", "!=", "==", "<=", ">="} {
		if strings.HasPrefix(rest, two) {
			p.i += 2
			return inertModifier{name: two}, p.atEnd(two)
		}
	}
	if len(rest) < 2 {
		return inertModifier{}, argumentError("a #{ without its }")
	}
	m := inertModifier{name: rest[:1]}
	if why := refusedModifiers[rest[0]]; why != "" && strings.IndexByte(":;/|", rest[1]) >= 0 {
		return m, argumentError("%s", why)
	}
	if _, known := inertRules[m.name]; !known {
		return m, argumentError("#{%.20s is neither a name nor a modifier that can be taken", rest)
	}
	p.i++
	c := p.at()
	switch {
	case c == ':' || c == ';':
		return m, nil
	case c == '-' || c >= 0x80 || isNameByte(c) && c != '_' || c == ' ':
		arg, err := p.argument(":;")
		m.args = []string{arg}
		return m, err
	case c < '!' || c > '~' || strings.IndexByte("#{},", c) >= 0:
		return m, argumentError("#{%.20s is neither a name nor a modifier", rest)
	}
	end := string(c) + ";:"
	for {
		p.i++
		arg, err := p.argument(end)
		if err != nil {
			return m, err
		}
		m.args = append(m.args, arg)
		if p.at() != c {
			return m, nil
		}
		if next := p.i + 1; next < len(p.s) && (p.s[next] == ':' || p.s[next] == ';') {
			p.i++
			return m, nil
		}
	}
}

func (p *inertParser) atEnd(name string) error {
	if c := p.at(); c != ':' && c != ';' {
		return argumentError("%s without a colon", name)
	}
	return nil
}

// argument reads one argument of a modifier, which is plain text, up to an
// unescaped byte of end.
func (p *inertParser) argument(end string) (string, error) {
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case strings.IndexByte(end, c) >= 0:
			if b.Len() > maxInertText {
				return "", argumentError("an argument of more than %d bytes", maxInertText)
			}
			return b.String(), nil
		case c == '}':
			return "", argumentError("a } in the argument of a modifier")
		case c < ' ' || c == 0x7f:
			return "", argumentError("a control character in the argument of a modifier")
		case c == '#':
			p.i++
			if c = p.at(); strings.IndexByte(",#}:", c) < 0 || c == 0 {
				return "", argumentError("a format in the argument of a modifier")
			}
		}
		b.WriteByte(c)
		p.i++
	}
	return "", argumentError("a #{ without its }")
}
