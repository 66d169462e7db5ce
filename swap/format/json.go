package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonDoc is a text of one of the JSON kinds.
type jsonDoc struct {
	kind       Kind
	src        []byte
	body       int  // where the text starts, after a byte order mark
	empty      bool // the text contains no value, only space or comments
	start, end int  // of the root
	// objects caches objects by their offset.
	objects map[int]object
}

// maxDepth is how deep values may be nested, the same as in encoding/json.
const maxDepth = 10000

func parseJSON(kind Kind, src []byte, body int) (*jsonDoc, error) {
	d := &jsonDoc{kind: kind, src: src, body: body, objects: map[int]object{}}
	check, comma := checkStrict, -1
	d.start = skipSpace(src, body)
	if kind != JSON {
		var err error
		if comma, err = checkTokens(src, body); err != nil {
			return nil, err
		}
		check = checkComments
		d.start = skipBlank(src, body, false)
	}
	if d.empty = d.start == len(src); d.empty {
		return d, nil
	}
	if err := check(src, body); err != nil {
		return nil, err
	}
	if kind == JSONComments && comma >= 0 {
		return nil, syntaxError(src, comma, trailingComma)
	}
	root, ok := d.open(d.start)
	if !ok {
		return nil, d.typeError(nil, d.start, skipValue(src, d.start))
	}
	d.end = root.end
	return d, nil
}

// checkStrict validates the text with encoding/json.
func checkStrict(src []byte, body int) error {
	if json.Valid(src[body:]) {
		return nil
	}
	err := json.Unmarshal(src[body:], new(json.RawMessage))
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	at := body + max(int(syntax.Offset)-1, 0)
	if end, _ := comment(src, at, false); end > at {
		return syntaxError(src, at, "a comment, which the programs that read this file do not accept")
	}
	before := bytes.TrimRight(src[body:min(at, len(src))], " \t\r\n")
	if at < len(src) && (src[at] == '}' || src[at] == ']') && bytes.HasSuffix(before, []byte(",")) {
		return syntaxError(src, at, trailingComma)
	}
	return syntaxError(src, at, syntax.Error())
}

const trailingComma = "a trailing comma, which the programs that read this file do not accept"

// checkTokens refuses text that hujson would not survive, or would read differently from
// the programs that own these files. It returns the offset of the first trailing comma, or -1.
func checkTokens(src []byte, body int) (comma int, err error) {
	comma = -1
	depth, last := 0, body // last is the end of the last token
	for i := body; i < len(src); i++ {
		if end, line := comment(src, i, false); end > i {
			if n := bytes.IndexAny(src[i:end], "\r\u2028\u2029"); line && n >= 0 {
				return -1, syntaxError(src, i+n, "a carriage return or line separator in a line comment, which some programs take for its end")
			}
			i = end - 1
			continue
		}
		switch src[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case '/':
			if bytes.HasPrefix(src[i:], []byte("/*")) {
				return -1, syntaxError(src, i, "a comment without end")
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return -1, syntaxError(src, i, fmt.Sprintf("nested deeper than %d levels", maxDepth))
			}
		case '}', ']':
			if depth--; comma < 0 && src[last] == ',' {
				comma = last
			}
		case '"':
			i = skipString(src, i) - 1
		}
		last = i
	}
	return comma, nil
}

// checkComments validates the text with hujson.
func checkComments(src []byte, body int) error {
	text := src[body:]
	if n := len(text); text[n-1] != '\n' { // hujson wants one after a line comment
		text = append(text[:n:n], '\n')
	}
	_, err := hujson.Parse(text)
	if err == nil {
		return nil
	}
	var line, column int
	msg := err.Error()
	if _, scanErr := fmt.Sscanf(msg, "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return syntaxError(src, body, msg)
	}
	msg = strings.TrimPrefix(msg, fmt.Sprintf("hujson: line %d, column %d: ", line, column))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		msg = "unexpected end of the text"
	}
	if len(msg) > 200 { // it quotes the whole literal
		msg = "invalid literal"
	}
	return syntaxError(src, byteOffset(src, body, line, column), msg)
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
func (d *jsonDoc) open(start int) (object, bool) {
	if d.src[start] != '{' {
		return object{}, false
	}
	o, ok := d.objects[start]
	if !ok {
		o = scanObject(d.src, start)
		d.objects[start] = o
	}
	return o, true
}

func (d *jsonDoc) typeError(path []string, start, end int) *TypeError {
	return typeError(d.src, start, path, "an object", decode(d.src[start:end]))
}

// way is how far a path exists in a text.
type way struct {
	levels []object // the objects from the root on
	// at is the member of levels[len(levels)-1] with the next name of the path, if found;
	// the root if the path is empty.
	at    member
	found bool
	whole bool // the whole path exists
}

// walk follows path down. It stops at the last name of the path, or at the first that is
// absent or null.
func (d *jsonDoc) walk(path []string) (w way, err error) {
	if d.empty {
		return w, nil
	}
	w.at, w.found = member{start: d.start, end: d.end}, true
	for i, name := range path {
		if i > 0 && d.src[w.at.start] == 'n' {
			return w, nil
		}
		o, ok := d.open(w.at.start)
		if !ok {
			return w, d.typeError(path[:i], w.at.start, w.at.end)
		}
		w.levels = append(w.levels, o)
		k := o.last(name)
		if w.found = k >= 0; !w.found {
			return w, nil
		}
		w.at = o.members[k]
	}
	w.whole = true
	return w, nil
}

func (d *jsonDoc) lookup(container []string, name string) (Entry, error) {
	path := join(container, name)
	w, err := d.walk(path)
	if err != nil || !w.whole {
		return Entry{}, err
	}
	value, ok := decode(d.src[w.at.start:w.at.end]).(map[string]any)
	if !ok {
		return Entry{}, d.typeError(path, w.at.start, w.at.end)
	}
	return Entry{Found: true, Value: value, Start: w.at.start, End: w.at.end}, nil
}

func (d *jsonDoc) names(container []string) (names []string, err error) {
	w, err := d.walk(container)
	if err != nil || !w.whole || d.src[w.at.start] == 'n' {
		return nil, err
	}
	o, ok := d.open(w.at.start)
	if !ok {
		return nil, d.typeError(container, w.at.start, w.at.end)
	}
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
	w, err := d.walk(path)
	if err != nil || !w.whole {
		return nil, false
	}
	return decode(d.src[w.at.start:w.at.end]), true
}
