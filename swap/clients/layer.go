package clients

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/swap/format"
	"tmuxmcp/swap/machine"
)

// A Layer is a place where a client reads servers.
type Layer struct {
	Role    Role
	At      location // unless it is a variable; for a project, only Files
	Var     string   // variable that holds the text
	Here    bool     // in the project's directory, but not in its parents
	Top     bool     // at the top of its work tree only
	Outer   bool     // if several directories have it, the outermost wins, not the nearest
	Unless  string   // variable that, if true, keeps the client from reading it
	Trusted bool     // read only in a folder that the client trusts
	When    string   // condition on which it wins
	Alone   bool     // if it exists, the client reads no other layer
}

// A Role says who owns a layer, and what a swap does with it.
type Role int

// Roles of layers.
const (
	Own      Role = iota // the user's config, where new entries are created
	Other                // another file of the user's: existing entries are edited there
	Project              // a file of the project, in its directory or a parent up to the top of its work tree
	Managed              // another file; never edited
	Variable             // never edited
)

func own(at location) Layer         { return Layer{At: at} }
func other(at location) Layer       { return Layer{Role: Other, At: at} }
func managed(at location) Layer     { return Layer{Role: Managed, At: at} }
func project(files ...string) Layer { return Layer{Role: Project, At: location{Files: files}} }
func trusted(files ...string) Layer {
	return Layer{Role: Project, At: location{Files: files}, Trusted: true}
}

func (l Layer) when(condition string) Layer {
	l.When = condition
	return l
}

func (l Layer) alone() Layer {
	l.Alone = true
	return l
}

func (l Layer) outer() Layer {
	l.Outer = true
	return l
}

func (l Layer) unless(env string) Layer {
	l.Unless = env
	return l
}

// in returns files in a directory.
func in(dir string, files []string) (out []string) {
	for _, f := range files {
		out = append(out, dir+"/"+f)
	}
	return out
}

func (l Layer) users() bool { return l.Role == Own || l.Role == Other }

func (l Layer) there(file string) bool {
	if _, err := os.Lstat(file); err != nil || !l.At.Filled {
		return err == nil
	}
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}

// A location is a rule for where a file is. The first candidate whose variable is set
// determines the directory.
type location struct {
	Dirs   map[string][]candidate // by GOOS; "" for all others
	Files  []string               // slash-separated, relative to the directory, strongest first
	Filled bool                   // an empty file counts as missing
}

// A candidate is a directory, from a variable or fixed. "~" is the home directory.
type candidate struct {
	Env     string
	AbsOnly bool   // a relative path counts as not set
	Tilde   bool   // "~" in it is the home directory
	File    bool   // the variable names the file itself
	List    bool   // with File: files, the strongest last
	Dir     string // relative to the variable's directory; with a "*" in it, an existing one
	Each    bool   // if no directory matches Dir, there is none
}

func at(files ...string) location {
	return location{Dirs: map[string][]candidate{"": {{Dir: "~"}}}, Files: files}
}

func under(env, dir string, files ...string) location {
	return location{Dirs: map[string][]candidate{"": {{Env: env}, {Dir: dir}}}, Files: files}
}

// filled returns a location whose files count only if they are not empty.
func filled(l location) location {
	l.Filled = true
	return l
}

// underTilde is under for a client that expands "~" itself.
func underTilde(env, dir string, files ...string) location {
	return location{Dirs: map[string][]candidate{"": {{Env: env, Tilde: true}, {Dir: dir}}}, Files: files}
}

// each returns a location in the directories below l's that match a pattern.
func (l location) each(pattern string) location {
	for _, dirs := range l.Dirs {
		for i := range dirs {
			dirs[i].Dir, dirs[i].Each = strings.TrimPrefix(dirs[i].Dir+"/"+pattern, "/"), true
		}
	}
	return l
}

// named returns the location given by a variable, if it is set.
func named(c candidate, files ...string) location {
	return location{Dirs: map[string][]candidate{"": {c}}, Files: files}
}

// perSystem returns an application's directory, which depends on the system.
func perSystem(name, file string) location {
	return location{Dirs: map[string][]candidate{
		"":        {{Env: "XDG_CONFIG_HOME", AbsOnly: true, Dir: name}, {Dir: "~/.config/" + name}},
		"darwin":  {{Dir: "~/Library/Application Support/" + name}},
		"windows": {{Env: "APPDATA", Dir: name}, {Dir: "~/AppData/Roaming/" + name}},
	}, Files: []string{file}}
}

