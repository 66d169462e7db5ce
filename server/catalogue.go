package server

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

//go:generate sh -c "go run ../cmd/tmux-mcp tools --all --markdown > ../docs/tools.md"

// Tools are the tools that this server offers, in the order of the catalogue,
// as a client sees them.
func (s *Server) Tools() []mcp.Tool {
	tools := []mcp.Tool{}
	for _, d := range s.offered() {
		tools = append(tools, d.offered(s.cfg))
	}
	return tools
}

// offered are the declarations of the tools that this server offers.
func (s *Server) offered() []decl {
	var offered []decl
	for _, name := range s.order {
		if d := s.decls[name]; s.refusal(d) == nil {
			offered = append(offered, d)
		}
	}
	return offered
}

// WriteTools writes the tools that this server offers, a line each.
func (s *Server) WriteTools(w io.Writer) error {
	for _, d := range s.offered() {
		first, _, _ := strings.Cut(d.desc, ". ")
		if _, err := fmt.Fprintf(w, "%-28s %-11s %s\n", d.name, d.kind.tier, strings.TrimSuffix(first, ".")); err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown writes the catalogue of the tools that this server offers.
func (s *Server) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Tools\n\nMade from the table of tools by `go generate ./server`; do not edit.\n")
	for _, set := range Toolsets[1:] {
		var body strings.Builder
		for _, d := range s.offered() {
			if d.set == set {
				d.markdown(&body)
			}
		}
		if body.Len() > 0 {
			fmt.Fprintf(&b, "\n## %s\n%s", strings.ToUpper(set[:1])+set[1:], body.String())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d decl) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", d.name, d.desc)
	facts := []string{"Tier " + string(d.kind.tier)}
	for _, f := range []struct {
		is   bool
		text string
	}{
		{d.core, "in `core`"}, {d.selfBounded, "waits"}, {d.kind.destructive, "may destroy"},
		{d.kind.idempotent, "idempotent"}, {d.kind.openWorld, "reaches a shell"},
	} {
		if f.is {
			facts = append(facts, f.text)
		}
	}
	fmt.Fprintf(b, "%s.\n", strings.Join(facts, ", "))
	if fields := fieldsOf(d.in); len(fields) > 0 {
		b.WriteString("\n| parameter | type | default | |\n|---|---|---|---|\n")
		for _, f := range fields {
			def := f.def
			if !f.optional {
				def = "required"
			}
			note := f.desc
			if f.enum != nil {
				note = strings.TrimSpace(strings.Join(f.enum, ", ") + " " + note)
			}
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.name, f.typeName(true), def, note)
		}
	}
	b.WriteString("\nAnswers with ")
	var names []string
	for _, f := range fieldsOf(d.out) {
		names = append(names, fmt.Sprintf("`%s` %s", f.name, f.typeName(false)))
	}
	b.WriteString(strings.Join(names, ", ") + ".\n")
}

// typeName is a property's type in words.
func (f field) typeName(input bool) string {
	w := schemaWriter{input: input}
	w.WriteByte('{')
	w.field(field{typ: f.typ, def: f.def})
	w.WriteByte('}')
	return typeWords(w.Bytes())
}

func typeWords(schema json.RawMessage) string {
	var s struct {
		Type  any
		AnyOf []json.RawMessage
		Items json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return "any"
	}
	var names []string
	for _, one := range s.AnyOf {
		names = append(names, typeWords(one))
	}
	switch t := s.Type.(type) {
	case string:
		names = []string{t}
	case []any:
		for _, n := range t {
			names = append(names, fmt.Sprint(n))
		}
	}
	if names == nil {
		return "any"
	}
	if names[0] == "array" {
		names[0] = "list of " + typeWords(s.Items)
	}
	return strings.Join(names, " or ")
}
