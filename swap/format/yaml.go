package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"tmuxmcp/internal/lazy"
)

// List is the second name of a container that is a list: the first is that of the list,
// whose objects have their names in the member "name". YAML only.
const List = "\x00list"

// yamlDoc is a YAML text of one document.
type yamlDoc struct {
	src    []byte
	body   int                 // where the text starts, after a byte order mark
	starts []int               // of the lines
	root   *yaml.Node          // nil if the text is empty
	at     map[*yaml.Node]span // where each node is, without anchor and tag
	data   map[string]any
}

var (
	// yamlBreak matches line breaks that only some versions of YAML recognize.
	yamlBreak = lazy.Regexp("\r[^\n]|\r$|[\u0085\u2028\u2029]")
	yamlEnd   = lazy.Regexp(`(?m)^\.\.\.([ \t\r]|$)`)
	// yamlQuoted matches a string in quotes.
	yamlQuoted = lazy.Regexp(`^(?s:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')`)
	yamlLine   = lazy.Regexp(`line (\d+): (.*)`)
)

func parseYAML(src []byte, body int) (d *yamlDoc, err error) {
	d = &yamlDoc{src: src, body: body, at: map[*yaml.Node]span{}, data: map[string]any{}}
	if i := yamlBreak().FindIndex(src); i != nil {
		return nil, syntaxError(src, i[0], "a line break that only some programs take for one")
	}
	for i := body; i < len(src); i++ {
		if i == body || src[i-1] == '\n' {
			d.starts = append(d.starts, i)
		}
	}
	defer func() { // the library panics if its own bookkeeping fails
		if r := recover(); r != nil {
			d, err = nil, syntaxError(src, body, fmt.Sprint("not YAML: ", r))
		}
	}()
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(src[body:]))
	if err = dec.Decode(&doc); err == io.EOF {
		return d, nil
	}
	var v any
	if err == nil {
		err = doc.Decode(&v)
	}
	if err == nil {
		switch err = dec.Decode(&more); err {
		case nil:
			return nil, syntaxError(src, d.offset(more.Line, more.Column), "a second document")
		case io.EOF:
			err = nil
		}
	}
	if err == nil {
		if i := yamlEnd().FindIndex(src); i != nil {
			return nil, syntaxError(src, i[0], "a mark that ends the document")
		}
		d.root = doc.Content[0]
		_, err = d.place(d.root, body)
	}
	if err != nil {
		line, msg := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine().FindStringSubmatch(msg); m != nil {
			line, _ = strconv.Atoi(m[1])
			msg = m[2]
		}
		return nil, syntaxError(src, d.offset(line, 1), msg)
	}
	if at := d.at[d.root]; at.start == at.end && v == nil && d.root.Style == 0 && d.root.Anchor == "" {
		d.root = nil
		return d, nil
	}
	if d.root.Kind != yaml.MappingNode {
		return nil, d.typeError(nil, "a mapping", d.root)
	}
	d.data = data(v).(map[string]any)
	return d, nil
}

// value returns a node as data.
func (d *yamlDoc) value(n *yaml.Node) any {
	var v any
	_ = n.Decode(&v) // decoded already, with the whole text
	return data(v)
}

// offset returns the offset of a line and column, from 1; columns count characters.
func (d *yamlDoc) offset(line, column int) int {
	if line > len(d.starts) {
		return len(d.src)
	}
	i := d.starts[max(line, 1)-1]
	for range column - 1 {
		_, n := utf8.DecodeRune(d.src[i:])
		i += n
	}
	return i
}

var errPlace = errors.New("written in a way that cannot be read exactly")

// place finds where a node and the nodes in it are, none of them before prev.
func (d *yamlDoc) place(n *yaml.Node, prev int) (end int, err error) {
	start := d.text(n, prev)
	if start < prev {
		return 0, errPlace
	}
	end = start
	flow := n.Style&yaml.FlowStyle != 0 && start < len(d.src) && (d.src[start] == '{' || d.src[start] == '[')
	if flow {
		end++
	}
	for _, c := range n.Content {
		if end, err = d.place(c, end); err != nil {
			return 0, err
		}
	}
	switch {
	case n.Kind == yaml.AliasNode:
		end += 1 + len(n.Value)
	case flow:
		for end < len(d.src) && d.src[end] != '}' && d.src[end] != ']' {
			if end++; d.src[end-1] == '#' {
				end = lineEnd(d.src, end)
			}
		}
		end++
	case n.Kind == yaml.ScalarNode:
		if end, err = d.scalarEnd(n, end); err != nil {
			return 0, err
		}
	}
	if end > len(d.src) {
		return 0, errPlace
	}
	d.at[n] = span{start, end}
	return end, nil
}

