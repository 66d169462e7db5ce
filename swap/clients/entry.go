package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/swap/format"
)

// localKeys are the fields of an entry that also have a meaning for a local server. When a
// remote entry becomes local, all others are removed: clients refuse fields that do not
// belong together (Codex then refuses the whole config), or log in unnecessarily, and each
// release brings new ways to log in. A revert restores them.
var localKeys = append([]string{
	"type", "name", "description", "icon", "enabled", "disabled", "required", "lifecycle", "directTools", "idleTimeout",
	"timeout", "startup_timeout_sec", "startup_timeout_ms", "startupTimeout", "startup_timeout", "startupTimeoutMs",
	"tool_timeout_sec", "toolTimeout", "tool_timeout", "toolTimeoutMs", "deferred", "metadata",
	"tools", "enabledTools", "enabled_tools", "disabledTools", "disabled_tools", "includeTools", "excludeTools",
	"exposeResources", "available_tools", "connectionTimeout",
	"trust", "alwaysAllow", "autoApprove", "alwaysLoad", "default_tools_approval_mode", "supports_parallel_tool_calls",
}, commandKeys...)

// commandKeys are the fields that belong to a command.
var commandKeys = []string{
	"command", "cmd", "args", "env", "envs", "env_keys", "environment", "envFile", "env_file", "env_vars", "cwd",
}

// remoteTypes are the types of entries that run no command, because the server is elsewhere
// or in the client itself.
var remoteTypes = []string{
	"http", "sse", "remote", "ws", "websocket", "builtin", "platform",
	"streamable-http", "streamable_http", "streamableHttp", "streamableHTTP",
}

// EnvName returns the name of the field for variables.
func (d dialect) EnvName() string { return d.name("env") }

// name returns the client's name for type, command or env.
func (d dialect) name(field string) string { return cmp.Or(d.Names[field], field) }

// command returns the fields that specify a command.
func (d dialect) command(argv []string) format.Object {
	if d.Argv {
		return format.Object{{Name: d.name("command"), Value: argv}}
	}
	return format.Object{{Name: d.name("command"), Value: argv[0]}, {Name: "args", Value: append([]string{}, argv[1:]...)}}
}

// Change returns the change that makes an entry run argv with env. under is what weaker
// layers add to it, if the client merges.
func (c *Client) Change(argv []string, env []EnvVar, old format.Entry, under map[string]any) format.Change {
	d := c.Dialect
	ch := format.Change{Parent: c.Parent, Seed: c.Seed}
	flat := d.Flat(old.Value)
	_, nested := old.Value[d.Inner].(map[string]any)
	env = slices.Concat(d.respelled(flat, nested), env) // of duplicates, the last counts
	vars := format.Object{}
	for i, e := range env {
		if slices.ContainsFunc(env[i+1:], func(later EnvVar) bool { return later.Name == e.Name }) {
			continue
		}
		vars = append(vars, format.Field{Name: e.Name, Value: e.Value})
	}

	if d.Type != "" {
		ch.New = append(ch.New, format.Field{Name: d.name("type"), Value: d.Type})
	}
	ch.New = append(ch.New, d.command(argv)...)
	ch.New = append(ch.New, d.Extra...)
	if len(vars) > 0 || d.EnvAlways {
		ch.New = append(ch.New, format.Field{Name: d.EnvName(), Value: vars})
	}
	if !old.Found {
		return ch
	}

	seen := format.Merge(under, flat)
	retype := !d.takesType(seen) || d.Toggle != "" && !d.takesType(flat) // with one, it checks each file by itself
	remote := isRemoteType(seen["type"]) || Remote(seen) != ""
	for _, key := range slices.Sorted(maps.Keys(old.Value)) {
		if remote && !slices.Contains(localKeys, key) && key != d.name("type") || nested && key == d.Inner && key != "command" {
			ch.Remove = append(ch.Remove, key)
		}
	}
	if retype && !nested {
		if d.Type != "" {
			ch.Set = append(ch.Set, format.Field{Name: d.name("type"), Value: d.Type})
		} else if old.Value[d.name("type")] != nil {
			ch.Remove = append(ch.Remove, d.name("type"))
		}
	}
	for _, f := range d.command(argv) {
		// Omitting args also means no arguments.
		if _, ok := old.Value[f.Name]; !ok && f.Name == "args" && len(argv) == 1 && seen["args"] == nil && !slices.Contains(d.Needs, "args") {
			continue
		}
		ch.Set = append(ch.Set, f)
	}
	for _, f := range d.Extra {
		if seen[f.Name] == nil && slices.Contains(d.Needs, f.Name) {
			ch.Set = append(ch.Set, f)
		}
	}
	if cwd, ok := flat["cwd"].(string); ok && nested {
		ch.Set = append(ch.Set, format.Field{Name: "cwd", Value: cwd})
	}
	if old.Value["source"] == "extension" && d.Zed {
		ch.Set = append(ch.Set, format.Field{Name: "source", Value: "custom"})
	}
	if len(vars) > 0 {
		ch.Set = append(ch.Set, format.Field{Name: d.EnvName(), Value: vars})
	}
	return ch
}

