package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
)

// An Effective entry is what a client makes of its layers, folded as it folds them.
type Effective struct {
	Command []string `json:"command,omitempty"` // without secrets
	Env     []string `json:"env,omitempty"`     // names only
	From    []Origin `json:"from"`              // of the fields that differ from the entry's

	Value map[string]any `json:"-"`
	Argv  []string       `json:"-"` // Command, with secrets
	// Other is set if it is another server than the entry's, or variables of that have other
	// values.
	Other bool `json:"-"`

	from map[string]string // From, by field
}

// An Origin is where a field of an effective entry comes from.
type Origin struct {
	Field string `json:"field"`
	Path  string `json:"path"` // the file, or $NAME
}

// Uses returns the entry as the client uses it.
func (cs *State) Uses() (value map[string]any, argv []string) {
	if cs.Effective != nil {
		return cs.Effective.Value, cs.Effective.Argv
	}
	return cs.Value, cs.Argv
}

// fold completes [State.Effective] by the stronger places that the client reads now.
func (cs *State) fold(c *clients.Client, stronger []entryAt) {
	own, from := c.Dialect.Flat(cs.Value), map[string]string{}
	value := own
	for _, p := range slices.Backward(stronger) {
		if !p.inForce() {
			continue
		}
		over := format.Merge(value, c.Dialect.Flat(p.value))
		for _, field := range Differing(value, over) {
			from[field] = p.where
		}
		value = over
	}
	differ := Differing(own, value)
	if len(differ) == 0 {
		return
	}
	e := &Effective{from: from, Value: value, Argv: c.Dialect.ReadArgv(value)}
	maps.DeleteFunc(from, func(field, _ string) bool { return !slices.Contains(differ, field) }) // it has its own value again
	for _, field := range differ {
		e.From = append(e.From, Origin{spelled(c, field), from[field]})
	}
	e.Command = ask.ShowArgs(e.Argv)
	for _, v := range c.Dialect.ReadEnv(value) {
		e.Env = append(e.Env, v.Name)
	}
	had, _ := own["env"].(map[string]any)
	has, _ := value["env"].(map[string]any)
	for name, v := range had {
		e.Other = e.Other || !format.Equal(v, has[name])
	}
	e.Other = e.Other || !slices.Equal(c.Dialect.Runs(own), c.Dialect.Runs(value))
	cs.Effective = e
}

// because adds to the reasons that the entry alone would not have which files these fields, or all,
// come from.
func (cs *State) because(reasons, own []string, fields ...string) (out []string) {
	for _, why := range reasons {
		if cs.Effective != nil && !slices.Contains(own, why) {
			var files []string
			for field, file := range cs.Effective.from {
				if fields == nil || slices.Contains(fields, field) {
					files = append(files, file)
				}
			}
			if slices.Sort(files); files == nil {
				out = append(out, why)
				continue
			}
			why += " (" + strings.Join(slices.Compact(files), ", ") + ")"
		}
		out = append(out, why)
	}
	return out
}

// compete adds to won the entries in stronger places, unless merging them changes nothing.
func (cs *State) compete(c *clients.Client, stronger []entryAt) {
	for _, p := range stronger {
		text := p.where + " has an entry of that name, which wins"
		if c.Merges {
			changed := changes(c, cs.Value, format.Merge(cs.Value, c.Dialect.Flat(p.value)), func(field string) bool {
				return !p.inForce() || cs.Effective != nil && cs.Effective.from[field] == p.where
			})
			if len(changed) == 0 {
				continue
			}
			text += " in " + strings.Join(changed, ", ")
		}
		switch {
		case p.layer.Trusted && p.untrusted:
			text += " once the folder is trusted"
		case p.layer.When != "":
			text += " " + p.layer.When
		case p.asked == clients.Waiting && c.Approval.Keeps:
			text += " once it is approved"
		case p.asked == clients.Waiting, p.asked == clients.Rejected:
			text += ", but is not approved: no server of that name runs"
		case !c.Merges && c.Dialect.Runs(p.value) == nil:
			text += ", and has no command: no server of that name runs"
		}
		cs.Won = append(cs.Won, text)
	}
}

// shown are the fields whose texts are shown: in any other, a text may be a secret.
var shown = []string{
	"args", "command", "cwd", "httpUrl", "serverUrl", "transport", "type", "uri", "url",
	"enabled_tools", "disabled_tools", "enabledTools", "disabledTools", "includeTools", "excludeTools",
}

// changes lists the fields in which an entry differs from another one, with their values. Of fields
// with members, such as variables and headers, it lists only the names.
func changes(c *clients.Client, from, to map[string]any, wanted func(field string) bool) (out []string) {
	for _, name := range Differing(from, to) {
		if !wanted(name) {
			continue
		}
		var value string
		switch v := to[name].(type) {
		case nil:
		case map[string]any:
			was, _ := from[name].(map[string]any)
			value = strings.Join(Differing(was, v), ", ")
		case []any:
			if slices.Contains(shown, name) {
				value = showWords(to["command"], v)
			}
		case string:
			if slices.Contains(shown, name) {
				value = ask.ShowArgs([]string{v})[0]
			}
		default:
			value = fmt.Sprint(v)
		}
		if name = spelled(c, name); value != "" {
			name += " (" + value + ")"
		}
		out = append(out, name)
	}
	return out
}

// spelled returns the name of a field of a flat entry as the client spells it.
func spelled(c *clients.Client, field string) string {
	if field == "env" {
		return c.Dialect.EnvName()
	}
	return field
}

// showWords returns a command, or its arguments, without secrets. The program determines which flags
// have one.
func showWords(command any, list []any) string {
	var words []string
	program, apart := command.(string)
	if apart {
		words = append(words, program)
	}
	for _, x := range list {
		words = append(words, clients.Text(x))
	}
	words = ask.ShowArgs(words)
	if apart {
		words = words[1:]
	}
	return ask.CommandLine(words)
}
