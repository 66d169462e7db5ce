package swap

import (
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
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
	Project []projectFile
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

// A projectFile is a config in the project's own directory that wins over the
// user's.
type projectFile struct {
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

// resolve lists the files the rule names, strongest first.
func (l location) resolve(sys System) []string {
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

// scope is s if the client knows it, else ScopeUser.
func (c *Client) scope(s Scope) Scope {
	if _, ok := c.Scopes[s]; ok {
		return s
	}
	return ScopeUser
}

// scopes lists the client's scopes, the winning one first.
func (c *Client) scopes() []Scope {
	if len(c.Scopes) > 1 {
		return []Scope{ScopeProject, ScopeUser}
	}
	return []Scope{ScopeUser}
}

// label is how a client's scope is called in output.
func (c *Client) label(s Scope) string {
	if len(c.Scopes) > 1 {
		return c.Name + ":" + string(s)
	}
	return c.Name
}

// containers lists the ways to the container of a scope, for one project.
func (c *Client) containers(s Scope, project string) [][]string {
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

// ClientNames lists the names of all clients in the order of the table.
func ClientNames() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.Name
	}
	return names
}

// lookupClient finds a client by its name or an alias.
func lookupClient(name string) *Client {
	for _, c := range clients {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}
