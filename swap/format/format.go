// Package format edits one named entry in a JSON, JSONC, TOML or YAML text and leaves every
// other byte unchanged.
//
// # Model
//
// A configuration is a tree of objects (TOML: tables). An entry is an object in it,
// identified by its container, which is the names of the objects around it, and its own
// name: container ["projects", "/srv/x", "mcpServers"], name "tmux". In YAML the container
// is one name, and may be a list: see [List]. [Parse] checks a text once and returns a
// [Doc]; [Doc.Lookup], [Doc.Names] and [Doc.Get] read it; [Doc.Set] and [Doc.Revert] return
// an [Edit] with the new text.
//
// An edit copies the surrounding style: indentation, newlines, one line or many, spacing,
// quoted or dotted keys, inline tables or headers. The result is parsed again before it is
// returned, and an error is returned instead of a text in which anything but the intended
// value would read differently.
//
// # Parsers
//
// Strict JSON is validated by encoding/json, JSON with comments by hujson, TOML by go-toml,
// and YAML by yaml.v3, whose positions are checked against the text. YAML that cannot be
// edited safely is readable, but Set and Revert refuse it. Ranges come from a small scanner
// of JSON, which builds no tree, and from go-toml's unstable parser. Fields of an entry that
// is strict JSON are replaced by sjson, which sees only that entry.
//
// If several members have the same name the last counts, as it does for the programs that
// own these files.
//
// The package does not know about files, clients or history. It is neither a formatter nor
// for streams.
package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is the language of a text.
type Kind int

const (
	// JSON is strict JSON. A leading UTF-8 byte order mark is kept.
	JSON Kind = iota
	// JSONComments is JSON with comments, but without trailing commas. A leading UTF-8 byte
	// order mark is kept.
	JSONComments
	// JSONC is JSON with comments and trailing commas. A leading byte order mark is kept.
	JSONC
	// TOML is TOML 1.0, with go-toml's support of 1.1. A leading byte order mark is kept.
	TOML
	// YAML is YAML 1.1 with the booleans of 1.2, one document. A leading UTF-8 byte order
	// mark is kept.
	YAML
)

var kindNames = []string{JSON: "JSON", JSONComments: "JSON with comments", JSONC: "JSONC", TOML: "TOML", YAML: "YAML"}

func (k Kind) String() string { return kindNames[k] }

// UnmarshalText sets k to the kind with this name.
func (k *Kind) UnmarshalText(name []byte) error {
	if *k = Kind(slices.Index(kindNames, string(name))); *k < 0 {
		return fmt.Errorf("no kind %q", name)
	}
	return nil
}

// Empty returns the shortest text that programs accept; "" if they accept an empty file.
func (k Kind) Empty() string {
	if k == TOML || k == YAML {
		return ""
	}
	return "{}\n"
}

