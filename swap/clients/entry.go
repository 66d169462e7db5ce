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

// Text returns a word of a command as text. A list or an object, which may hold a secret, is masked.
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

// Placeholders for the command, the address and the texts of another server's entry.
const (
	idleCommand = "true"                   // exits at once, whatever its arguments
	idleAddress = "http://127.0.0.1:9/mcp" // the port that discards
	idleText    = "x"
)

// Harmless returns replacements for the fields of an entry that start a server, connect to one, or
// may hold secrets. Values of the wrong type and references stay, because the client may refuse its
// whole config for them.
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
