package clients

import (
	"maps"
	"slices"

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
	vars := lastOfEach(slices.Concat(d.respelled(old.Value), env))
	ch := format.Change{Parent: c.Parent, Seed: c.Seed, New: d.entry(argv, vars)}
	if old.Found {
		ch.Set, ch.Remove = d.become(argv, vars, old.Value, under)
	}
	return ch
}

// lastOfEach returns variables as fields. Of duplicates, the last counts.
func lastOfEach(env []EnvVar) format.Object {
	vars := format.Object{}
	for i, e := range env {
		if !slices.ContainsFunc(env[i+1:], func(later EnvVar) bool { return later.Name == e.Name }) {
			vars = append(vars, format.Field{Name: e.Name, Value: e.Value})
		}
	}
	return vars
}

// entry returns the fields of a new entry.
func (d dialect) entry(argv []string, vars format.Object) (fields format.Object) {
	if d.Type != "" {
		fields = append(fields, format.Field{Name: d.name("type"), Value: d.Type})
	}
	fields = append(fields, d.command(argv)...)
	fields = append(fields, d.Extra...)
	if len(vars) > 0 || d.EnvAlways {
		fields = append(fields, format.Field{Name: d.EnvName(), Value: vars})
	}
	return fields
}

// become returns the fields to set and to remove so that an entry runs argv.
func (d dialect) become(argv []string, vars format.Object, old, under map[string]any) (set format.Object, remove []string) {
	flat := d.Flat(old)
	merged := format.Merge(under, flat)
	_, nested := old[d.Inner].(map[string]any)
	remove = d.obsolete(old, merged, nested)
	// With a toggle, the client checks each file by itself.
	if takes := d.takesType(merged) && (d.Toggle == "" || d.takesType(flat)); !takes && !nested {
		if d.Type != "" {
			set = append(set, format.Field{Name: d.name("type"), Value: d.Type})
		} else if old[d.name("type")] != nil {
			remove = append(remove, d.name("type"))
		}
	}
	for _, f := range d.command(argv) {
		if f.Name != "args" || len(argv) > 1 || d.needsArgs(old, merged) {
			set = append(set, f)
		}
	}
	for _, f := range d.Extra {
		if merged[f.Name] == nil && slices.Contains(d.Needs, f.Name) {
			set = append(set, f)
		}
	}
	if cwd, ok := flat["cwd"].(string); ok && nested {
		set = append(set, format.Field{Name: "cwd", Value: cwd})
	}
	if old["source"] == "extension" && d.Zed {
		set = append(set, format.Field{Name: "source", Value: "custom"})
	}
	if len(vars) > 0 {
		set = append(set, format.Field{Name: d.EnvName(), Value: vars})
	}
	return set, remove
}

// obsolete returns the fields of an entry that do not belong to a command: those of a remote server,
// and an inner object.
func (d dialect) obsolete(old, merged map[string]any, nested bool) (keys []string) {
	remote := isRemoteType(merged["type"]) || Remote(merged) != ""
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if remote && !slices.Contains(localKeys, key) && key != d.name("type") || nested && key == d.Inner && key != "command" {
			keys = append(keys, key)
		}
	}
	return keys
}

// needsArgs reports whether an entry must say that there are no arguments: because it has some now, or
// because the client does not accept it otherwise.
func (d dialect) needsArgs(old, merged map[string]any) bool {
	_, has := old["args"]
	return has || merged["args"] != nil || slices.Contains(d.Needs, "args")
}

// respelled returns the variables of an entry that have to be written anew: those that are not
// strings, if the client takes only strings, and all that are in an inner object, which goes.
func (d dialect) respelled(old map[string]any) []EnvVar {
	flat := d.Flat(old)
	_, nested := old[d.Inner].(map[string]any)
	values, _ := flat["env"].(map[string]any)
	return slices.DeleteFunc(d.ReadEnv(flat), func(v EnvVar) bool {
		return !nested && (isText(values[v.Name]) || !slices.Contains(d.Strict, "env"))
	})
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
