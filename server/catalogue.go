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

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/tool"
)

//go:generate sh -c "go run ../cmd/tmux-mcp tools --all --markdown > ../docs/tools.md.new && mv ../docs/tools.md.new ../docs/tools.md"

// Tools returns the tools that this server offers as a client sees them, in order.
func (s *Server) Tools() []mcp.Tool {
	offered := s.offered()
	tools := make([]mcp.Tool, 0, len(offered))
	for _, t := range offered {
		tools = append(tools, t.Definition(s.cfg.Tier, s.cfg.Results))
	}
	return tools
}

func (s *Server) offered() (offered []*tool.Tool) {
	for _, t := range s.order {
		if !t.Retired && refusal(s.cfg, t) == nil {
			offered = append(offered, t)
		}
	}
	return offered
}

// WriteTools writes a line for each tool that this server offers, saying what it is for. If width
// is not zero, lines are wrapped at so many columns.
func (s *Server) WriteTools(w io.Writer, width int) error {
	for _, t := range s.offered() {
		first, _, _ := strings.Cut(t.Desc, ". ")
		first = strings.TrimSuffix(first, ".")
		row, indent := fmt.Sprintf("%-28s %-11s ", t.Name, t.Kind.Tier), 41
		if width > 0 && width < indent+leastDescription {
			row, indent = fmt.Sprintf("%s %s\n    ", t.Name, t.Kind.Tier), 4
		}
		if _, err := fmt.Fprintln(w, row+terminal.Wrap(first, width, indent)); err != nil {
			return err
		}
	}
	return nil
}

// leastDescription is the room that a description needs beside the name of a tool.
const leastDescription = 30

// catalogue is the catalogue of all tools, with marks where the table of tools comes in.
//
//go:embed catalogue.txt
var catalogue string

// WriteTool writes what a tool that this server offers is for, takes and returns. If width is not
// zero, lines are wrapped at so many columns. It returns an error if there is no such tool.
func (s *Server) WriteTool(w io.Writer, name string, width int) error {
	for _, t := range s.offered() {
		if t.Name == name {
			_, err := io.WriteString(w, helpOf(t, width))
			return err
		}
	}
	return s.unknownTool(name)
}

// markdown matches links and the marks of code.
var markdown = lazy.Regexp("`|" + `\[([^\]]*)\]\(#[^)]*\)`)

// helpOf returns what pageOf says as plain text.
func helpOf(t *tool.Tool, width int) string {
	var b strings.Builder
	line := func(start, text string, indent int) {
		b.WriteString(start + terminal.Wrap(markdown().ReplaceAllString(text, "$1"), width, indent) + "\n")
	}
	p := parametersOf(t)
	line(t.Name+"\n\n", t.Desc, 0)
	line("\n", allMarks(t), 0)
	if p.target != nil {
		line("\n", "Target: "+strings.Join(p.target, ", "), 2)
	}
	if p.list != nil {
		line("\n", "List: "+strings.Join(p.list, ", "), 2)
	}
	if p.others != nil {
		line("\n", "Parameters:", 0)
	}
	for _, o := range p.others {
		text := o.name + " (" + o.kind
		if !o.required && o.def != "" {
			text += ", default " + o.def
		} else if o.required {
			text += ", required"
		}
		text += ")"
		if o.note != "" {
			text += ": " + o.note
		}
		line("  ", text, 6)
	}
	line("\n", "Returns "+answerWords(t.Out)+".", 2)
	return b.String()
}

// WriteMarkdown writes the catalogue of the tools that this server offers.
func (s *Server) WriteMarkdown(w io.Writer) error {
	var contents, rows, tools, resources strings.Builder
	for _, name := range tool.Toolsets()[1:] {
		var links []string
		pages := ""
		for _, t := range s.offered() {
			if t.Set == name {
				links = append(links, fmt.Sprintf("[%s](#%s)", t.Name, t.Name))
				pages += pageOf(t)
			}
		}
		if links != nil {
			fmt.Fprintf(&contents, "- **%s**: %s\n", name, strings.Join(links, ", "))
			fmt.Fprintf(&tools, "\n## %s%s\n%s", strings.ToUpper(name[:1]), name[1:], pages)
		}
	}
	for _, r := range rowNames {
		fmt.Fprintf(&rows, "\n- a <a id=\"%s\"></a>**%s**: %s", r.name, r.name, properties(params.FieldsOf(r.typ)))
	}
	for _, r := range s.resources {
		fmt.Fprintf(&resources, "| `%s` | %s |\n", r.uri, r.desc)
	}
	_, err := strings.NewReplacer("{{contents}}", contents.String(), "{{rows}}", rows.String(), "{{tools}}", tools.String(),
		"{{resources}}", resources.String()).WriteString(w, catalogue)
	return err
}

