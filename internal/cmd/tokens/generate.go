package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// A row is one of the Go types made from the table.
type row struct {
	scope string
	name  string
	doc   string
	// ref is the handle type the row embeds, id the token that fills it.
	ref, id string
	// parents are tokens of enclosing scopes that the row carries too.
	parents []string
}

var rows = []row{
	{scope: "server", name: "ServerInfo",
		doc: "ServerInfo is the state of a tmux server when it was asked."},
	{scope: "session", name: "Session", ref: "SessionRef", id: "session_id",
		doc: "Session is a session as it was when tmux was asked: a handle on it, and every token of its scope."},
	{scope: "window", name: "Window", ref: "WindowRef", id: "window_id", parents: []string{"session_id"},
		doc: "Window is a window of a session as it was when tmux was asked: a handle on it, and every token of its scope. " +
			"A window that is linked to several sessions has a row, an index and flags in each of them."},
	{scope: "pane", name: "Pane", ref: "PaneRef", id: "pane_id", parents: []string{"window_id", "session_id"},
		doc: "Pane is a pane as it was when tmux was asked: a handle on it, and every token of its scope."},
	{scope: "client", name: "Client", ref: "ClientRef", id: "client_name",
		doc: "Client is a client that is attached to a session, as it was when tmux was asked: a handle on it, and every token of its scope."},
	{scope: "buffer", name: "Buffer", ref: "BufferRef", id: "buffer_name",
		doc: "Buffer is a paste buffer as it was when tmux was asked: a handle on it, and the tokens of its scope but buffer_full, " +
			"which is the whole content in the middle of the row, up to the first NUL byte."},
}

// initialisms are the words of tokens that Go spells in capitals.
var initialisms = map[string]bool{"id": true, "pid": true, "sgr": true, "tty": true, "uid": true, "utf8": true}

const header = `// Code generated from fixtures/tokens.json by go generate; DO NOT EDIT.

package tmux

import "time"

`

// generate returns the Go source of the row types and of the variable tokenTable, formatted.
//
// A field is named after its token, without the scope in front and without _flag at the end, in
// Go's spelling: pane_dead is Dead, window_zoomed_flag is Zoomed, cursor_x is CursorX. Where
// dropping _flag would give two fields one name it stays: window_activity is Activity and
// window_activity_flag ActivityFlag. The table can give another name outright.
//
// A field is plain if every tmux from 3.2 on has its token and always a value for it; otherwise it
// is a pointer, nil for absent. Lists are nil for absent and empty for empty.
func generate(table []token) ([]byte, error) {
	byName := make(map[string]token, len(table))
	for _, t := range table {
		byName[t.Name] = t
	}
	var b bytes.Buffer
	b.WriteString(header)
	for _, r := range rows {
		if err := r.write(&b, table, byName); err != nil {
			return nil, fmt.Errorf("row type %s: %w", r.name, err)
		}
	}
	writeTable(&b, table)
	src, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("generated source: %w", err)
	}
	return src, nil
}

func (r row) write(b *bytes.Buffer, table []token, byName map[string]token) error {
	var fields []token
	for _, name := range r.parents {
		t, ok := byName[name]
		if !ok {
			return fmt.Errorf("the table lacks %s", name)
		}
		t.Field = goName(name)
		fields = append(fields, t)
	}
	for _, t := range table {
		if t.Scope == r.scope && t.Name != r.id && (t.Row == nil || *t.Row) {
			fields = append(fields, t)
		}
	}
	names, err := r.fieldNames(fields)
	if err != nil {
		return err
	}

	writeComment(b, "", r.doc)
	fmt.Fprintf(b, "type %s struct {\n", r.name)
	if r.ref != "" {
		if _, ok := byName[r.id]; !ok {
			return fmt.Errorf("the table lacks %s", r.id)
		}
		fmt.Fprintf(b, "\t%s `tmux:%q`\n\n", r.ref, r.id)
	}
	for i, t := range fields {
		doc, tag := t.Doc, t.Name
		if t.Since != oldest {
			doc += " Since tmux " + t.Since + "."
			tag += ",since=" + t.Since
		}
		if t.Until != "" {
			doc += " Last in tmux " + t.Until + "."
			tag += ",until=" + t.Until
		}
		writeComment(b, "\t", doc)
		fmt.Fprintf(b, "\t%s %s `json:%q tmux:%q`\n", names[i], t.fieldType(), t.Name, tag)
	}
	b.WriteString("}\n\n")
	return nil
}

// fieldNames names the fields, which are in the order they will have.
func (r row) fieldNames(fields []token) ([]string, error) {
	without := func(t token, suffix string) string {
		if t.Field != "" {
			return t.Field
		}
		return goName(strings.TrimSuffix(strings.TrimPrefix(t.Name, r.scope+"_"), suffix))
	}
	wanted := make(map[string]int)
	for _, t := range fields {
		wanted[without(t, "_flag")]++
	}
	names := make([]string, len(fields))
	taken := map[string]string{r.ref: r.id}
	for i, t := range fields {
		names[i] = without(t, "_flag")
		if wanted[names[i]] > 1 {
			names[i] = without(t, "")
		}
		if other, ok := taken[names[i]]; ok {
			return nil, fmt.Errorf("%s and %s would both be the field %s", other, t.Name, names[i])
		}
		taken[names[i]] = t.Name
	}
	return names, nil
}

func (t token) fieldType() string {
	typ := goTypes[t.Type]
	optional := t.Since != oldest || t.Until != "" || t.Nullable
	if optional && !strings.HasPrefix(typ, "[]") {
		return "*" + typ
	}
	return typ
}

func goName(token string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(token, "_") {
		switch {
		case initialisms[word]:
			b.WriteString(strings.ToUpper(word))
		case word != "":
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func writeComment(b *bytes.Buffer, indent, text string) {
	const width = 80
	line := indent + "//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = indent + "//"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

func writeTable(b *bytes.Buffer, table []token) {
	b.WriteString("// tokenTable is every token of tmux's own table, in ascending order of names.\n")
	b.WriteString("var tokenTable = []Token{\n")
	for _, t := range table {
		fmt.Fprintf(b, "\t{Name: %q, Scope: %q, Type: %q", t.Name, t.Scope, goTypes[t.Type])
		if t.Since != oldest {
			fmt.Fprintf(b, ", Since: %s", version(t.Since))
		}
		if t.Until != "" {
			fmt.Fprintf(b, ", Until: %s", version(t.Until))
		}
		if t.Nullable {
			b.WriteString(", Nullable: true")
		}
		if t.Scoped {
			b.WriteString(", Scoped: true")
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
}

// version spells a release, which parse has checked, as a value of type tmux.Version.
func version(release string) string {
	major, minor, _ := strings.Cut(release, ".")
	return fmt.Sprintf("Version{Major: %s, Minor: %s}", major, minor)
}
