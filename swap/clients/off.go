package clients

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/swap/format"
)

// A File is one of a client's files with settings.
type File struct {
	Name       string // "" for the config
	Managed    bool   // the administrator's
	Distrusted bool   // a project's that the client does not trust
	Get        func(path ...string) (any, bool)
	Spell      func(path []string) []string // as the file spells it
}

// SwitchesOff returns how an off applies to an entry; nothing if it does not. files are those in
// which it is read, strongest first.
func (o off) SwitchesOff(value map[string]any, files []File, project, server string) (out []string) {
	if o.Field != "" && o.File == nil {
		if v, ok := value[o.Field].(bool); ok && v == o.Value && value[o.Unless] == nil {
			out = append(out, fmt.Sprintf("%s = %t", o.Field, o.Value))
		}
		return out
	}
	if i := slices.IndexFunc(files, func(f File) bool { v, _ := f.Get(o.Only); return f.Managed && v == true }); o.Only != "" && i >= 0 {
		files = files[i : i+1]
	}
	joined := false
	for _, f := range files {
		off, how := o.switches(f, value, project, server)
		joined = joined || o.Joined && how != "" && !off
		if f.Name != "" {
			how += ", " + f.Name
		}
		if off {
			out = append(out, how)
		}
	}
	if joined {
		return nil
	}
	return out
}

// switches reports whether an off in one file applies to an entry, and how it is spelled; ""
// if the file does not have it.
func (o off) switches(f File, value map[string]any, project, server string) (bool, string) {
	fold := func(name string) string {
		if o.Fold {
			return strings.ToLower(strings.TrimSpace(name))
		}
		return name
	}
	if o.Field != "" {
		v, _ := f.Get(fold(server))
		own, _ := v.(map[string]any)
		is, ok := own[o.Field].(bool)
		return ok && is == o.Value, fmt.Sprintf("%s = %t", o.Field, o.Value)
	}
	p := f.Spell(ForProject(o.Path, project))
	v, found := f.Get(p...)
	if o.Identity {
		is, _ := f.Get(append(slices.Clone(p), server, "identity")...)
		of, _ := is.(map[string]any)
		same := func(name string) bool { return of[name] != nil && format.Equal(of[name], value[name]) }
		return found && !same("command") && !same("url"), "not allowed by " + strings.Join(p, ".")
	}
	list, ok := v.([]any)
	if !ok {
		return false, ""
	}
	if o.Rules {
		return ruled(list, value), "rejected by " + p[len(p)-1]
	}
	listed := slices.ContainsFunc(list, func(x any) bool {
		if o.Servers {
			return o.names(x, list, value, server)
		}
		name, ok := x.(string)
		return ok && (fold(name) == fold(server) || o.Glob && glob(name).MatchString(server))
	})
	if o.Allow {
		return !listed, "not in " + strings.Join(p, ".")
	}
	return listed, "in " + p[len(p)-1]
}

// names reports whether an object in a list names a server: by its command, its URL or its
// name. In a list of servers that are on, a name does not count if the list has commands, or
// for a remote server URLs.
func (o off) names(x any, list []any, value map[string]any, server string) bool {
	by, _ := x.(map[string]any)
	has := func(field string) bool {
		return slices.ContainsFunc(list, func(x any) bool { m, _ := x.(map[string]any); return m[field] != nil })
	}
	url := Remote(value)
	field := "serverCommand"
	if url != "" {
		field = "serverUrl"
	}
	switch {
	case by["serverName"] != nil:
		return by["serverName"] == server && !(o.Allow && has(field))
	case by["serverUrl"] != nil && url != "":
		pattern, _ := by["serverUrl"].(string)
		return glob(pattern).MatchString(url)
	case by["serverCommand"] != nil && url == "":
		command, _ := value["args"].([]any)
		return format.Equal(by["serverCommand"], append([]any{value["command"]}, command...))
	}
	return false
}

var globbing = strings.NewReplacer(`\*`, ".*", `\?`, ".")

// glob returns what matches a pattern in which * stands for any text, and ? for a character.
func glob(pattern string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + globbing.Replace(regexp.QuoteMeta(pattern)) + "$")
}

// ruled reports whether the first rule that matches an entry rejects it, as amp does.
func ruled(rules []any, value map[string]any) bool {
	seen := maps.Clone(value)
	if args, ok := value["args"].([]any); ok {
		words := make([]string, len(args))
		for i, a := range args {
			words[i] = fmt.Sprint(a)
		}
		seen["args"] = strings.Join(words, " ")
	}
	for _, x := range rules {
		rule, _ := x.(map[string]any)
		if pattern, ok := rule["matches"].(map[string]any); ok && matches(pattern, seen) {
			return rule["action"] != "allow"
		}
	}
	return false
}

// matches reports whether a value matches a pattern: a glob, a regular expression in
// slashes, a list of those, or an object of patterns.
func matches(pattern, value any) bool {
	switch p := pattern.(type) {
	case []any:
		return slices.ContainsFunc(p, func(x any) bool { return matches(x, value) })
	case map[string]any:
		members, _ := value.(map[string]any)
		for name, x := range p {
			if !matches(x, members[name]) {
				return false
			}
		}
		return true
	case string:
		text, ok := value.(string)
		expr := "^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$"
		if len(p) > 2 && p[0] == '/' && p[len(p)-1] == '/' {
			expr = p[1 : len(p)-1]
		}
		re, err := regexp.Compile("(?m)" + expr)
		return ok && err == nil && re.MatchString(text)
	}
	return false
}
