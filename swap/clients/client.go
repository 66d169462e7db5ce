// Package clients is the table of agent CLIs: where each keeps its config, how it spells an entry,
// and how its own program is asked.
package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/machine"
)

// A Scope says where in a client's config a server is registered.
type Scope string

// Claude alone knows both scopes; for the others everything is ScopeUser.
const (
	ScopeUser    Scope = "user"
	ScopeProject Scope = "project" // claude's node of one project
)

// A Client is one row of the table: everything in which one agent CLI differs
// from another. To add a client, add a row and a fixture.
type Client struct {
	Name     string
	Aliases  []string
	Binaries []string // any of them on PATH; none: an application without one
	Editor   bool     // an application of the desktop, which need not be on PATH
	Config   location
	Kind     format.Kind
	// Scopes maps each scope to the ways to its container; an entry is edited
	// where it is found, and a new one goes to the first. The key
	// projectKey in a path stands for the project's.
	Scopes  map[Scope][][]string
	Parent  format.Object // what a missing project node is made of
	Seed    format.Object // first members of an empty file
	Dialect dialect
	Lock    string // suffix of the directory that the client makes as its own lock
	Expands bool   // expands $VAR in args
	Bare    bool   // passes servers little more of its environment than HOME and PATH
	Note    string // printed by detect where the config is there
	Off     []off
	Project []ProjectFile
	Trust   *trust
	Ask     *ask.Row   // how its program is queried; nil: it cannot be, offline
	Also    []location // other files that decide its answer
	Login   []string   // environment variables that override the stored login
}

// projectKey stands for the key of claude's project node in a container path.
const projectKey = "\x00project"

// A dialect is how a client spells an entry. An entry has, in this order:
// type, command, args, Extra, env.
type dialect struct {
	Type      string // written into new entries, and in place of a remote type
	Argv      bool   // command is one array: program and arguments
	Env       string // name of the env field; "" is "env"
	EnvAlways bool   // a new entry has it even if it is empty
	Extra     format.Object
}

// An off says how a config switches a server off.
type off struct {
	Field string   // of the entry; "" for a list of names
	Value bool     // of Field, that switches the entry off
	Path  []string // of a list of names in the config
	Allow bool     // the list names the servers that are on
}

// A ProjectFile is a config in the project's own directory that wins over the
// user's.
type ProjectFile struct {
	Path      string
	Kind      format.Kind
	Container []string
	Trusted   bool // read only in a folder that the client trusts
	Approved  bool // the client asks whether to take its entries
}

// A trust says where a client keeps the folders it trusts: a map from a folder
// to a word, or to an object with that word in Field.
type trust struct {
	File  *location // nil: the config itself
	Path  []string
	Field string
	Yes   []string // words that trust
	Gate  []string // a setting that switches the question on or off; nil: always asked
	Open  bool     // the question is not asked where Gate is not set
	Env   string   // a variable that, set to true, trusts every folder
	Needs string   // what an untrusted folder costs
}

// A location is a rule for where a file is. The first of the candidates whose
// variable is set is the directory; of several Files the first that exists.
type location struct {
	Dirs  map[string][]candidate // by GOOS, "" for all others
	Files []string               // slash-separated, in the directory, strongest first
}

// A candidate is a directory: that of an environment variable (only an
// absolute one, where AbsOnly), or a fixed one. "~" is the home directory.
type candidate struct {
	Env     string
	AbsOnly bool
	Dir     string
}

func at(files ...string) location {
	return location{Dirs: map[string][]candidate{"": {{Dir: "~"}}}, Files: files}
}

func under(env, dir string, files ...string) location {
	return location{Dirs: map[string][]candidate{"": {{Env: env}, {Dir: dir}}}, Files: files}
}

// perSystem is an application's directory where each system keeps those.
func perSystem(name, file string) location {
	return location{Dirs: map[string][]candidate{
		"":        {{Env: "XDG_CONFIG_HOME", AbsOnly: true, Dir: name}, {Dir: "~/.config/" + name}},
		"darwin":  {{Dir: "~/Library/Application Support/" + name}},
		"windows": {{Env: "APPDATA", Dir: name}, {Dir: "~/AppData/Roaming/" + name}},
	}, Files: []string{file}}
}

