package format

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/pelletier/go-toml/v2"
)

// Masked replaces what [Mask] hides.
const Masked = "***"

// Mask returns the text with the same lines, in which only keys, structure, true,
// false, null, numbers below 1000 and the strings for which visible returns true
// can be read: no other string, and no comment. A text that does not parse is
// masked whole.
func Mask(kind Kind, src []byte, visible func(string) bool) []byte {
	m := &masker{src: src, visible: visible}
	d, err := Parse(kind, src)
	if err != nil {
		m.hide(0, len(src))
		return m.out
	}
	m.keep(d.body)
	if kind == TOML {
		m.toml()
	} else {
		m.json()
	}
	m.keep(len(src))
	return m.out
}

type masker struct {
	src, out []byte
	i        int // src[:i] has been dealt with
	visible  func(string) bool
}

var harmless = regexp.MustCompile(`^(true|false|null|[-+]?[0-9]{1,3})$`)

// keep copies the text up to end.
func (m *masker) keep(end int) {
	m.out = append(m.out, m.src[m.i:end]...)
	m.i = end
}

// hide masks the text from start to end, line by line.
func (m *masker) hide(start, end int) {
	m.keep(start)
	for n, line := range bytes.SplitAfter(m.src[start:end], []byte("\n")) {
		body := bytes.TrimRight(line, "\r\n")
		text := body
		if n > 0 {
			text = bytes.TrimLeft(body, " \t")
		}
		m.out = append(m.out, body[:len(body)-len(text)]...)
		if len(bytes.TrimSpace(text)) > 0 {
			m.out = append(m.out, Masked...)
		}
		m.out = append(m.out, line[len(body):]...)
	}
	m.i = end
}

// str masks a string with quotes of n characters, unless what it means is visible.
func (m *masker) str(start, end, n int, decode func([]byte) (string, bool)) {
	if s, ok := decode(m.src[start:end]); ok && m.visible(s) {
		m.keep(end)
		return
	}
	m.hide(start+n, end-n)
	m.keep(end)
}

// bare masks a number, a date or the like.
func (m *masker) bare(start, end int) {
	if !harmless.Match(m.src[start:end]) {
		m.hide(start, end)
	}
	m.keep(end)
}

// comment masks what is behind the marker of a comment that ends at the line's end.
func (m *masker) comment(start, marker int) {
	end := len(m.src)
	if n := bytes.IndexByte(m.src[start:], '\n'); n >= 0 {
		end = start + n
	}
	m.hide(start+marker, end)
}

func (m *masker) at(prefix string) bool { return bytes.HasPrefix(m.src[m.i:], []byte(prefix)) }

func (m *masker) json() {
	key := func(i int) bool { // is it a name that ends before i?
		for i < len(m.src) {
			switch rest := m.src[i:]; {
			case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
				i++
			case bytes.HasPrefix(rest, []byte("//")):
				i += max(bytes.IndexByte(rest, '\n'), 2)
			case bytes.HasPrefix(rest, []byte("/*")):
				i += max(bytes.Index(rest, []byte("*/"))+2, 2)
			default:
				return rest[0] == ':'
			}
		}
		return false
	}
	for m.i < len(m.src) {
		switch c := m.src[m.i]; {
		case c == '"':
			if end := skipString(m.src, m.i); key(end) {
				m.keep(end)
			} else {
				m.str(m.i, end, 1, func(b []byte) (s string, ok bool) { return s, json.Unmarshal(b, &s) == nil })
			}
		case m.at("//"):
			m.comment(m.i, 2)
		case m.at("/*"):
			end := m.i + 2 + bytes.Index(m.src[m.i+2:], []byte("*/"))
			m.hide(m.i+2, end)
			m.keep(end + 2)
		case isLiteral(c):
			end := m.i
			for end < len(m.src) && isLiteral(m.src[end]) {
				end++
			}
			m.bare(m.i, end)
		default:
			m.keep(m.i + 1)
		}
	}
}

func (m *masker) toml() {
	for m.blank(); m.i < len(m.src); m.blank() {
		if m.src[m.i] == '[' {
			m.key("]")
			for m.at("]") {
				m.keep(m.i + 1)
			}
			continue
		}
		m.key("=")
		m.keep(m.i + 1)
		m.value()
	}
}

// blank goes over space, newlines and comments, and the commas of a list.
func (m *masker) blank() {
	for m.i < len(m.src) {
		switch m.src[m.i] {
		case ' ', '\t', '\r', '\n', ',':
			m.keep(m.i + 1)
		case '#':
			m.comment(m.i, 1)
		default:
			return
		}
	}
}

// key goes to the end of a name, of which quoted parts may hold anything.
func (m *masker) key(end string) {
	for m.i < len(m.src) && !m.at(end) {
		switch m.src[m.i] {
		case '"', '\'':
			m.keep(m.quoted())
		default:
			m.keep(m.i + 1)
		}
	}
}

// quoted returns the offset behind the string that starts here, of one line.
func (m *masker) quoted() int {
	if m.src[m.i] == '"' {
		return skipString(m.src, m.i)
	}
	return m.i + 2 + bytes.IndexByte(m.src[m.i+1:], '\'')
}

func (m *masker) value() {
	m.blank()
	if m.i == len(m.src) {
		return
	}
	decode := func(b []byte) (string, bool) {
		var v struct{ S string }
		err := toml.Unmarshal(append([]byte("S = "), b...), &v)
		return v.S, err == nil
	}
	switch start := m.i; {
	case m.at(`"""`), m.at("'''"):
		m.str(start, m.multiline(), 3, decode)
	case m.at(`"`), m.at("'"):
		m.str(start, m.quoted(), 1, decode)
	case m.at("["), m.at("{"):
		table, end := m.at("{"), "]"
		if table {
			end = "}"
		}
		m.keep(start + 1)
		for m.blank(); m.i < len(m.src) && !m.at(end); m.blank() {
			if table {
				m.key("=")
				m.keep(m.i + 1)
			}
			m.value()
		}
		m.keep(min(m.i+1, len(m.src)))
	default:
		end := start
		for end < len(m.src) && bytes.IndexByte([]byte(" \t\r\n,]}#"), m.src[end]) < 0 {
			end++
		}
		m.bare(start, end)
		// A date and its time may have a space between them.
		if rest := m.src[m.i:]; len(rest) > 1 && rest[0] == ' ' && '0' <= rest[1] && rest[1] <= '9' {
			m.keep(m.i + 1)
			m.value()
		}
	}
}

// multiline returns the offset behind the string that starts here, of several
// lines. It may end with two more quotes.
func (m *masker) multiline() int {
	quote := m.src[m.i]
	i := m.i + 3
	for ; !bytes.HasPrefix(m.src[i:], bytes.Repeat([]byte{quote}, 3)); i++ {
		if quote == '"' && m.src[i] == '\\' {
			i++
		}
	}
	i += 3
	for n := 0; n < 2 && i < len(m.src) && m.src[i] == quote; n++ {
		i++
	}
	return i
}
