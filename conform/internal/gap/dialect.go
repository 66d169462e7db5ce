package gap

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"tmuxmcp/conform/report"
	"tmuxmcp/fixtures"
	"tmuxmcp/internal/nearest"
)

// Dialect maps the names that scripts use for tools, parameters and results, which
// are libtmux-mcp's, to a server's own. The nil Dialect changes nothing.
type Dialect struct {
	Name string
	// Case is "camel" if parameters and fields without an entry are in camelCase.
	Case string
	// Tiers is the environment variable that selects the tools to offer, and TierValues
	// its value for each of the scripts' tiers.
	Tiers      string
	TierValues map[string]string `toml:"tier_values"`
	// Detect identifies the dialect. One with no tools is never detected.
	Detect struct {
		Tools []string
		// Parameters are names of parameters by tool.
		Parameters map[string]string
	}
	Tools map[string]dialectTool
}

// dialectTool is a tool by the scripts' name for it.
type dialectTool struct {
	// Name is the server's; empty for a tool that it does not have.
	Name *string
	// Parameters are the server's names by the scripts'; empty for what it does not
	// have.
	Parameters map[string]string
	// Fields are paths in the server's result by the scripts' paths, and Rows the same
	// for each element of those that are arrays.
	Fields map[string]string
	Rows   map[string]string
	// Values maps, by the scripts' parameter, a value as scripts write it to the server's:
	// { false = true } negates a boolean.
	Values map[string]map[string]any
	// Constants are parameters of the server's that are always sent.
	Constants map[string]any
}

// name returns the server's name for the tool that scripts call ours.
func (t dialectTool) name(ours string) string { return *cmp.Or(t.Name, &ours) }

// dialectKeys is what a dialect's file may have.
const dialectKeys = "name, case, tiers, tier_values, detect (tools, parameters) and tools (name, parameters, fields, rows, values, constants)"

// ParseDialect reads a dialect's file.
func ParseDialect(file string, text []byte) (*Dialect, error) {
	var d Dialect
	if err := report.DecodeTOML(file, text, &d, dialectKeys); err != nil {
		return nil, err
	}
	switch {
	case d.Name == "":
		return nil, fmt.Errorf("%s: a dialect without a name", file)
	case d.Case != "" && d.Case != "camel" && d.Case != "snake":
		return nil, fmt.Errorf("%s: case = %q: want camel or snake", file, d.Case)
	}
	return &d, nil
}

// Dialects returns the built-in dialects, which must not be modified.
func Dialects() ([]*Dialect, error) {
	all, err := builtIn()
	return slices.Clone(all), err
}