// Resolve lists the files that the rule names on a system, strongest first.
func (l location) Resolve(sys machine.System) []string {
	dirs, ok := l.Dirs[sys.GOOS]
	if !ok {
		dirs = l.Dirs[""]
	}
	for _, c := range dirs {
		dir := c.Dir
		if c.Env != "" {
			v := sys.Getenv(c.Env)
			if v == "" || c.AbsOnly && !filepath.IsAbs(v) {
				continue
			}
			dir = filepath.Join(v, filepath.FromSlash(c.Dir))
		} else if rest, ok := strings.CutPrefix(dir, "~"); ok {
			dir = filepath.Join(sys.Home, filepath.FromSlash(rest))
		}
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		files := make([]string, len(l.Files))
		for i, f := range l.Files {
			files[i] = filepath.Join(dir, filepath.FromSlash(f))
		}
		return files
	}
	return nil
}

// Scope returns s if the client knows it, else ScopeUser.
func (c *Client) Scope(s Scope) Scope {
	if _, ok := c.Scopes[s]; ok {
		return s
	}
	return ScopeUser
}

// ScopesInOrder lists the client's scopes, the winning one first.
func (c *Client) ScopesInOrder() []Scope {
	if len(c.Scopes) > 1 {
		return []Scope{ScopeProject, ScopeUser}
	}
	return []Scope{ScopeUser}
}

// Label returns how a client's scope is called in output.
func (c *Client) Label(s Scope) string {
	if len(c.Scopes) > 1 {
		return c.Name + ":" + string(s)
	}
	return c.Name
}

// Containers lists the ways to the container of a scope, for one project.
func (c *Client) Containers(s Scope, project string) [][]string {
	var out [][]string
	for _, path := range c.Scopes[s] {
		out = append(out, forProject(path, project))
	}
	return out
}

// forProject is a path with a project's key in it.
func forProject(path []string, project string) []string {
	path = slices.Clone(path)
	if i := slices.Index(path, projectKey); i >= 0 {
		path[i] = project
	}
	return path
}

// Names lists the names of all clients in the order of the table.
func Names() []string {
	names := make([]string, len(All))
	for i, c := range All {
		names[i] = c.Name
	}
	return names
}

// Lookup finds a client by its name or an alias.
func Lookup(name string) *Client {
	for _, c := range All {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// Binary returns the path of the client's program on PATH, or "".
func (c *Client) Binary() string {
	for _, name := range c.Binaries {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// ConfigPath returns the client's config file: the strongest that exists, else the one
// that would be read first.
func (c *Client) ConfigPath(sys machine.System) string {
	files := c.Config.Resolve(sys)
	for _, f := range files {
		if _, err := os.Lstat(f); err == nil {
			return f
		}
	}
	if len(files) == 0 {
		return ""
	}
	return files[0]
}

// HomeVars names the variables that say where the client's files are.
func (c *Client) HomeVars() []string {
	names := []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"}
	for _, l := range c.Locations() {
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

// Locations are the places of all files that decide what the client answers.
func (c *Client) Locations() []location {
	out := []location{c.Config}
	if c.Trust != nil && c.Trust.File != nil {
		out = append(out, *c.Trust.File)
	}
	return append(out, c.Also...)
}

// OnlySeed reports whether nothing is in a text but what a swap writes into an empty file besides its
// entry.
func (c *Client) OnlySeed(text []byte) bool {
	seed := map[string]any{}
	for _, f := range c.Seed {
		seed[f.Name] = f.Value
	}
	seeded, err := json.Marshal(seed)
	return err == nil && slices.Contains([]string{"", "{}", string(seeded)}, strings.Join(strings.Fields(string(text)), ""))
}

// SwitchesOff reports whether an off applies to an entry, and how it is spelled.
// get reads the config, and may be nil: then only the entry is looked at.
func (o off) SwitchesOff(value map[string]any, get func(path ...string) (any, bool), project, server string) (bool, string) {
	if o.Field != "" {
		v, ok := value[o.Field].(bool)
		return ok && v == o.Value, fmt.Sprintf("%s = %t", o.Field, o.Value)
	}
	if get == nil {
		return false, ""
	}
	p := forProject(o.Path, project)
	v, _ := get(p...)
	list, ok := v.([]any)
	if !ok {
		return false, ""
	}
	listed := slices.ContainsFunc(list, func(x any) bool { return x == server })
	if o.Allow {
		return !listed && len(list) > 0, "not in " + strings.Join(o.Path, ".")
	}
	return listed, "in " + p[len(p)-1]
}