// respelled returns the variables of an entry that have to be written anew: those that are not
// texts, if the client takes only those, and all that are in an inner object, which goes.
func (d dialect) respelled(flat map[string]any, nested bool) []EnvVar {
	values, _ := flat["env"].(map[string]any)
	return slices.DeleteFunc(d.ReadEnv(flat), func(v EnvVar) bool {
		_, text := values[v.Name].(string)
		return !nested && (text || !slices.Contains(d.Strict, "env"))
	})
}

// takesType reports whether the type of a flat entry lets the client run a command.
func (d dialect) takesType(flat map[string]any) bool {
	t, ok := flat["type"]
	word, _ := t.(string)
	switch {
	case d.Types == nil:
		return !isRemoteType(t)
	case ok && word == "":
		return false
	}
	return slices.Contains(d.Types, word)
}

func isRemoteType(t any) bool { return slices.Contains(remoteTypes, word(t)) }

func word(v any) string {
	text, _ := v.(string)
	return text
}

// address returns the address in a flat entry that the client would use, and its field.
func (d dialect) address(flat map[string]any) (field, url string) {
	fields := d.URLs
	switch {
	case len(fields) > 0:
	case d.URL != "":
		fields = []string{d.URL}
	default:
		fields = urlKeys
	}
	for _, field := range fields {
		if url, ok := flat[field].(string); ok && url != "" {
			return field, url
		}
	}
	return "", ""
}

// connects reports whether the client uses the address of a flat entry and not its command.
func (d dialect) connects(flat map[string]any) bool {
	field, _ := d.address(flat)
	switch {
	case field == "":
		return false
	case d.Both == "type":
		return isRemoteType(flat["type"])
	case d.Both == "untyped":
		return isRemoteType(flat["type"]) || flat["type"] == nil
	}
	return d.Both == "url"
}

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
func (c *Client) Faults(flat map[string]any, name string) (out []string) {
	d := c.Dialect
	verb := "ignores"
	if c.RefusesAll(flat) {
		verb = Refuses + " because of"
	}
	if name != "" {
		verb += " " + name + ","
	}
	fault := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s %s an entry ", c.Name, verb)+fmt.Sprintf(format, args...))
	}
	beside := func(field string, refused []string) {
		for _, name := range refused {
			if _, ok := flat[name]; ok {
				fault("with a %s and %s", field, name)
			}
		}
	}
	field, _ := d.address(flat)
	command, runs := flat["command"]
	switch {
	case !runs && field != "" && d.Remotes != nil && !slices.Contains(d.Remotes, word(flat["type"])):
		if t := word(flat["type"]); t != "" {
			fault("with a %s, of %s %q", field, d.name("type"), t)
		} else {
			fault("with a %s, without a %s", field, d.name("type"))
		}
		return out
	case !runs && field == "" && (name == "" || d.Toggle != "") && c.RefusesAll(flat):
		fault("without a %s or a %s", d.name("command"), d.URL)
		return out
	case !runs && field != "":
		beside(field, d.NotAddress)
		return out
	case !runs:
		return nil
	case d.connects(flat):
		return []string{fmt.Sprintf("%s uses the %s of the entry, not its %s", c.Name, field, d.name("command"))}
	}
	if field != "" && d.Both == "refused" {
		fault("with a %s and a %s", d.name("command"), field)
	}
	beside(d.name("command"), d.NotCommand)
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
		v, ok := flat[name]
		switch {
		case name == "command" && d.Argv && !allTexts(command):
			fault("whose %s is not a list of strings", d.name(name))
		case name == "command" && !d.Argv && !isText(command):
			fault("whose %s is not a string", d.name(name))
		case name == "args" && ok && !allTexts(v):
			fault("whose args are not a list of strings")
		case name == "env" && ok && !textValues(v):
			fault("whose %s has values that are not strings", d.name(name))
		case name == "cwd" && ok && !isText(v):
			fault("whose cwd is not a string")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Fields)) {
		if v, ok := flat[name]; ok && !kinds[d.Fields[name]](v) {
			fault("whose %s is not a %s", name, d.Fields[name])
		}
	}
	return out
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

// ChangeRemote returns the change that makes an entry use a server at a URL. Fields that
// belong to a command, or log in to another server, are removed.
func (c *Client) ChangeRemote(url string, old format.Entry) format.Change {
	d := c.Dialect
	ch := format.Change{Parent: c.Parent, Seed: c.Seed}
	address := format.Object{{Name: d.URL, Value: url}}
	if d.HTTP != "" {
		address = format.Object{{Name: d.name("type"), Value: d.HTTP}, {Name: d.URL, Value: url}}
	}
	ch.New = append(slices.Clone(address), d.Extra...)
	if !old.Found {
		return ch
	}
	ch.Set = address
	elsewhere := Remote(old.Value) != url
	for _, key := range slices.Sorted(maps.Keys(old.Value)) {
		set := key == d.URL || key == d.name("type") && d.HTTP != ""
		another := key == d.name("type") || slices.Contains(commandKeys, key) || slices.Contains(urlKeys, key)
		if !set && (another || elsewhere && !slices.Contains(localKeys, key)) {
			ch.Remove = append(ch.Remove, key)
		}
	}
	return ch
}

