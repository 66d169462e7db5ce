package server

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/params"
)

//go:generate sh -c "go run ../cmd/tmux-mcp tools --all --markdown > ../docs/tools.md"

// Tools returns the tools that this server offers as a client sees them, in order.
func (s *Server) Tools() []mcp.Tool {
	tools := []mcp.Tool{}
	for _, d := range s.offered() {
		tools = append(tools, d.definition(s.cfg))
	}
	return tools
}

// offered returns the tools that this server lists.
func (s *Server) offered() (offered []*tool) {
	for _, name := range s.order {
		if d := s.tools[name]; !d.retired && s.refusal(d) == nil {
			offered = append(offered, d)
		}
	}
	return offered
}

// WriteTools writes one line for each tool that this server offers, saying what it is for.
func (s *Server) WriteTools(w io.Writer) error {
	for _, d := range s.offered() {
		first, _, _ := strings.Cut(d.desc, ". ")
		if _, err := fmt.Fprintf(w, "%-28s %-11s %s\n", d.name, d.kind.tier, strings.TrimSuffix(first, ".")); err != nil {
			return err
		}
	}
	return nil
}

// WriteTool writes what a tool that this server offers is for, takes and returns. It returns
// an error if there is no such tool.
func (s *Server) WriteTool(w io.Writer, name string) error {
	for _, d := range s.offered() {
		if d.name == name {
			var b strings.Builder
			d.markdown(&b)
			_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n### "))
			return err
		}
	}
	return unknownTool(name, s)
}

//go:embed catalogue.md
var catalogueIntro string

// rowNames are the kinds of rows that several tools return, in catalogue order.
var rowNames = []struct {
	name string
	typ  reflect.Type
}{
	{"session", reflect.TypeFor[sessionInfo]()}, {"window", reflect.TypeFor[windowInfo]()}, {"pane", reflect.TypeFor[paneInfo]()},
	{"client", reflect.TypeFor[clientInfo]()}, {"server", reflect.TypeFor[serverInfo]()},
}

// Parameters that are documented once for all tools.
var (
	targetParameters = []string{"pane_id", "window_id", "window_index", "session_id", "session_name", "socket_name"}
	listParameters   = []string{"filters", "fields", "limit", "offset"}
)

// WriteMarkdown writes the catalogue of the tools that this server offers.
func (s *Server) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(catalogueIntro)
	b.WriteString("\n## Contents\n\n")
	for _, set := range Toolsets()[1:] {
		var links []string
		for _, d := range s.offered() {
			if d.set == set {
				links = append(links, fmt.Sprintf("[%s](#%[1]s)", d.name))
			}
		}
		if links != nil {
			fmt.Fprintf(&b, "- **%s**: %s\n", set, strings.Join(links, ", "))
		}
	}
	b.WriteString("- [Resources](#resources)\n\n## Rows\n\nWhat several tools answer with:\n")
	for _, r := range rowNames {
		fmt.Fprintf(&b, "\n- a <a id=%q></a>**%s**: %s", r.name, r.name, properties(params.FieldsOf(r.typ)))
	}
	b.WriteString("\n")
	for _, set := range Toolsets()[1:] {
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
	b.WriteString("\n## Resources\n\n" + resourcesIntro + "\n\n| URI | |\n|---|---|\n")
	for _, r := range resources {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.uri, r.desc)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const resourcesIntro = "A client can read these, complete the names and ids in their URIs, and subscribe to them: with `resources/subscribe` or, from revision " +
	"2026-07-28 on, with `subscriptions/listen`. It is notified at once when a pane shows something else, four times a second while a pane prints without end, and " +
	"within one to four seconds of any other change. A resource must exist when a client subscribes to it, and is followed on when its pane or its tmux server " +
	"is gone and another takes its place. There can be 200 subscriptions. No tmux client is attached for them."

func (d *tool) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n%s.", d.name, d.desc, d.facts(d.kind))
	if d.more.tier != "" {
		fmt.Fprintf(b, " %s.", d.facts(d.more))
	}
	b.WriteString("\n")
	var own []params.Field
	var target, list []string
	for _, f := range params.FieldsOf(d.in) {
		switch {
		// The name of a new session does not name a target.
		case f.Optional && slices.Contains(targetParameters, f.Name) && params.Elem(f.Type) == f.Type:
			target = append(target, "`"+f.Name+"`")
		case slices.Contains(listParameters, f.Name) && isList(d.out):
			list = append(list, "`"+f.Name+"`")
		default:
			own = append(own, f)
		}
	}
	if target != nil {
		fmt.Fprintf(b, "\nTarget: %s.\n", strings.Join(target, ", "))
	}
	if list != nil {
		fmt.Fprintf(b, "\nList: %s.\n", strings.Join(list, ", "))
	}
	if own != nil {
		b.WriteString("\n| parameter | type | default | |\n|---|---|---|---|\n")
	}
	for _, f := range own {
		def := f.Default
		if !f.Optional {
			def = "required"
		}
		note := f.Desc
		if f.Enum != nil {
			note = strings.TrimSpace(strings.Join(f.Enum, ", ") + " " + note)
		}
		if t := params.Elem(f.Type); t.Name() == "" && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			note = strings.TrimSpace("each with " + parameters(params.FieldsOf(t.Elem())) + " " + note)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Name, typeWords(f.Schema(true)), def, note)
	}
	fmt.Fprintf(b, "\nReturns %s.\n", answerWords(d.out))
}

