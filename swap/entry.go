package swap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tmuxmcp/swap/format"
)

// remoteKeys make an entry one of a remote server; they go when it becomes one
// that is started. (Codex rejects a whole config with url and command in one entry.)
var remoteKeys = []string{
	"url", "serverUrl", "httpUrl", "headers",
	"http_headers", "env_http_headers", "bearer_token", "bearer_token_env_var",
}

var remoteTypes = []string{"http", "sse", "remote", "ws", "streamable-http", "streamable_http", "streamableHttp", "streamableHTTP"}

// An EnvVar is one variable for the server.
type EnvVar struct{ Name, Value string }

// environ spells variables as os/exec does.
func environ(env []EnvVar) []string {
	var out []string
	for _, e := range env {
		out = append(out, e.Name+"="+e.Value)
	}
	return out
}

// ParseEnv reads K=V pairs; of one name, the last wins. Its error is a [*UsageError].
func ParseEnv(pairs []string) ([]EnvVar, error) {
	var out []EnvVar
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usagef(OptionEnv, "%q is not of the form NAME=VALUE", name) // not the value: it may be a secret
		}
		if !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
			return nil, usagef(OptionEnv, "%q is not text that a config can hold", name)
		}
		out = slices.DeleteFunc(out, func(e EnvVar) bool { return e.Name == name })
		out = append(out, EnvVar{name, value})
	}
	return out, nil
}

func (d dialect) envName() string { return cmp.Or(d.Env, "env") }

// command returns the fields that hold a command.
func (d dialect) command(argv []string) format.Object {
	if d.Argv {
		return format.Object{{Name: "command", Value: argv}}
	}
	return format.Object{{Name: "command", Value: argv[0]}, {Name: "args", Value: append([]string{}, argv[1:]...)}}
}

// change says what an entry must become to run argv with env.
func (c *Client) change(argv []string, env []EnvVar, old format.Entry) format.Change {
	d := c.Dialect
	ch := format.Change{Parent: c.Parent, Seed: c.Seed}
	vars := format.Object{}
	for _, e := range env {
		vars = append(vars, format.Field{Name: e.Name, Value: e.Value})
	}

	if d.Type != "" {
		ch.New = append(ch.New, format.Field{Name: "type", Value: d.Type})
	}
	ch.New = append(ch.New, d.command(argv)...)
	ch.New = append(ch.New, d.Extra...)
	if len(vars) > 0 || d.EnvAlways {
		ch.New = append(ch.New, format.Field{Name: d.envName(), Value: vars})
	}
	if !old.Found {
		return ch
	}

	for _, key := range remoteKeys {
		if _, ok := old.Value[key]; ok {
			ch.Remove = append(ch.Remove, key)
		}
	}
	if t, ok := old.Value["type"].(string); ok && slices.Contains(remoteTypes, t) {
		if d.Type == "" {
			ch.Remove = append(ch.Remove, "type")
		} else {
			ch.Set = append(ch.Set, format.Field{Name: "type", Value: d.Type})
		}
	}
	for _, f := range d.command(argv) {
		// No arguments are spelled by leaving args out, too.
		if _, ok := old.Value[f.Name]; !ok && f.Name == "args" && len(argv) == 1 {
			continue
		}
		ch.Set = append(ch.Set, f)
	}
	if len(vars) > 0 {
		ch.Set = append(ch.Set, format.Field{Name: d.envName(), Value: vars})
	}
	return ch
}

// argv reads the command of an entry; nil if it has none.
func (d dialect) argv(value map[string]any) []string {
	texts := func(v any) (out []string) {
		list, _ := v.([]any)
		for _, x := range list {
			s, ok := x.(string)
			if !ok {
				s = fmt.Sprint(x)
			}
			out = append(out, s)
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

// env reads the variables of an entry, sorted by name.
func (d dialect) env(value map[string]any) []EnvVar {
	vars, _ := value[d.envName()].(map[string]any)
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

// remote returns the address of an entry that names a remote server, or "".
func remote(value map[string]any) string {
	for _, key := range []string{"url", "serverUrl", "httpUrl"} {
		if s, ok := value[key].(string); ok {
			return s
		}
	}
	return ""
}
