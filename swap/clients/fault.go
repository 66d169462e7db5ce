package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Refuses says in texts that a client refuses its whole config.
const Refuses = "refuses its whole config"

// RefusesAll reports whether the client refuses its whole config for a fault of a flat entry.
func (c *Client) RefusesAll(flat map[string]any) bool {
	_, toggles := flat[c.Dialect.Toggle].(bool)
	_, runs := flat["command"]
	return c.Dialect.Whole && !toggles && !(runs && c.Dialect.connects(flat))
}

// Faults lists what keeps the client from running the command of a flat entry, although the
// entry is there. name is for an entry of another server.
func (c *Client) Faults(flat map[string]any, name string) []string {
	d := c.Dialect
	_, runs := flat["command"]
	if runs && d.connects(flat) {
		field, _ := d.address(flat)
		return []string{fmt.Sprintf("%s uses the %s of the entry, not its %s", c.Name, field, d.name("command"))}
	}
	verb := "ignores"
	if c.RefusesAll(flat) {
		verb = Refuses + " because of"
	}
	if name != "" {
		verb += " " + name + ","
	}
	var faults []string
	switch field, _ := d.address(flat); {
	case runs:
		faults = d.commandFaults(flat)
	case field != "":
		faults = d.addressFaults(flat, field)
	case (name == "" || d.Toggle != "") && c.RefusesAll(flat):
		faults = []string{fmt.Sprintf("without a %s or a %s", d.name("command"), d.URL)}
	}
	for i, what := range faults {
		faults[i] = fmt.Sprintf("%s %s an entry %s", c.Name, verb, what)
	}
	return faults
}

// addressFaults lists the faults of an entry with an address and no command.
func (d dialect) addressFaults(flat map[string]any, field string) []string {
	t := word(flat["type"])
	switch {
	case d.Remotes == nil || slices.Contains(d.Remotes, t):
		return beside(flat, field, d.NotAddress)
	case t != "":
		return []string{fmt.Sprintf("with a %s, of %s %q", field, d.name("type"), t)}
	}
	return []string{fmt.Sprintf("with a %s, without a %s", field, d.name("type"))}
}

// commandFaults lists the faults of an entry with a command.
func (d dialect) commandFaults(flat map[string]any) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if field, _ := d.address(flat); field != "" && d.Both == "refused" {
		fault("with a %s and a %s", d.name("command"), field)
	}
	faults = append(faults, beside(flat, d.name("command"), d.NotCommand)...)
	if t, ok := flat["type"]; d.Types != nil && !d.takesType(flat) {
		if ok {
			fault("of %s %q", d.name("type"), fmt.Sprint(t))
		} else {
			fault("without a %s", d.name("type"))
		}
	}
	for _, name := range d.Needs {
		if flat[name] == nil {
			fault("without %s", name)
		}
	}
	for _, name := range d.Strict {
		if v, ok := flat[name]; ok {
			if is := d.notTexts(name, v); is != "" {
				fault("whose %s %s", d.name(name), is)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Fields)) {
		if v, ok := flat[name]; ok && !kinds[d.Fields[name]](v) {
			fault("whose %s is not a %s", name, d.Fields[name])
		}
	}
	return faults
}

// beside lists the fields of an entry that the client does not take beside another.
func beside(flat map[string]any, field string, refused []string) (faults []string) {
	for _, name := range refused {
		if _, ok := flat[name]; ok {
			faults = append(faults, fmt.Sprintf("with a %s and %s", field, name))
		}
	}
	return faults
}

// notTexts says how a field fails to consist of strings, or returns "".
func (d dialect) notTexts(name string, v any) string {
	switch {
	case name == "command" && d.Argv && !allTexts(v):
		return "is not a list of strings"
	case (name == "command" && !d.Argv || name == "cwd") && !isText(v):
		return "is not a string"
	case name == "args" && !allTexts(v):
		return "are not a list of strings"
	case name == "env" && !textValues(v):
		return "has values that are not strings"
	}
	return ""
}

// kinds report whether a value is one of the kind.
var kinds = map[string]func(v any) bool{
	"boolean":         func(v any) bool { _, ok := v.(bool); return ok },
	"number":          func(v any) bool { _, ok := v.(json.Number); return ok },
	"positive number": func(v any) bool { n, ok := v.(json.Number); f, err := n.Float64(); return ok && err == nil && f > 0 },
	"list":            func(v any) bool { _, ok := v.([]any); return ok },
	"table":           func(v any) bool { _, ok := v.(map[string]any); return ok },
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

func allTexts(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(x any) bool { return !isText(x) })
}

func textValues(v any) bool {
	object, ok := v.(map[string]any)
	for _, x := range object {
		ok = ok && isText(x)
	}
	return ok
}
