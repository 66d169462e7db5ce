package format

import (
	"bytes"
	"strings"
)

// object is one level of an object's text: a JSON object or a TOML inline table.
type object struct {
	start, end int // from "{" to after "}"
	members    []member
	hash       bool // comments start with "#", as in TOML
}

type member struct {
	name           string
	nameStart, key int // the name's text is [nameStart, key)
	start, end     int // of the value
	comma          int // offset of the comma after it, or -1
}

// last returns the member that counts, the last one with the name; -1 if there is none.
func (o object) last(name string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

// layout is how an object is laid out.
type layout struct {
	nl     string // newline
	unit   string // one step of indentation
	multi  bool   // each member on a separate line
	indent string // of its members, if multi
	close  string // of its closing brace, if multi
	colon  string // between name and value
	gap    string // after a comma, if not multi
	pad    string // inside the braces, if not multi
	arrays arrayLayout
}

// base returns the indentation of the lines on which the object's members start.
func (l layout) base() string {
	if l.multi {
		return l.indent
	}
	return l.close
}

// arrayLayout is how arrays are laid out.
type arrayLayout struct {
	multi bool
	gap   string
	pad   string
}

// layoutOf determines an object's layout. What the object does not show, because it has too
// few members, is taken from outer, the layout of the enclosing object.
func layoutOf(text []byte, o object, outer layout) layout {
	l := outer
	l.close = outer.indent
	if !outer.multi {
		l.close = lineIndent(text, o.start)
	}
	l.indent = l.close + l.unit
	if len(o.members) == 0 {
		inner := text[o.start+1 : o.end-1]
		l.multi = outer.multi || bytes.IndexByte(inner, '\n') >= 0
		if isBlank(inner) && !l.multi && len(inner) > 0 {
			l.pad = string(inner)
		}
		return l
	}
	first, last := o.members[0], o.members[len(o.members)-1]
	if colon := string(text[last.key:last.start]); strings.Trim(colon, " \t:=") == "" {
		l.colon = colon
	}
	gap := text[o.start+1 : first.nameStart]
	if l.multi = bytes.IndexByte(gap, '\n') >= 0; l.multi {
		l.ofLines(text, o)
	} else {
		l.ofLine(text, o, gap)
	}
	for _, m := range o.members {
		if a, ok := arrayLayoutOf(text[m.start:m.end]); ok {
			l.arrays = a
			break
		}
	}
	return l
}

// ofLines determines the layout of an object whose members are on lines of their own.
func (l *layout) ofLines(text []byte, o object) {
	for _, m := range o.members {
		if startsLine(text, m.nameStart) {
			l.indent = lineIndent(text, m.nameStart)
		}
	}
	last := o.members[len(o.members)-1]
	l.nl = newlineOf(outside(text, last.nameStart, last.nameStart))
	if startsLine(text, o.end-1) {
		l.close = lineIndent(text, o.end-1)
	}
	if unit, ok := strings.CutPrefix(l.indent, l.close); ok && unit != "" {
		l.unit = unit
	}
}

// ofLine determines the layout of an object on one line; pad is what precedes its first
// member.
func (l *layout) ofLine(text []byte, o object, pad []byte) {
	l.pad, l.gap = "", ""
	if isBlank(pad) {
		l.pad = string(pad)
	}
	if strings.ContainsAny(l.colon, " \t") {
		l.gap = " "
	}
	if n := len(o.members); n > 1 {
		gap := text[o.members[n-2].comma+1 : o.members[n-1].nameStart]
		if isBlank(gap) && bytes.IndexByte(gap, '\n') < 0 {
			l.gap = string(gap)
		}
	}
	l.arrays = arrayLayout{gap: l.gap}
}

// arrayLayoutOf determines the layout of a non-empty array.
func arrayLayoutOf(text []byte) (arrayLayout, bool) {
	if len(text) < 3 || text[0] != '[' {
		return arrayLayout{}, false
	}
	i := len(text) - len(bytes.TrimLeft(text[1:], " \t\r\n"))
	pad := string(text[1:i])
	if i >= len(text)-1 {
		return arrayLayout{}, false
	}
	if strings.Contains(pad, "\n") {
		return arrayLayout{multi: true, gap: " "}, true
	}
	gap := " "
	if text[i] == '"' && bytes.Contains(text, []byte(`","`)) && !bytes.Contains(text, []byte(`", "`)) {
		gap = ""
	}
	return arrayLayout{gap: gap, pad: pad}, true
}

// insert adds a member at the end. item is its text.
func insert(text []byte, o object, l layout, item string) splice {
	sep := l.nl + l.indent
	if len(o.members) == 0 {
		at, line := lastComment(text, o.start+1, o.end-1, o.hash)
		switch {
		case line || bytes.IndexByte(text[at:o.end-1], '\n') >= 0:
			return splice{at, at, sep + item}
		case l.multi:
			return splice{at, o.end - 1, sep + item + l.nl + l.close}
		case at > o.start+1:
			return splice{at, at, " " + item}
		}
		return splice{at, o.end - 1, l.pad + item + l.pad}
	}
	last := o.members[len(o.members)-1]
	at, comma, trailing := last.end, ",", ""
	if last.comma >= 0 {
		at, comma, trailing = last.comma+1, "", ","
	}
	stop, line := tail(text, at, o.end-1, o.hash)
	if !l.multi && !line {
		sep = l.gap
	}
	return splice{at, stop, comma + string(text[at:stop]) + sep + item + trailing}
}

// remove removes member k, with the comma that would be left over, and with its line if
// nothing else is on it. Comments stay.
func remove(text []byte, o object, k int) splice {
	m := o.members[k]
	end := m.end
	if m.comma >= 0 {
		end = m.comma + 1
	}
	kept := "" // a comment between value and comma
	if m.comma >= 0 && !isBlank(text[m.end:m.comma]) {
		kept = string(text[m.end:m.comma])
	}
	a, b := cut(text, m.nameStart, end, o)
	switch {
	case kept != "":
		return splice{m.nameStart, end, kept}
	case len(o.members) == 1 && isBlank(text[o.start+1:m.nameStart]) && isBlank(text[end:o.end-1]):
		return splice{o.start + 1, o.end - 1, ""}
	case k > 0 && k == len(o.members)-1 && m.comma < 0:
		comma := o.members[k-1].comma
		between := text[comma+1 : max(a, comma+1)]
		if b == m.end && isBlank(between) {
			between = nil // the brace moves up to the previous member
		}
		return splice{comma, b, string(between)}
	}
	return splice{a, b, ""}
}

// cut extends [a, b) to what should be removed with it: the whole line if nothing else is
// on it, otherwise the space on one side.
func cut(text []byte, a, b int, o object) (int, int) {
	rest := bytes.TrimLeft(text[b:], " \t")
	c := len(text) - len(rest)
	if startsLine(text, a) {
		line := bytes.LastIndexByte(text[:a], '\n') + 1
		switch {
		case len(rest) == 0 || rest[0] == '\n':
			return line, min(c+1, len(text))
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return line, c + 2
		case c == o.end-1:
			return a, b
		}
		return a, c
	}
	if c == o.end-1 { // the last on its line: take the space before it, keep that of the brace
		return len(bytes.TrimRight(text[:a], " \t")), b
	}
	return a, c
}

// tail returns the end of the comments on the same line after i; line reports whether the
// last one extends to the end of the line.
func tail(text []byte, i, end int, hash bool) (stop int, line bool) {
	stop = i
	for i < end && !line {
		next, toEnd := comment(text, i, hash)
		switch {
		case next > i:
			i, stop, line = next, next, toEnd
		case text[i] == ' ' || text[i] == '\t':
			i++
		default:
			return stop, false
		}
	}
	return stop, line
}

// lastComment returns the end of the last comment in a stretch of space and comments.
func lastComment(text []byte, i, end int, hash bool) (stop int, line bool) {
	for stop = i; i < end; i++ {
		if next, toEnd := comment(text, i, hash); next > i {
			i, stop, line = next-1, next, toEnd
		}
	}
	return stop, line
}

// lineEnd returns the offset of the newline, CRLF included, that ends the line of i.
func lineEnd(text []byte, i int) int {
	n := bytes.IndexByte(text[i:], '\n')
	if n < 0 {
		return len(text)
	}
	if i += n; i > 0 && text[i-1] == '\r' {
		i--
	}
	return i
}

// nextLine returns the offset after the line of i.
func nextLine(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// startsLine reports whether only space precedes i on its line, which is not the first.
func startsLine(text []byte, i int) bool {
	return bytes.HasSuffix(bytes.TrimRight(text[:i], " \t"), []byte("\n"))
}

// lineIndent returns the space that the line of i starts with.
func lineIndent(text []byte, i int) string {
	start := bytes.LastIndexByte(text[:i], '\n') + 1
	if start == 0 && bytes.HasPrefix(text, []byte(BOM)) {
		start = len(BOM)
	}
	line := text[start:i]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func isBlank(b []byte) bool {
	return len(bytes.Trim(b, " \t\r\n")) == 0
}