// SyntaxError reports where a text is not valid for its [Kind]. Lines and columns count
// from 1, columns in characters.
type SyntaxError struct {
	Line, Column int
	Msg          string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// TypeError reports that a value on the path to an entry, or the entry, is not an object
// (TOML: not a table).
type TypeError struct {
	Path         []string // path of the value; empty for the root
	Want, Got    string   // such as "an object" and "a string"
	Line, Column int      // position of the value, from 1
}

func (e *TypeError) Error() string {
	what := "the root"
	if len(e.Path) > 0 {
		what = fmt.Sprintf("%q", strings.Join(e.Path, "."))
	}
	return fmt.Sprintf("line %d, column %d: %s is not %s but %s", e.Line, e.Column, what, e.Want, e.Got)
}

func typeError(src []byte, at int, path []string, want string, got any) *TypeError {
	line, column := position(src, at)
	return &TypeError{slices.Clone(path), want, typeName(got), line, column}
}

// Object is an object to be written, in the order of its fields. Its values are string,
// bool, int, int64, json.Number, []string, []any, Object, map[string]any and nil (which TOML
// does not support).
type Object []Field

// Field is a member of an [Object].
type Field struct {
	Name  string
	Value any
}

// Entry is the result of [Doc.Lookup].
type Entry struct {
	Found bool
	// Value is the entry as data: string, bool, json.Number, []any, map[string]any, nil,
	// and [Literal]. It marshals to JSON.
	Value map[string]any
	// Start and End are the range of the value in the text. For a TOML entry in several
	// pieces, they enclose all of them.
	Start, End int
}

// Literal is a TOML value that JSON has no type for: a date, a time, an infinity or nan,
// as TOML spells it.
type Literal string

// Change describes what an entry should become.
type Change struct {
	// New is the whole value, written if there is no entry.
	New Object
	// Set are the fields to set in an existing entry. A value that is an Object is merged:
	// its members are set, and other members of the field stay. A field that already has
	// the value keeps its spelling.
	Set Object
	// Remove are names of fields to remove from an existing entry.
	Remove []string
	// Parent is what the container's parent is created with if there is none. The field
	// named like the container's last key marks the container's position; the value of that
	// field is ignored. JSON only.
	Parent Object
	// Seed are the first members of the root of an empty text. JSON only.
	Seed Object
}

// Edit is a changed text.
type Edit struct {
	// Out is the whole new text.
	Out []byte
	// Value is the entry's value in Out; nil if the entry is gone.
	Value map[string]any
	// Undo is what [Doc.Revert] needs to undo this edit, even in a text that has changed
	// elsewhere. For an edit made by Revert, it describes the created nodes that had to be
	// left: see [Undo.Inherit].
	Undo Undo

	changed bool
	after   *Doc
}

// Changed reports whether Out differs from the text that was edited.
func (e Edit) Changed() bool { return e.changed }

// Doc returns Out as it was parsed to prove the edit; nil if it was not.
func (e Edit) Doc() *Doc { return e.after }

// Undo describes what was in the place of an entry before an edit. It marshals to JSON. The
// zero Undo means that there was no entry, and nothing was created for it.
type Undo struct {
	// Existed is set if there was an entry.
	Existed bool `json:"existed,omitempty"`
	// Before is that entry's text; in TOML, a separate text that contains only the entry.
	Before string `json:"before,omitempty"`
	// Made are the nodes created around a new entry, from the outside in: for each, its
	// members other than the path to the entry. The first is the node at container[:From].
	Made []map[string]any `json:"made,omitempty"`
	From int              `json:"from,omitempty"`
	// Holder is the text of the null, or of the object without members, in which the new
	// entry or its outermost new node was put.
	Holder string `json:"holder,omitempty"`
	// Seeded is set if the text was empty; Text is that text.
	Seeded bool   `json:"seeded,omitempty"`
	Text   string `json:"text,omitempty"`
	// CRLF is set if lines ended in CRLF there: see [Doc.CRLF]. If that has changed since,
	// [Doc.Revert] converts these texts to the line ends of the text that they go into.
	CRLF bool `json:"crlf,omitempty"`
}

// Inherit adds to the Undo of an entry the nodes that [Doc.Revert] had to leave in the same
// text because this entry was still in them: the Undo that Revert returned, and the
// container passed to it. Without it, nodes would be left over when edits are undone oldest
// first.
func (u Undo) Inherit(container []string, left Undo, leftContainer []string) Undo {
	if u.Existed || u.Seeded {
		return u
	}
	from := len(container) + 1 - len(u.Made)
	switch n := from - left.From; {
	case len(left.Made) == 0: // TOML, or nothing
		u.Seeded, u.Text = left.Seeded, left.Text
	case n > 0 && n <= len(left.Made) && slices.Equal(container[:from-1], leftContainer[:min(from-1, len(leftContainer))]):
		u.Made = append(slices.Clone(left.Made[:n]), u.Made...)
		u.From, u.Holder, u.Seeded, u.Text = left.From, left.Holder, left.Seeded, left.Text
	}
	return u
}

// Doc is a text known to be valid. It must not be used by several goroutines at once.
type Doc struct {
	src  []byte
	body int // where the text starts, after a byte order mark
	tree tree
}

// tree is a text of one language.
type tree interface {
	lookup(container []string, name string) (Entry, error)
	names(container []string) ([]string, error)
	get(path []string) (any, bool)
	set(path []string, c Change) (Edit, error)
	revert(path []string, u Undo) (Edit, error)
}

// BOM is a UTF-8 byte order mark.
const BOM = "\ufeff"

// Parse checks src, which must not be modified while the Doc is in use. Its error is a
// [*SyntaxError], or a [*TypeError] if the root of a JSON text is not an object. A text
// that is empty, or contains only space or comments, is valid.
func Parse(kind Kind, src []byte) (*Doc, error) {
	if bytes.HasPrefix(src, []byte{0xff, 0xfe}) || bytes.HasPrefix(src, []byte{0xfe, 0xff}) {
		return nil, &SyntaxError{1, 1, "the text is UTF-16, not UTF-8"}
	}
	if !utf8.Valid(src) {
		i := 0
		for i < len(src) {
			r, n := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			i += n
		}
		return nil, syntaxError(src, i, "invalid UTF-8")
	}
	d := &Doc{src: src}
	if bytes.HasPrefix(src, []byte(BOM)) {
		d.body = len(BOM)
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return nil, syntaxError(src, i, "a NUL byte")
	}
	var err error
	switch kind {
	case TOML:
		d.tree, err = parseTOML(src, d.body)
	case YAML:
		d.tree, err = parseYAML(src, d.body)
	default:
		d.tree, err = parseJSON(kind, src, d.body)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Lookup finds the entry name in container. Its error is a [*TypeError].
func (d *Doc) Lookup(container []string, name string) (Entry, error) {
	return d.tree.lookup(container, name)
}

// Names returns the names of the container's members in text order, each once. A container
// that is absent or null has none. The error is a [*TypeError].
func (d *Doc) Names(container []string) ([]string, error) {
	return d.tree.names(container)
}

// Get returns the value at path as data (see [Entry]), and whether there is one.
func (d *Doc) Get(path ...string) (any, bool) {
	return d.tree.get(path)
}

// Set changes or creates the entry name in container, creating missing parts of container.
// Its error is a [*TypeError], or says what cannot be written. The Doc is not modified.
func (d *Doc) Set(container []string, name string, c Change) (Edit, error) {
	path := join(container, name)
	for _, v := range []any{path, c.New, c.Set, c.Parent, c.Seed} {
		if err := checkValue(v); err != nil {
			return Edit{}, err
		}
	}
	e, err := d.tree.set(path, c)
	e.Undo.CRLF = d.CRLF(container, name)
	return e, err
}

// Revert undoes the edit that returned u, in a text that may have changed since. An entry
// that was replaced gets its old text; one that was added is removed, together with the
// nodes and the seed created for it, unless they now contain something else. If the entry
// is already gone, an added one needs no change, and a replaced one is created again.
// Revert does not check whether the entry is still what the edit made of it: see [Equal].
// With a zero Undo it removes the entry.
func (d *Doc) Revert(container []string, name string, u Undo) (Edit, error) {
	if crlf := d.CRLF(container, name); crlf != u.CRLF {
		u.CRLF = crlf
		for _, text := range []*string{&u.Before, &u.Holder, &u.Text} {
			*text = string(WithCRLF([]byte(*text), crlf))
		}
	}
	path := join(container, name)
	if n := len(u.Made); n > 0 && (u.From+n != len(path) || u.From < 0 || u.From == 0 && !u.Seeded) {
		return Edit{}, fmt.Errorf("the record of the edit does not fit its path")
	}
	return d.tree.revert(path, u)
}

// CRLF reports whether the line before an entry ends in CRLF or, if the entry is on the
// first line or missing, whether the first line outside it does.
func (d *Doc) CRLF(container []string, name string) bool {
	text := d.src
	if e, err := d.Lookup(container, name); err == nil && e.Found {
		text = outside(d.src, e.Start, e.End)
	}
	return newlineOf(text) == "\r\n"
}

// WithCRLF returns a text with every line ending in CRLF, or in LF if crlf is false.
func WithCRLF(text []byte, crlf bool) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if crlf {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return text
}

func join(container []string, name string) []string {
	return append(slices.Clone(container), name)
}

// errProof is for edits that do not read as they should. It should never occur.
var errProof = errors.New("the edited text would not read as it should; nothing was changed (please report this)")

// splice replaces [start, end) with text.
type splice struct {
	start, end int
	text       string
}

func applied(text []byte, s splice) []byte {
	return slices.Concat(text[:s.start], []byte(s.text), text[s.end:])
}

// newEdit returns an edit of a text to another one, in which the entry has this value. after is
// the new text, parsed.
func newEdit(was, out []byte, value any, after *Doc) Edit {
	entry, _ := value.(map[string]any)
	return Edit{Out: out, Value: entry, changed: !bytes.Equal(was, out), after: after}
}

// proof returns an error unless the entry at path has the value want in after, or has gone
// if that is nil, and everything else in the data is as it was.
func proof(was, is map[string]any, after tree, path []string, want any) error {
	n := len(path) - 1
	e, err := after.lookup(path[:n], path[n])
	if err != nil || e.Found != (want != nil) || e.Found && !same(any(e.Value), want) {
		return fmt.Errorf("the new value: %w", errProof)
	}
	if !same(withValue(was, path, true), withValue(is, path, true)) {
		return fmt.Errorf("beside the entry: %w", errProof)
	}
	return nil
}

// checkMerge refuses to merge fields that are objects into values at path that are not.
func checkMerge(d tree, path []string, fields Object) error {
	for _, f := range fields {
		sub, isObject := f.Value.(Object)
		if v, ok := d.get(join(path, f.Name)); !isObject || !ok || v == nil {
			continue
		}
		if _, err := d.lookup(path, f.Name); err != nil {
			return err
		}
		if err := checkMerge(d, join(path, f.Name), sub); err != nil {
			return err
		}
	}
	return nil
}

// syntaxError returns an error with the position of offset.
func syntaxError(src []byte, offset int, msg string) *SyntaxError {
	line, column := position(src, offset)
	return &SyntaxError{line, column, msg}
}

// byteOffset returns the offset of a line and column of src[body:], from 1; columns count bytes.
func byteOffset(src []byte, body, line, column int) int {
	offset := body
	for range line - 1 {
		offset = nextLine(src, offset)
	}
	return offset + column - 1
}

// position returns the line and column of an offset. A byte order mark takes no column.
func position(src []byte, offset int) (line, column int) {
	head := bytes.TrimPrefix(src[:min(max(offset, 0), len(src))], []byte(BOM))
	start := bytes.LastIndexByte(head, '\n') + 1
	return 1 + bytes.Count(head, []byte("\n")), 1 + utf8.RuneCount(head[start:])
}

// outside returns text beginning with the newline that ends the line before src[start:end],
// or what follows that range.
func outside(src []byte, start, end int) []byte {
	if i := bytes.LastIndexByte(src[:start], '\n'); i >= 0 {
		return src[max(i-1, 0):]
	}
	return src[end:]
}

// newlineOf returns the newline that a text uses: that of its first line, or "\n".
func newlineOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