// Runs returns the command of an entry, or the address of its server, or nil.
func (d dialect) Runs(value map[string]any) []string {
	if argv := d.ReadArgv(value); len(argv) > 0 {
		return argv
	}
	flat := d.Flat(value)
	if _, url := d.address(flat); d.connects(flat) {
		return []string{url}
	}
	if url := Remote(flat); url != "" {
		return []string{url}
	}
	return nil
}

// Flat returns an entry with its inner object replaced by that object's members, and with
// type, command and env under these names.
func (d dialect) Flat(value map[string]any) map[string]any {
	for field, name := range d.Names {
		if v, ok := value[name]; ok {
			value = maps.Clone(value)
			value[field] = v
			delete(value, name)
		}
	}
	inner, ok := value[d.Inner].(map[string]any)
	if !ok {
		return value
	}
	outer := maps.Clone(value)
	delete(outer, d.Inner)
	flat := format.Merge(inner, outer)
	if d.Inner == "command" {
		flat["command"] = flat["path"]
		delete(flat, "path")
	}
	return flat
}

// ReadArgv returns the command of an entry; nil if it has none, or the client uses an address
// instead.
func (d dialect) ReadArgv(value map[string]any) []string {
	value = d.Flat(value)
	if d.connects(value) {
		return nil
	}
	texts := func(v any) (out []string) {
		list, _ := v.([]any)
		for _, x := range list {
			out = append(out, Text(x))
		}
		return out
	}
	switch v := value["command"].(type) {
	case string:
		return append([]string{v}, texts(value["args"])...)
	case []any:
		return texts(v)
	}
	return nil
}

// Text returns a word of a command as text; of what is no word, which may hold a secret, only that
// it is there.
func Text(word any) string {
	switch v := word.(type) {
	case string:
		return v
	case nil:
		return "null"
	case []any, map[string]any:
		return format.Masked
	}
	return fmt.Sprint(word)
}

// ReadEnv returns the variables of an entry, sorted by name.
func (d dialect) ReadEnv(value map[string]any) []EnvVar {
	vars, _ := d.Flat(value)["env"].(map[string]any)
	var out []EnvVar
	for name, v := range vars {
		switch v := v.(type) {
		case string:
			out = append(out, EnvVar{name, v})
		case json.Number:
			out = append(out, EnvVar{name, v.String()})
		case bool:
			out = append(out, EnvVar{name, fmt.Sprint(v)})
		}
	}
	slices.SortFunc(out, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return out
}

var urlKeys = []string{"httpUrl", "url", "uri", "serverUrl"} // gemini and qwen prefer the first

// Remote returns the address of a flat entry that names a remote server, or "".
func Remote(value map[string]any) string {
	for _, key := range urlKeys {
		if s, ok := value[key].(string); ok {
			return s
		}
	}
	return ""
}

// Headers lists, as NAME=VALUE, the members of objects in a remote server's entry: headers
// and other possible secrets.
func Headers(value map[string]any) []string {
	var out []string
	for _, v := range value {
		members, _ := v.(map[string]any)
		for name, text := range members {
			out = append(out, fmt.Sprint(name, "=", text))
		}
	}
	return out
}

// What stands in for the command, the address and the texts of another server's entry.
const (
	idleCommand = "true"                   // exits at once, whatever its arguments
	idleAddress = "http://127.0.0.1:9/mcp" // the port that discards
	idleText    = "x"
)

// Harmless returns the fields of an entry that would start a server, or connect to one, so
// that they do not, and those that may hold secrets. What is of another type than it should
// be stays, as do references: the client may refuse its whole config for them.
func (c *Client) Harmless(value map[string]any) format.Object {
	var out format.Object
	text := func(v any) any {
		if s, ok := v.(string); ok && !reference().MatchString(s) {
			return idleText
		}
		return v
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		switch v := value[name].(type) {
		case string:
			switch {
			case name == c.Dialect.name("command"):
				out = append(out, format.Field{Name: name, Value: idleCommand})
			case slices.Contains(urlKeys, name) && strings.HasPrefix(v, "http"):
				out = append(out, format.Field{Name: name, Value: idleAddress})
			}
		case []any:
			command := name == c.Dialect.name("command")
			if !command && name != "args" {
				continue
			}
			words := make([]any, len(v))
			for i, word := range v {
				words[i] = text(word)
				if command && i == 0 && isText(word) {
					words[i] = idleCommand
				}
			}
			out = append(out, format.Field{Name: name, Value: words})
		case map[string]any:
			var members format.Object
			for _, member := range slices.Sorted(maps.Keys(v)) {
				if t := text(v[member]); t == idleText {
					members = append(members, format.Field{Name: member, Value: t})
				}
			}
			if len(members) > 0 {
				out = append(out, format.Field{Name: name, Value: members})
			}
		}
	}
	return out
}
