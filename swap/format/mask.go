package format

import (
	"bytes"

	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"

	"tmuxmcp/internal/lazy"
)

// Masked replaces what [Mask] hides.
const Masked = "***"

// Visible says what [Mask] shows.
type Visible struct {
	Value   func(string) bool // of strings and numbers
	Comment func(string) bool // nil: no comments
}

// Mask returns the text, with the same lines, in which only keys, structure, true, false,
// null, numbers below 1000, and what is visible are readable. A text that does not parse is masked
// entirely.
func Mask(kind Kind, src []byte, visible Visible) []byte {
	m := &masker{src: src, visible: visible.Value, prose: visible.Comment}
	d, err := Parse(kind, src)
	if err != nil {
		m.hide(0, len(src))
		return m.out
	}
	m.keep(d.body)
	switch kind {
	case TOML:
		m.toml()
	case YAML:
		m.yaml(d.tree.(*yamlDoc))
	default:
		m.json()
	}
	m.keep(len(src))
	return m.out
}

type masker struct {
	src, out []byte
	i        int // src[:i] is done
	visible  func(string) bool
	prose    func(string) bool
}

var harmless = lazy.Regexp(`^(true|false|null|[-+]?[0-9]{1,3})$`)

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

// comment masks the text of a comment, unless it is visible.
func (m *masker) comment(start, end int) {
	if m.prose == nil || !m.prose(string(m.src[start:end])) {
		m.hide(start, end)
	}
	m.keep(end)
}

// str masks a string with quotes of n characters, unless its value is visible.
func (m *masker) str(start, end, n int, value string) {
	if m.visible(value) {
		m.keep(end)
		return
	}
	m.hide(start+n, end-n)
	m.keep(end)
}

// bare masks a number, a date or the like.
func (m *masker) bare(start, end int) {
	if text := m.src[start:end]; !harmless().Match(text) && !m.visible(string(text)) {
		m.hide(start, end)
	}
	m.keep(end)
}

func (m *masker) json() {
	for m.i < len(m.src) {
		i := m.i
		switch end, line := comment(m.src, i, false); {
		case line:
			m.comment(i+2, end)
		case end > i:
			m.comment(i+2, end-2)
			m.keep(end)
		case m.src[i] == '"':
			end = skipString(m.src, i)
			if next := skipBlank(m.src, end, false); next < len(m.src) && m.src[next] == ':' {
				m.keep(end) // a name
			} else {
				m.str(i, end, 1, unquote(m.src[i:end]))
			}
		case isLiteral(m.src[i]):
			m.bare(i, skipValue(m.src, i))
		default:
			m.keep(i + 1)
		}
	}
}

func (m *masker) toml() {
	p := unstable.Parser{KeepComments: true}
	p.Reset(m.src[m.i:])
	base := m.i
	for p.NextExpression() {
		// An expression is followed by the comment at the end of its line.
		for n := p.Expression(); n != nil; n = n.Next() {
			m.node(n, base)
		}
	}
}

// node masks a TOML node and the nodes below it. Their offsets count from base.
func (m *masker) node(n *unstable.Node, base int) {
	start := base + int(n.Raw.Offset)
	end := start + int(n.Raw.Length)
	switch n.Kind {
	case unstable.Comment:
		m.comment(start+1, end)
	case unstable.String:
		quotes := 1
		if text := m.src[start:end]; bytes.HasPrefix(text, []byte(`"""`)) || bytes.HasPrefix(text, []byte("'''")) {
			quotes = 3
		}
		m.str(start, end, quotes, string(n.Data))
	case unstable.Bool, unstable.Integer, unstable.Float, unstable.DateTime,
		unstable.LocalDateTime, unstable.LocalDate, unstable.LocalTime:
		if i := bytes.IndexByte(m.src[start:end], ' '); i > 0 { // between a date and its time
			m.bare(start, start+i)
			start += i + 1
		}
		m.bare(start, end)
	}
	for c := n.Children(); c.Next(); {
		m.node(c.Node(), base)
	}
}

// yaml masks the values of a document, and the comments, anchors and tags between them.
func (m *masker) yaml(d *yamlDoc) {
	between := func(end int) {
		for i := m.i; i < end; i++ {
			stop := i + 1
			switch c := m.src[i]; {
			case c == '#':
				stop = lineEnd(m.src, i)
				m.comment(i+1, stop)
				i = stop - 1
				continue
			case c == '&' || c == '*' || c == '!':
				for stop < end && m.src[stop] > ' ' {
					stop++
				}
			default:
				continue
			}
			m.hide(i+1, stop)
			i = stop - 1
		}
		m.keep(end)
	}
	var node func(n *yaml.Node, name bool)
	node = func(n *yaml.Node, name bool) {
		at := d.at[n]
		if n.Kind == yaml.ScalarNode && at.end > at.start {
			between(at.start)
			switch {
			case name:
			case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
				m.str(at.start, at.end, 1, n.Value)
			case isBlock(n) && m.visible(n.Value): // a command may be folded
				between(lineEnd(m.src, at.start))
				m.keep(at.end)
			case isBlock(n):
				between(lineEnd(m.src, at.start))
				m.hide(m.i, at.end)
			case !m.visible(n.Value):
				m.bare(at.start, at.end)
			}
			m.keep(at.end)
		}
		for k, c := range n.Content {
			node(c, n.Kind == yaml.MappingNode && k%2 == 0)
		}
	}
	if d.root != nil {
		node(d.root, false)
	}
	between(len(m.src))
}
