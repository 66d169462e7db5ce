package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonDoc is a text of one of the JSON kinds.
type jsonDoc struct {
	kind  Kind
	src   []byte
	body  int  // where the text starts, after a byte order mark
	empty bool // the text contains no value, only space or comments
	root  member
	// objects by offset, as requested so far
	objects map[int]object
}

// treeLimit is the number of bytes above which skipObject, not hujson, walks strict JSON.
var treeLimit = 1 << 20

// maxDepth is how deep values may be nested, the same as in encoding/json.
const maxDepth = 10000

func parseJSON(kind Kind, src []byte, body int) (*jsonDoc, error) {
	d := &jsonDoc{kind: kind, src: src, body: body, objects: map[int]object{}}
	text := src[body:]
	if kind == JSON {
		if d.empty = isBlank(text); d.empty {
			return d, nil
		}
		if err := checkStrict(src, body); err != nil {
			return nil, err
		}
		if len(text) > treeLimit {
			d.root.start = skipSpace(src, body)
			d.root.end = body + len(bytes.TrimRight(text, " \t\r\n"))
			return d, d.checkRoot()
		}
	} else {
		blank, err := checkComments(src, body)
		if err != nil {
			return nil, err
		}
		if d.empty = blank; blank {
			return d, nil
		}
	}
	v, err := parseTree(src, body)
	if err != nil {
		return nil, err
	}
	if kind == JSONComments {
		if i := trailingComma(v); i >= 0 {
			return nil, syntaxError(src, body+i, "a trailing comma, which the programs that read this file do not accept")
		}
	}
	d.root = member{start: body + v.StartOffset, end: body + v.EndOffset, node: v}
	return d, d.checkRoot()
}

// checkStrict validates the text with encoding/json.
func checkStrict(src []byte, body int) error {
	if json.Valid(src[body:]) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(src[body:], &raw)
	var syntax *json.SyntaxError
	ok := errors.As(err, &syntax)
	if !ok {
		return syntaxError(src, body, fmt.Sprint(err))
	}
	return syntaxError(src, body+max(int(syntax.Offset)-1, 0), syntax.Error())
}

// checkComments refuses text that hujson would not survive, or would read differently from
// JavaScript programs, and reports whether the text is only space and comments.
func checkComments(src []byte, body int) (blank bool, err error) {
	blank = true
	depth := 0
	for i := body; i < len(src); {
		switch c := src[i]; {
		case isLineComment(src[i:], false):
			end := lineEnd(src, i)
			if n := bytes.IndexAny(src[i:end], "\r\u2028\u2029"); n >= 0 {
				return false, syntaxError(src, i+n, "a carriage return or line separator in a line comment, which some programs take for its end")
			}
			i = end
			continue
		case bytes.HasPrefix(src[i:], []byte("/*")):
			n := bytes.Index(src[i+2:], []byte("*/"))
			if n < 0 {
				return false, syntaxError(src, i, "a comment without end")
			}
			i += 2 + n + 2
			continue
		case c == '"':
			blank = false
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case c == '{' || c == '[':
			blank = false
			if depth++; depth > maxDepth {
				return false, syntaxError(src, i, fmt.Sprintf("nested deeper than %d levels", maxDepth))
			}
		case c == '}' || c == ']':
			blank = false
			depth--
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			blank = false
		}
		i++
	}
	return blank, nil
}

// parseTree is hujson.Parse with positions in its errors, and support for a final line
// comment without a newline.
func parseTree(src []byte, body int) (*hujson.Value, error) {
	text := src[body:]
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text[:n:n], '\n')
	}
	v, err := hujson.Parse(text)
	if err == nil {
		return &v, nil
	}
	var line, column int
	msg := err.Error()
	if _, scanErr := fmt.Sscanf(msg, "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return nil, syntaxError(src, body, msg)
	}
	offset := 0
	for range line - 1 {
		offset += bytes.IndexByte(text[offset:], '\n') + 1
	}
	msg = strings.TrimPrefix(msg, fmt.Sprintf("hujson: line %d, column %d: ", line, column))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		msg = "unexpected end of the text"
	}
	if len(msg) > 200 { // it quotes the whole literal
		msg = "invalid literal"
	}
	return nil, syntaxError(src, body+offset+column-1, msg)
}

// trailingComma returns the offset of a trailing comma in the tree; -1 if there is none.
func trailingComma(v *hujson.Value) int {
	var inside []*hujson.Value
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			inside = append(inside, &c.Members[i].Value)
		}
	case *hujson.Array:
		for i := range c.Elements {
			inside = append(inside, &c.Elements[i])
		}
	}
	for _, x := range inside {
		if at := trailingComma(x); at >= 0 {
			return at
		}
	}
	if n := len(inside); n > 0 && inside[n-1].AfterExtra != nil {
		return inside[n-1].EndOffset + len(inside[n-1].AfterExtra)
	}
	return -1
}