// packaged returns the location of an application that has its own directory on Windows.
func packaged(l location, dir string) location {
	l.Dirs["windows"] = append([]candidate{{Env: "LOCALAPPDATA", Dir: dir}}, l.Dirs["windows"]...)
	return l
}

// A Place is a location on a particular machine.
type Place struct {
	Path string
	Env  string // the variable that determined it, or ""
	// Rel is the path relative to the variable's directory, or else to the home directory:
	// "." for the file that the variable names, "../NAME" for one beside it, "" for one
	// outside the home directory.
	Rel string
}

// resolve returns the files of the rule on a system, strongest first.
func (l location) resolve(sys machine.System) []Place {
	dirs, ok := l.Dirs[sys.GOOS]
	if !ok {
		dirs = l.Dirs[""]
	}
	for _, c := range dirs {
		base, dir := sys.Home, c.Dir
		if c.Env != "" {
			base = sys.Getenv(c.Env)
			if c.List && base != "" {
				var out []Place
				for _, file := range slices.Backward(filepath.SplitList(base)) {
					out = append(out, Place{Path: file, Env: c.Env, Rel: "."})
				}
				return out
			}
			if base == "" || c.AbsOnly && !filepath.IsAbs(base) {
				continue
			}
			if rest, ok := strings.CutPrefix(base, "~"); ok && c.Tilde {
				base = sys.Home + rest
			}
			if abs, err := filepath.Abs(base); err == nil {
				base = abs
			}
		} else if rest, ok := strings.CutPrefix(dir, "~"); ok {
			dir = rest
		} else {
			base = "" // the path is absolute
		}
		if c.File {
			return []Place{{Path: base, Env: c.Env, Rel: "."}}
		}
		found := []string{filepath.Join(base, filepath.FromSlash(dir))}
		if strings.Contains(dir, "*") {
			if found, _ = filepath.Glob(found[0]); len(found) == 0 && !c.Each {
				continue
			}
		}
		var out []Place
		for _, dir := range found {
			for _, f := range l.Files {
				p := Place{Path: filepath.Join(dir, filepath.FromSlash(f)), Env: c.Env}
				if base != "" {
					p.Rel, _ = filepath.Rel(base, p.Path)
				}
				out = append(out, p)
			}
		}
		return out
	}
	return nil
}

// File returns the file of the rule on a system; "" if it has none.
func (l location) File(sys machine.System) string {
	if all := l.resolve(sys); len(all) > 0 {
		return all[0].Path
	}
	return ""
}

// ConfigPath returns the user's config of the client: the strongest existing one, otherwise
// the one that the client would create. If there are several candidates, that is the first
// whose directory exists, otherwise the first.
func (c *Client) ConfigPath(sys machine.System) string {
	would, known := "", false
	for _, l := range c.Layers {
		if l.Role != Own {
			continue
		}
		for i, p := range l.At.resolve(sys) {
			if l.there(p.Path) {
				return p.Path
			}
			if i > 0 || l.At.Filled || known {
				continue
			}
			if _, err := os.Stat(filepath.Dir(p.Path)); err == nil || would == "" {
				would, known = p.Path, err == nil
			}
		}
	}
	return would
}

// Files returns the files of a layer that the client reads, strongest first. Project files
// are in a directory or its parents, up to the directory top.
func (c *Client) Files(l Layer, sys machine.System, dir, top string) []string {
	var out []string
	if l.Unless != "" && slices.Contains([]string{"1", "true"}, strings.ToLower(sys.Getenv(l.Unless))) {
		return nil
	}
	switch l.Role {
	case Variable:
	case Project:
		if l.Top {
			dir = top
		}
		for ; ; dir = filepath.Dir(dir) {
			var files []string
			for _, f := range l.At.Files {
				files = append(files, filepath.Join(dir, filepath.FromSlash(f)))
			}
			if l.Outer {
				out = append(files, out...)
			} else {
				out = append(out, files...)
			}
			if l.Here || dir == top || dir == filepath.Dir(dir) {
				break
			}
		}
	default:
		for _, p := range l.At.resolve(sys) {
			if l.there(p.Path) && (c.Merges || l.Role != Own || p.Path == c.ConfigPath(sys)) {
				out = append(out, p.Path)
			}
		}
	}
	return out
}