// text returns where the text of a node begins, after its anchor and tag. A node without text is at
// prev.
func (d *yamlDoc) text(n *yaml.Node, prev int) int {
	i := d.offset(n.Line, n.Column)
	if n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "" && n.Anchor == "" {
		i = prev
	}
	for i < len(d.src) && (d.src[i] == '&' && n.Anchor != "" || d.src[i] == '!' && n.Style&yaml.TaggedStyle != 0) {
		rest := bytes.TrimLeftFunc(d.src[i:], func(r rune) bool { return r > ' ' })
		i = skipBlank(d.src, len(d.src)-len(rest), true)
	}
	return i
}

// scalarEnd returns where the text of a scalar that begins at start ends.
func (d *yamlDoc) scalarEnd(n *yaml.Node, start int) (end int, err error) {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		quoted := yamlQuoted().Find(d.src[start:])
		if quoted == nil {
			return 0, errPlace
		}
		return start + len(quoted), nil
	}
	// Without escapes, everything except the space is the value.
	end = start
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		end = lineEnd(d.src, end)
	}
	for _, word := range strings.FieldsFunc(n.Value, func(r rune) bool { return r <= ' ' }) {
		if end = skipSpace(d.src, end); !bytes.HasPrefix(d.src[end:], []byte(word)) {
			return 0, errPlace
		}
		end += len(word)
	}
	return end, nil
}

// A yamlPath is where the path of a container, which may be a [List], and the name of an entry lead.
type yamlPath struct {
	list  bool
	key   int        // index of the container's value in the root's content, or -1
	box   *yaml.Node // the container; nil if it is missing or empty
	k     int        // index of the entry in its content, or -1
	entry *yaml.Node // nil if there is none
}

func (d *yamlDoc) find(path []string) (p yamlPath, err error) {
	p = yamlPath{key: -1, k: -1}
	n := len(path) - 1
	if p.list = n == 2 && path[1] == List; n != 1 && !p.list {
		return p, fmt.Errorf("an entry in YAML is in one container, not in %d", n)
	}
	if d.root != nil {
		p.key = valueOf(d.root, path[0])
	}
	if p.key < 0 {
		return p, nil
	}
	box, kind, want := d.root.Content[p.key], yaml.MappingNode, "a mapping"
	if p.list {
		kind, want = yaml.SequenceNode, "a list"
	}
	switch {
	case box.Kind == yaml.AliasNode:
		box = box.Alias
	case d.value(box) == nil || box.Kind == kind && len(box.Content) == 0:
		return p, nil
	}
	if box.Kind != kind {
		return p, d.typeError(path[:1], want, box)
	}
	p.box, p.k = box, valueOf(box, path[n])
	if p.list {
		p.k = slices.IndexFunc(box.Content, func(item *yaml.Node) bool {
			i := valueOf(item, "name")
			return i >= 0 && item.Content[i].Value == path[n]
		})
	}
	if p.k >= 0 {
		p.entry = box.Content[p.k]
		if _, ok := d.value(p.entry).(map[string]any); !ok {
			return p, d.typeError([]string{path[0], path[n]}, "a mapping", p.entry)
		}
	}
	return p, nil
}

// valueOf returns the index of a mapping's value for a name, or -1.
func valueOf(n *yaml.Node, name string) int {
	for k := 0; n.Kind == yaml.MappingNode && k < len(n.Content); k += 2 {
		if c := n.Content[k]; c.Kind == yaml.ScalarNode && c.Value == name {
			return k + 1
		}
	}
	return -1
}

func (d *yamlDoc) typeError(path []string, want string, n *yaml.Node) *TypeError {
	return typeError(d.src, d.at[n].start, path, want, d.value(n))
}

func (d *yamlDoc) lookup(container []string, name string) (Entry, error) {
	p, err := d.find(join(container, name))
	if err != nil || p.entry == nil {
		return Entry{}, err
	}
	at := d.at[p.entry]
	return Entry{Found: true, Value: d.value(p.entry).(map[string]any), Start: at.start, End: at.end}, nil
}

func (d *yamlDoc) names(container []string) (names []string, err error) {
	p, err := d.find(join(container, List)) // which is not the name of a server
	if err != nil || p.box == nil {
		return nil, err
	}
	for k, c := range p.box.Content {
		if i := valueOf(c, "name"); p.list && i >= 0 {
			names = append(names, c.Content[i].Value)
		} else if !p.list && k%2 == 0 && c.Kind == yaml.ScalarNode && c.Tag != "!!merge" {
			names = append(names, c.Value)
		}
	}
	return names, nil
}

func (d *yamlDoc) get(path []string) (any, bool) { return dig(d.data, path) }