// treeObject lists the members of an object of a tree whose text starts at offset base.
func treeObject(v *hujson.Value, base int) object {
	obj := v.Value.(*hujson.Object)
	o := object{start: base + v.StartOffset, end: base + v.EndOffset, members: make([]member, len(obj.Members))}
	for i := range obj.Members {
		n, x := &obj.Members[i].Name, &obj.Members[i].Value
		m := member{
			name:      unquote(n.Value.(hujson.Literal)),
			nameStart: base + n.StartOffset, key: base + n.EndOffset,
			start: base + x.StartOffset, end: base + x.EndOffset,
			comma: -1, node: x,
		}
		// If there is no trailing comma, hujson gives the space before a closing brace to
		// the object, and a nil AfterExtra to the last value.
		if i < len(obj.Members)-1 || x.AfterExtra != nil {
			m.comma = m.end + len(x.AfterExtra)
		}
		o.members[i] = m
	}
	return o
}

// unquote decodes a JSON string. A lone surrogate becomes U+FFFD.
func unquote(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var s string
	_ = json.Unmarshal(text, &s) // text was validated
	return s
}

// decode decodes a valid JSON value, with comments, as data.
func decode(text []byte) any {
	if !json.Valid(text) {
		// Standardize modifies its argument.
		if std, err := hujson.Standardize(bytes.Clone(text)); err == nil {
			text = std
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v) // text was validated
	return v
}

// open returns the members of a value that is an object.
func (d *jsonDoc) open(m member) (object, bool) {
	if d.src[m.start] != '{' {
		return object{}, false
	}
	o, ok := d.objects[m.start]
	if !ok {
		if m.node != nil {
			o = treeObject(m.node, d.body)
		} else {
			o = skipObject(d.src, m.start)
		}
		d.objects[m.start] = o
	}
	return o, true
}

func (d *jsonDoc) checkRoot() error {
	if d.src[d.root.start] != '{' {
		return d.typeError(nil, d.root)
	}
	return nil
}

func (d *jsonDoc) typeError(path []string, m member) *TypeError {
	line, column := position(d.src, m.start)
	got := typeName(decode(d.src[m.start:m.end]))
	return &TypeError{Path: slices.Clone(path), Want: "an object", Got: got, Line: line, Column: column}
}

// way is how far a path exists in a text.
type way struct {
	levels []object // the objects from the root on
	// at is the member of levels[len(levels)-1] with the next name of the path, if found.
	at    member
	index int // index of at in its level
	found bool
}

// walk follows path down. It stops at the last name of the path, or at the first that is
// absent or null.
func (d *jsonDoc) walk(path []string) (way, error) {
	var w way
	if d.empty {
		return w, nil
	}
	m := d.root
	for i, name := range path {
		o, ok := d.open(m)
		if !ok {
			return w, d.typeError(path[:i], m)
		}
		w.levels = append(w.levels, o)
		w.index = o.last(name)
		if w.found = w.index >= 0; !w.found {
			return w, nil
		}
		if m = o.members[w.index]; i < len(path)-1 && d.src[m.start] == 'n' {
			w.at = m
			return w, nil
		}
	}
	w.at = m
	return w, nil
}

// complete reports whether the whole path exists.
func (w way) complete(path []string) bool { return w.found && len(w.levels) == len(path) }

func (d *jsonDoc) lookup(container []string, name string) (Entry, error) {
	path := join(container, name)
	w, err := d.walk(path)
	if err != nil || !w.complete(path) {
		return Entry{}, err
	}
	if d.src[w.at.start] != '{' {
		return Entry{}, d.typeError(path, w.at)
	}
	value, _ := decode(d.src[w.at.start:w.at.end]).(map[string]any)
	return Entry{Found: true, Value: value, Start: w.at.start, End: w.at.end}, nil
}

func (d *jsonDoc) names(container []string) ([]string, error) {
	m := d.root
	if len(container) > 0 {
		w, err := d.walk(container)
		if err != nil || !w.complete(container) {
			return nil, err
		}
		m = w.at
	} else if d.empty {
		return nil, nil
	}
	if d.src[m.start] == 'n' {
		return nil, nil
	}
	o, ok := d.open(m)
	if !ok {
		return nil, d.typeError(container, m)
	}
	var names []string
	seen := map[string]bool{}
	for _, m := range o.members {
		if !seen[m.name] {
			seen[m.name] = true
			names = append(names, m.name)
		}
	}
	return names, nil
}

func (d *jsonDoc) get(path []string) (any, bool) {
	if d.empty {
		return nil, false
	}
	if len(path) == 0 {
		return decode(d.src[d.root.start:d.root.end]), true
	}
	w, err := d.walk(path)
	if err != nil || !w.complete(path) {
		return nil, false
	}
	return decode(d.src[w.at.start:w.at.end]), true
}