// ProjectFiles returns the files in which the client reads servers for a project, strongest
// first, whether or not they exist. into are the files for new entries: the first existing
// one is used, otherwise the first is created.
func (c *Client) ProjectFiles(sys machine.System, dir, top string) (all, into []string) {
	made := c.Made
	for _, l := range c.Layers {
		if l.Role != Project {
			continue
		}
		made = cmp.Or(made, l.At.Files[0])
		files := c.Files(l, sys, dir, top)
		all = append(all, files...)
		if !slices.Contains(l.At.Files, made) {
			continue
		}
		for _, file := range files {
			// To the client, another spelling such as settings.jsonc is the same file.
			if strings.HasSuffix(filepath.ToSlash(withoutExt(file)), "/"+withoutExt(made)) {
				into = append(into, file)
			}
		}
	}
	return all, into
}

func withoutExt(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

// UserFiles returns the user's existing files from which the client reads servers,
// strongest first.
func (c *Client) UserFiles(sys machine.System) []string {
	var out []string
	for _, l := range c.Layers {
		if l.users() {
			out = append(out, c.Files(l, sys, "", "")...)
		}
	}
	return out
}

// Places returns the locations of all files that affect what the client answers, except
// project files.
func (c *Client) Places(sys machine.System) []Place {
	var out []Place
	for _, l := range c.locations() {
		for _, p := range l.resolve(sys) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

func (c *Client) locations() []location {
	var out []location
	for _, l := range c.Layers {
		if l.Role != Project && l.Role != Variable {
			out = append(out, l.At)
		}
	}
	if c.Trust != nil && c.Trust.File != nil {
		out = append(out, *c.Trust.File)
	}
	for _, o := range c.Off {
		if o.File != nil {
			out = append(out, *o.File)
		}
	}
	return append(out, c.Also...)
}

// generalVars say where files are, also those of other programs.
var generalVars = []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"}

// Variables names all variables of the client, in order.
func (c *Client) Variables() []string {
	names := append(c.HomeVars(), c.Login...)
	for _, l := range c.Layers {
		names = append(names, l.Var, l.Unless)
	}
	if c.Trust != nil {
		names = append(names, c.Trust.Env, c.Trust.Quiet)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" || slices.Contains(generalVars, name) })
}

// HomeVars names the variables that say where the client's files are.
func (c *Client) HomeVars() []string {
	names := slices.Clone(generalVars)
	for _, l := range c.locations() {
		for _, dirs := range l.Dirs {
			for _, d := range dirs {
				if d.Env != "" && !slices.Contains(names, d.Env) {
					names = append(names, d.Env)
				}
			}
		}
	}
	return names
}

// Merge returns the entry that a merging client makes from an entry and a stronger one.
func Merge(weak, strong map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range weak {
		out[name] = v
	}
	for name, v := range strong {
		inner, ok := v.(map[string]any)
		if under, also := out[name].(map[string]any); ok && also {
			v = Merge(under, inner)
		}
		out[name] = v
	}
	return out
}

// SwitchesOff reports whether an off applies to an entry, and how it is spelled. get reads
// the file of the off.
func (o off) SwitchesOff(value map[string]any, get func(path ...string) (any, bool), project, server string) (bool, string) {
	fold := func(name string) string {
		if o.Fold {
			return strings.ToLower(strings.TrimSpace(name))
		}
		return name
	}
	if o.Field != "" {
		if o.File != nil {
			v, _ := get(fold(server))
			value, _ = v.(map[string]any)
		}
		v, ok := value[o.Field].(bool)
		return ok && v == o.Value, fmt.Sprintf("%s = %t", o.Field, o.Value)
	}
	p := forProject(o.Path, project)
	v, found := get(p...)
	if o.Identity {
		is, _ := get(append(slices.Clone(p), server, "identity")...)
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
		name, ok := x.(string)
		return ok && fold(name) == fold(server)
	})
	if o.Allow {
		return !listed && len(list) > 0, "not in " + strings.Join(o.Path, ".")
	}
	return listed, "in " + p[len(p)-1]
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