// builtIn reads them once: several commands name them in their help.
var builtIn = sync.OnceValues(func() (all []*Dialect, err error) {
	files, err := fs.Glob(fixtures.Dialects(), "*.toml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(fixtures.Dialects(), file)
		if err != nil {
			return nil, err
		}
		d, err := ParseDialect(file, text)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
})

// Offer is what a server offers: the names of its tools, each with the names of its parameters.
type Offer map[string][]string

// is reports whether the server that offers these tools speaks the dialect.
func (d *Dialect) is(o Offer) bool {
	is := len(d.Detect.Tools) > 0
	for _, tool := range d.Detect.Tools {
		_, offered := o[tool]
		is = is && offered
	}
	for tool, parameter := range d.Detect.Parameters {
		is = is && slices.Contains(o[tool], parameter)
	}
	return is
}

// Detect returns the built-in dialect that fits the server, or nil unless exactly one does.
func (o Offer) Detect() (*Dialect, error) {
	all, err := Dialects()
	if err != nil {
		return nil, err
	}
	fit := slices.DeleteFunc(all, func(d *Dialect) bool { return !d.is(o) })
	if len(fit) != 1 {
		return nil, nil
	}
	return fit[0], nil
}

// Unfit returns a warning if no dialect fits the server: in each of them it offers less than a
// quarter of the tools that scripts call. It returns "" if one fits.
func (o Offer) Unfit(tools map[string]*Tool) string {
	all, err := Dialects()
	if err != nil || len(tools) == 0 {
		return ""
	}
	var closest string
	var lacks []string
	for _, d := range all {
		missing := slices.DeleteFunc(slices.Sorted(maps.Keys(tools)), func(tool string) bool {
			name, _, err := d.Ask(tool, nil)
			_, offered := o[name]
			return err == nil && offered
		})
		if closest == "" || len(missing) < len(lacks) {
			closest, lacks = d.Name, missing
		}
	}
	if 4*(len(tools)-len(lacks)) >= len(tools) {
		return ""
	}
	return fmt.Sprintf("no dialect fits the server: for the closest, %s, it lacks %d of the %d tools that these scripts ask for, such as %s: "+
		"write one; mcp-conform dialect init --server COMMAND drafts it", closest, len(lacks), len(tools), lacks[0])
}

// NotOffered is the error of a call for which the server has no tool, or no
// parameter.
type NotOffered string

func (n NotOffered) Error() string { return string(n) }

// NoTool returns the error of a call for which the server has no tool.
func NoTool(name string) error { return NotOffered("the server offers no tool " + name) }

// Ask returns a call of a tool in the server's words. It returns a [NotOffered] if the server
// has no such tool or parameter.
func (d *Dialect) Ask(tool string, arguments map[string]any) (string, map[string]any, error) {
	if d == nil {
		return tool, arguments, nil
	}
	t := d.Tools[tool]
	name := t.name(tool)
	if name == "" {
		return "", nil, NotOffered("the server offers nothing for the tool " + tool)
	}
	theirs := map[string]any{}
	maps.Copy(theirs, t.Constants)
	for _, k := range slices.Sorted(maps.Keys(arguments)) {
		to, ok := t.Parameters[k]
		switch {
		case ok && to == "":
			return "", nil, NotOffered(fmt.Sprintf("the server's %s offers nothing for the parameter %s", name, k))
		case !ok && d.Case == "camel":
			to = camelCase(k)
		case !ok:
			to = k
		}
		theirs[to] = arguments[k]
		if v, ok := t.Values[k][fmt.Sprint(arguments[k])]; ok {
			theirs[to] = v
		}
	}
	return name, theirs, nil
}

// Names reports whether the dialect's file has the server's name of a parameter of a tool.
func (d *Dialect) Names(tool, parameter string) bool {
	if d == nil {
		return false
	}
	t := d.Tools[tool]
	_, constant := t.Constants[parameter]
	return constant || slices.Contains(slices.Collect(maps.Values(t.Parameters)), parameter)
}

// Answer returns a tool's result in the scripts' words. Fields that the dialect does not map
// stay.
func (d *Dialect) Answer(tool string, result json.RawMessage) (json.RawMessage, error) {
	if d == nil || result == nil {
		return result, nil
	}
	if d.Case == "camel" {
		var compact bytes.Buffer
		if err := json.Compact(&compact, result); err != nil {
			return nil, err
		}
		result = camelKey.ReplaceAllFunc(compact.Bytes(), snakeCase)
	}
	t := d.Tools[tool]
	result, err := rename(result, t.Fields)
	if err != nil || len(t.Rows) == 0 {
		return result, err
	}
	for _, field := range slices.Sorted(maps.Keys(t.Fields)) {
		array := gjson.GetBytes(result, field)
		if !array.IsArray() {
			continue
		}
		for i, row := range array.Array() {
			renamed, err := rename(json.RawMessage(row.Raw), t.Rows)
			if err == nil {
				result, err = sjson.SetRawBytes(result, fmt.Sprintf("%s.%d", field, i), renamed)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return result, nil
}

// rename copies values to the paths that scripts have for them. All are read before
// the first is written, in an order that is always the same.
func rename(object json.RawMessage, paths map[string]string) (json.RawMessage, error) {
	found := map[string]gjson.Result{}
	for ours, theirs := range paths {
		if v := gjson.GetBytes(object, theirs); v.Exists() {
			found[ours] = v
		}
	}
	var err error
	for _, ours := range slices.Sorted(maps.Keys(found)) {
		if object, err = sjson.SetRawBytes(object, ours, []byte(found[ours].Raw)); err != nil {
			return nil, err
		}
	}
	return object, nil
}

var (
	// camelKey is a name that is a field's, in compact JSON; a variable's, which is data, is
	// not. What looks like one within a text has its quotes escaped.
	camelKey  = regexp.MustCompile(`"[a-z]+[0-9]*([A-Z][a-z0-9]*)+":`)
	upperCase = regexp.MustCompile(`[A-Z]`)
	nextWord  = regexp.MustCompile(`_[a-z0-9]`)
)

func snakeCase(camel []byte) []byte {
	return upperCase.ReplaceAllFunc(camel, func(letter []byte) []byte { return append([]byte("_"), bytes.ToLower(letter)...) })
}

func camelCase(snake string) string {
	return nextWord.ReplaceAllStringFunc(snake, func(s string) string { return strings.ToUpper(s[1:]) })
}

// Tool is what the scripts of layer mcp use of a tool: names of parameters, and paths in its
// results, where "#" is each element of an array.
type Tool struct {
	Gaps               []int
	Parameters, Fields map[string]bool
}

var (
	toolCall = regexp.MustCompile(`^(.*)\bmcp (?:-wrong )?([a-z_]+)(?: '(.*)')?\s*$`)
	notTool  = regexp.MustCompile(`^([\[!].* )?(tmux|api|control|wait-until .*) `)
	// fieldPath is a path, or a name in a pattern for the output.
	fieldPath = regexp.MustCompile(`(?:\bjson|\bsave \S+) ('?[a-z]\S*)|"([a-z_]+)": `)
	element   = regexp.MustCompile(`\.([0-9]+|#\([^)]*\))`)
	queried   = regexp.MustCompile(`^(.*#)\(([a-z_]+).*$`)
)

// Tools returns the tools that the scripts of gaps call, by their names in scripts.
func Tools(gaps []*Gap) map[string]*Tool {
	tools := map[string]*Tool{}
	for _, g := range gaps {
		t := &Tool{Fields: map[string]bool{}} // whose result is the last output
		for line := range strings.Lines(string(g.Section(report.MCPLayer))) {
			if m := toolCall.FindStringSubmatch(line); m != nil {
				if t = tools[m[2]]; t == nil {
					t = &Tool{Parameters: map[string]bool{}, Fields: map[string]bool{}}
				}
				tools[m[2]], line = t, m[1]
				t.Gaps = slices.Compact(append(t.Gaps, g.Number))
				for name := range gjson.Parse(m[3]).Map() {
					t.Parameters[name] = true
				}
			} else if notTool.MatchString(line) {
				t = &Tool{Fields: map[string]bool{}}
			}
			for _, m := range fieldPath.FindAllStringSubmatch(line, -1) {
				path := strings.ReplaceAll(m[1]+m[2], "'", "")
				t.Fields[element.ReplaceAllString(path, ".#")] = true
				if queried.MatchString(path) {
					t.Fields[queried.ReplaceAllString(path, "$1.$2")] = true
				}
			}
		}
	}
	return tools
}

// Misnamed returns a line for each name in the dialect that neither scripts nor the server
// have.
func (d *Dialect) Misnamed(tools map[string]*Tool, o Offer) (found []string) {
	check := func(of, what, name string, names []string) {
		if !slices.Contains(names, name) {
			found = append(found, fmt.Sprintf("dialect %s: tools.%s: %s %s%s", d.Name, of, what, name, nearest.Meant(name, names)))
		}
	}
	for _, of := range slices.Sorted(maps.Keys(d.Tools)) {
		t := d.Tools[of]
		theirs := t.name(of)
		check(of, "no script uses a tool", of, slices.Sorted(maps.Keys(tools)))
		if theirs != "" {
			check(of, "the server has no tool", theirs, slices.Sorted(maps.Keys(o)))
		}
		for _, p := range slices.Sorted(maps.Keys(t.Parameters)) {
			if tools[of] != nil {
				check(of, "no script uses a parameter", p, slices.Sorted(maps.Keys(tools[of].Parameters)))
			}
			if to := t.Parameters[p]; o[theirs] != nil && to != "" {
				check(of, "the server's "+theirs+" has no parameter", to, o[theirs])
			}
		}
	}
	return found
}
