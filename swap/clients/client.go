// Package clients is the table of agent CLIs: where each keeps its config, how it spells an entry,
// and how its own program is asked.
package clients

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
)

// A Scope says for whom a server is registered, and so where.
type Scope string

// The scopes. Claude has both in its config; those of the others that know a project read
// a file in it.
const (
	ScopeUser    Scope = "user"
	ScopeProject Scope = "project"
)

// A Client is one row of the table: everything in which one agent CLI differs
// from another. To add a client, add a row and a fixture.
type Client struct {
	Name     string
	Aliases  []string
	Binaries []string // any of them on PATH; none: an application without one
	Editor   bool     // an application of the desktop, which need not be on PATH
	Layers   []Layer  // where it reads servers, strongest first
	// Merges: it reads all its layers and merges entries of one name field by field.
	// The others read one config of the user's, and take an entry from one layer.
	Merges bool
	// Made is the file of a project that a swap makes for the project scope; "" is the
	// strongest of those that the client reads, if it reads any.
	Made string
	// Makes: it makes its config itself, with more than servers in it.
	Makes bool
	Kind  format.Kind // of all layers
	NoBOM bool        // it cannot read a byte order mark
	// Scopes maps each scope in the config to the ways to its container; an entry is edited
	// where it is found, and a new one goes to the first. The key
	// projectKey in a path stands for the project's.
	Scopes  map[Scope][][]string
	Parent  format.Object // what a missing project node is made of
	Seed    format.Object // first members of an empty file
	Dialect dialect
	Lock    string // suffix of the directory that the client makes as its own lock
	Locked  string // file beside the config that the client locks while it writes
	Expands bool   // expands $VAR in args
	Shell   bool   // joins command and args, and has a shell read that
	Bare    bool   // passes servers little more of its environment than HOME and PATH
	Note    string // printed by detect where the config is there
	Off     []off
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
	Type      string            // written into new entries, and in place of a remote type
	Argv      bool              // command is one array: program and arguments
	Names     map[string]string // of type, command and env, where it has others for them
	EnvAlways bool              // a new entry has it even if it is empty
	// Inner is a member that may be an object with the command in it: cline's transport,
	// and command as zed once spelled it, where path is the program.
	Inner string
	// Zed drops an entry without args; one has source, too, if an extension runs it.
	Zed   bool
	Extra format.Object
	// URL is the field of a remote server's address, and HTTP the type of its entry, if it
	// has one: as "mcp add" of claude 2.1.330, codex 0.169, gemini 0.61, opencode 1.18, qwen
	// 0.15, copilot 1.0.102 and amp 0.0.179 writes them, or as the others document them.
	// "": the config has no remote servers, or it is not known.
	URL, HTTP string
}

// An off is a way to switch a server off.
type off struct {
	Field string    // of the entry, or of an object with the server's name in File; "" for a list of names
	Value bool      // of Field, that switches the entry off
	File  *location // nil: the config
	Path  []string  // of a list of names
	Allow bool      // the list names the servers that are on
	// Rules: the list has rules, of which the first that matches the entry allows or rejects it.
	Rules bool
	// Identity: Path is an object instead, which has the command or address of each server
	// that is on.
	Identity bool
	Fold     bool // names are compared in lower case
}

// A trust says where a client keeps the folders it trusts: a list of them, or a map
// from a folder to a word, or to an object with that word in Field.
type trust struct {
	File  *location // nil: the config itself
	Path  []string
	Field string
	Yes   []string // words that trust, or true
	Gate  []string // a setting that switches the question on or off; nil: always asked
	Open  bool     // the question is not asked where Gate is not set
	Env   string   // a variable that, set to true, trusts every folder
	Quiet string   // a variable that, set to 0 or false, switches the question off
	Needs string   // what an untrusted folder costs
}

// Parse reads a config of the client as the client would.
func (c *Client) Parse(text []byte) (*format.Doc, error) {
	if c.NoBOM && bytes.HasPrefix(text, []byte(format.BOM)) {
		return nil, &format.SyntaxError{Line: 1, Column: 1, Msg: "a byte order mark, which " + c.Name + " cannot read"}
	}
	return format.Parse(c.Kind, text)
}

// InFiles reports whether the entries of a scope are in files of the project.
func (c *Client) InFiles(s Scope) bool {
	_, inConfig := c.Scopes[s]
	return s == ScopeProject && !inConfig
}

// ScopesInOrder lists the scopes in the client's config, the winning one first. It is the
// one that a swap takes by default.
func (c *Client) ScopesInOrder() []Scope {
	if len(c.Scopes) > 1 {
		return []Scope{ScopeProject, ScopeUser}
	}
	return []Scope{ScopeUser}
}

// Label returns how a client's scope is called in output.
func (c *Client) Label(s Scope) string {
	if len(c.Scopes) > 1 || c.InFiles(s) {
		return c.Name + ":" + string(s)
	}
	return c.Name
}

// Containers lists the ways to the container of a scope, for one project. A file of the
// project has those of the user's.
func (c *Client) Containers(s Scope, project string) [][]string {
	var out [][]string
	if c.InFiles(s) {
		s = ScopeUser
	}
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