// facts describes a tool's tier and hints.
func (d *tool) facts(k kind) string {
	facts := []string{"Tier " + string(k.tier)}
	for _, f := range []struct {
		is   bool
		text string
	}{
		{d.core, "in `core`"}, {d.selfBounded, "waits"}, {k.destructive, "may destroy"},
		{k.idempotent, "idempotent"}, {k.openWorld, "runs programs"},
	} {
		if f.is {
			facts = append(facts, f.text)
		}
	}
	return strings.Join(facts, ", ")
}

// parameters returns the parameters of an item in a list.
func parameters(fields []params.Field) string {
	var names []string
	for _, f := range fields {
		name := "`" + f.Name + "`"
		if !f.Optional {
			name += " (required)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// answerWords describes what a tool returns.
func answerWords(t reflect.Type) string {
	if name, ok := rowName(t); ok {
		return name
	}
	if isList(t) {
		rows := t.Field(0).Type.Elem()
		if name, ok := rowName(rows); ok {
			return "a list, each row " + name
		}
		return "a list, each row with " + properties(params.FieldsOf(rows))
	}
	// A row with additional properties.
	if t.NumField() > 0 && t.Field(0).Anonymous {
		if name, ok := rowName(t.Field(0).Type); ok {
			return name + ", and " + properties(params.FieldsOf(t)[len(params.FieldsOf(t.Field(0).Type)):])
		}
	}
	return properties(params.FieldsOf(t))
}

func isList(t reflect.Type) bool { return strings.HasPrefix(t.Name(), "list[") }

func rowName(t reflect.Type) (string, bool) {
	for _, r := range rowNames {
		if r.typ == t {
			return fmt.Sprintf("a [%s](#%s)", r.name, r.name), true
		}
	}
	return "", false
}

// properties lists the properties of an answer and of the objects in it.
func properties(fields []params.Field) string {
	var all []string
	for _, f := range fields {
		text := "`" + f.Name + "` " + typeWords(f.Schema(false))
		if f.Enum != nil {
			text += " (" + strings.Join(f.Enum, ", ") + ")"
		} else if f.Desc != "" {
			text += " (" + f.Desc + ")"
		}
		if t := params.Elem(f.Type); t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			text += ", each with (" + properties(params.FieldsOf(t.Elem())) + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
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