// rowNames are the kinds of rows that several tools return, in catalogue order.
var rowNames = []struct {
	name string
	typ  reflect.Type
}{
	{"session", reflect.TypeFor[rows.Session]()}, {"window", reflect.TypeFor[rows.Window]()}, {"pane", reflect.TypeFor[rows.Pane]()},
	{"client", reflect.TypeFor[rows.Client]()}, {"server", reflect.TypeFor[rows.Server]()},
}

// Parameters that are documented once for all tools.
var (
	targetParameters = []string{"pane_id", "window_id", "window_index", "session_id", "session_name", "socket_name"}
	listParameters   = []string{"filters", "fields", "limit", "offset"}
)

// documented are the parameters of a tool, in Markdown.
type documented struct {
	target, list []string // those of targetParameters and of listParameters
	others       []documentedParameter
}

type documentedParameter struct {
	name, kind, def, note string
	required              bool
}

func parametersOf(t *tool.Tool) (all documented) {
	for _, f := range params.FieldsOf(t.In) {
		name := "`" + f.Name + "`"
		switch {
		// The name of a new session does not name a target.
		case f.Optional && slices.Contains(targetParameters, f.Name) && params.Elem(f.Type) == f.Type:
			all.target = append(all.target, name)
			continue
		case slices.Contains(listParameters, f.Name) && reply.IsList(t.Out):
			all.list = append(all.list, name)
			continue
		}
		note := f.Desc
		if f.Enum != nil {
			note = strings.TrimSpace(strings.Join(f.Enum, ", ") + " " + note)
		}
		if t := params.Elem(f.Type); t.Name() == "" && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			note = strings.TrimSpace("each with " + parameters(params.FieldsOf(t.Elem())) + " " + note)
		}
		all.others = append(all.others, documentedParameter{name, typeWords(f.Schema(true)), f.Default, note, !f.Optional})
	}
	return all
}

// pageOf returns the section about a tool.
func pageOf(t *tool.Tool) string {
	p := parametersOf(t)
	page := fmt.Sprintf("\n### %s\n\n%s\n\n%s\n", t.Name, t.Desc, allMarks(t))
	if p.target != nil {
		page += "\nTarget: " + strings.Join(p.target, ", ") + ".\n"
	}
	if p.list != nil {
		page += "\nList: " + strings.Join(p.list, ", ") + ".\n"
	}
	if p.others != nil {
		page += "\n| parameter | type | default | |\n|---|---|---|---|\n"
	}
	for _, o := range p.others {
		if o.required {
			o.def = "required"
		}
		page += fmt.Sprintf("| %s | %s | %s | %s |\n", o.name, o.kind, o.def, o.note)
	}
	return page + "\nReturns " + answerWords(t.Out) + ".\n"
}

// allMarks describes the tier and hints of a tool, and of what it may do besides.
func allMarks(t *tool.Tool) string {
	marked := marks(t, t.Kind)
	if t.More.Tier != "" {
		marked += " " + marks(t, t.More)
	}
	return marked
}

// marks describes a tool's tier and hints.
func marks(t *tool.Tool, k tool.Kind) string {
	marks := []string{"Tier " + string(k.Tier)}
	for _, f := range []struct {
		is   bool
		text string
	}{
		{t.Core, "in `core`"}, {t.SelfBounded, "waits"}, {k.Destructive, "may destroy"},
		{k.Idempotent, "idempotent"}, {k.OpenWorld, "runs programs"},
	} {
		if f.is {
			marks = append(marks, f.text)
		}
	}
	return strings.Join(marks, ", ") + "."
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
	if reply.IsList(t) {
		row := t.Field(0).Type.Elem()
		if name, ok := rowName(row); ok {
			return "a list, each row " + name
		}
		return "a list, each row with " + properties(params.FieldsOf(row))
	}
	// A row with additional properties.
	if t.NumField() > 0 && t.Field(0).Anonymous {
		if name, ok := rowName(t.Field(0).Type); ok {
			return name + ", and " + properties(params.FieldsOf(t)[len(params.FieldsOf(t.Field(0).Type)):])
		}
	}
	return properties(params.FieldsOf(t))
}

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
