// Package clients is the table of agent CLIs: where each keeps its config, how it spells an
// entry, and how its own program is queried.
package clients

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/hint"
)

// A Scope says for whom, and so where, a server is registered.
type Scope string

// Scopes. Claude has both in its config; others read a file in the project, if any.
const (
	ScopeUser    Scope = "user"
	ScopeProject Scope = "project"
)

// Check returns an error for an invalid scope. "" means all scopes, or the default.
func (s Scope) Check() error {
	if s != "" && s != ScopeUser && s != ScopeProject {
		return hint.Usagef("--scope %q is neither user nor project%s", string(s), nearest.Meant(string(s), []string{string(ScopeUser), string(ScopeProject)}))
	}
	return nil
}

// All is the table of all agent CLIs, in the order of all output.
var All = sync.OnceValue(readTable)

//go:embed clients.toml
var table []byte

func readTable() []*Client {
	var doc struct{ Client []*Client }
	if err := toml.NewDecoder(bytes.NewReader(table)).DisallowUnknownFields().Decode(&doc); err != nil {
		panic("clients.toml: " + err.Error())
	}
	return doc.Client
}

// A Client is one row of the table: everything that distinguishes an agent CLI from others.
type Client struct {
	Name     string
	Aliases  []string
	Binaries []string // any of them on PATH; none: an application without one
	Sole     bool     // no other program has its name
	Editor   bool     // a desktop application, which need not be on PATH
	Layers   []Layer  // where it reads servers, strongest first
	// Merges is set if it reads all its layers and merges entries of the same name field by
	// field. Other clients read one config of the user's, and take an entry from one layer.
	Merges bool
	// Made is the project file that a swap creates for the project scope; if "", the
	// strongest project file that the client reads, if any.
	Made string
	// Makes is set if it creates its config itself, with more than servers in it.
	Makes bool
	Kind  format.Kind // of all layers
	NoBOM bool        // it cannot read a byte order mark
	// Scopes maps each scope in the config to the paths of its container. An entry is
	// edited where it is found, and a new one goes to the first. In a path, projectKey
	// stands for the project's key.
	Scopes map[Scope][][]string
	// Map is set if a project file without that container is itself one, as long as it has
	// a server. The user's config is not.
	Map     bool
	Server  nameRule      // which names of servers it takes
	Parent  format.Object // what a missing project node is created with
	Seed    format.Object // first members of an empty file
	Dialect dialect
	Lock    string // suffix of the directory that the client creates as its own lock
	Locked  string // file beside the config that the client locks while it writes
	Expand  []Expansion
	Literal bool // it expands nothing in fields that Expand does not name
	Shell   bool // joins command and args, and passes that to a shell
	// Passes names the variables of its environment that it passes to servers, with those in
	// the list that is the field PassesAlso of the entry; nil: all.
	Passes     []string
	PassesAlso string
	Vars       []varFile
	// EnvFile is the field that names a file with variables, which those in the entry's
	// environment override. Stored is a list of variables in a store of the client's own, which
	// those in its environment override.
	EnvFile, Stored string
	EmptyPath       bool   // an empty PATH in an entry counts as none
	NoCwd           bool   // it starts servers where it was started, whatever an entry's cwd says
	FromStart       bool   // a relative cwd is below the directory where it was started
	Workspace       string // stands for the project's directory in an entry there
	Note            string // printed by detect if the config exists
	Off             []off
	// Settings are the files with its other settings, strongest first; nil: its Layers.
	Settings []Layer
	// Respelled are other names of those settings.
	Respelled respellings
	Trust     *trust
	Approval  *approval
	Ask       *ask.Row // how to query its program; nil: not possible offline
	Login     []string // environment variables that override the stored login
}

// projectKey stands for the key of claude's project node in a container path.
const projectKey = "\x00project"

// A dialect is how a client spells an entry. The fields of an entry are, in order: type,
// command, args, Extra, env.
type dialect struct {
	Type      string            // written into new entries, and replacing a remote type
	Argv      bool              // command is one array: program and arguments
	Names     map[string]string // its other names for type, command and env
	EnvAlways bool              // a new entry has env even if it is empty
	// Inner is a member that may be an object containing the command: cline's transport,
	// and command as zed once spelled it, where path is the program.
	Inner string
	Zed   bool     // an entry has source if an extension runs it
	Types []string // accepted types of a command, "" for no type; nil: any, or unknown
	// Remotes are the accepted types of an address, likewise.
	Remotes []string
	Needs   []string // fields without which it ignores an entry with a command
	// Strict lists the fields of which it checks that they are, or consist of, strings. Whole
	// is set if it then refuses its whole config, not only the entry, unless the entry has
	// Toggle: to the client such an entry only switches on or off one of another config.
	// Fields are others that it checks likewise, with their kinds: see kinds.
	Strict []string
	Fields map[string]string
	Whole  bool
	Skips  bool // of a project, it then skips only the file: kilo 7.7.7
	Toggle string
	// Syntax is set if it refuses its whole config because of broken syntax in any of its files.
	Syntax bool
	// NotCommand and NotAddress are fields that it does not accept beside a command, or an
	// address.
	NotCommand, NotAddress []string
	// Both says which it uses if an entry has a command and an address: "url"; "type", what the
	// type says; "untyped", the same, and the address without a type; "refused"; or "", the command.
	Both  string
	URLs  []string // fields for an address, of which the first counts; nil: URL
	Extra format.Object
	// URL is the field for a remote server's address, and HTTP the type of its entry, if
	// any: as written by "mcp add" of claude 2.1.332, codex 0.171, gemini 0.61, opencode
	// 1.18, qwen 0.24, copilot 1.0.102, amp 0.0.179, grok 1.0.41 and auggie 0.36, or as
	// documented for the others. "": the config has no remote servers, or it is unknown.
	URL, HTTP string
}

// An off is a way to switch off a server: a field of its entry, or a setting.
type off struct {
	Field  string // in the entry, or in an object with the server's name in File
	Value  bool   // value of Field that switches the entry off
	Unless string // a field that decides instead, if the entry has it
	File   *location
	// Path is the path of a list of names, which is read in File, else in the config if
	// Config is set, else in all files with settings.
	Path   []string
	Config bool
	Allow  bool   // the list names the servers that are on
	Joined bool   // such lists in several files are read as one
	Only   string // a setting of the administrator's: only that file's list counts
	Fold   bool   // names are compared in lower case
	Glob   bool   // names in the list may contain * and ?
	// Servers is set if the list contains objects with the name, command or URL of a server.
	Servers bool
	// Rules is set if the list contains rules. The first one that matches the entry allows
	// or rejects it.
	Rules bool
	// Identity is set if Path is instead an object with the command or address of each
	// server that is on.
	Identity bool
}

// A trust says where a client keeps the folders it trusts: a list of them, or a map from a
// folder to a word, or to an object with that word in Field.
type trust struct {
	File  *location // nil: the config itself
	Path  []string
	Field string
	Yes   []string // words that mean trust, or true
	Gate  []string // a setting that switches the question on or off; nil: it is always asked
	Open  bool     // the question is not asked if Gate is not set
	Env   string   // a variable that, set to true, trusts every folder
	Quiet string   // a variable that, set to 0 or false, switches the question off
	Needs string   // what an untrusted folder costs
	// Foreign are other clients' files that it reads too, as JSON. In an untrusted folder it
	// starts no server of a name in them, not even its own.
	Foreign []Layer
}

// Parse parses a config as the client would.
func (c *Client) Parse(text []byte) (*format.Doc, error) {
	if c.NoBOM && bytes.HasPrefix(text, []byte(format.BOM)) {
		return nil, &format.SyntaxError{Line: 1, Column: 1, Msg: "a byte order mark, which " + c.Name + " cannot read"}
	}
	return format.Parse(c.Kind, text)
}

// InFiles reports whether the entries of a scope are in project files.
func (c *Client) InFiles(s Scope) bool {
	_, inConfig := c.Scopes[s]
	return s == ScopeProject && !inConfig
}

// ScopesInOrder lists the scopes in the client's config, beginning with the one that takes
// precedence, which a swap uses by default.
func (c *Client) ScopesInOrder() []Scope {
	if len(c.Scopes) > 1 {
		return []Scope{ScopeProject, ScopeUser}
	}
	return []Scope{ScopeUser}
}

// Label returns the name of a client's scope in output.
func (c *Client) Label(s Scope) string {
	if len(c.Scopes) > 1 || c.InFiles(s) {
		return c.Name + ":" + string(s)
	}
	return c.Name
}

// Containers returns the paths that the container of a scope may have, for one project. A
// project file has the same ones as the user's config, and may be a container itself.
func (c *Client) Containers(s Scope, project string) [][]string {
	var out [][]string
	inFiles := c.InFiles(s)
	if inFiles {
		s = ScopeUser
	}
	for _, path := range c.Scopes[s] {
		out = append(out, ForProject(path, project))
	}
	if inFiles && c.Map {
		out = append(out, []string{})
	}
	return out
}

// IsContainer reports whether a path is one of the user's containers: one may be a member of
// another, as mcp.servers is of mcp.
func IsContainer(c *Client, path []string) bool {
	return slices.ContainsFunc(c.Scopes[ScopeUser], func(of []string) bool { return slices.Equal(of, path) })
}

// ContainersIn returns the [Client.Containers] that count in a config.
func (c *Client) ContainersIn(doc *format.Doc, s Scope, project string) [][]string {
	all := c.Containers(s, project)
	if !c.InFiles(s) || !c.Map {
		return all
	}
	last := len(all) - 1
	if c.Dialect.isMap(doc, all[:last]) {
		return all[last:]
	}
	return all[:last]
}

// isMap reports whether a config has none of the containers, but servers.
func (d dialect) isMap(doc *format.Doc, containers [][]string) bool {
	for _, path := range containers {
		if _, ok := doc.Get(path[0]); ok {
			return false
		}
	}
	root, _ := doc.Get()
	members, _ := root.(map[string]any)
	for _, v := range members {
		value, _ := v.(map[string]any)
		if len(d.Runs(value)) > 0 {
			return true
		}
	}
	return false
}

// ForProject returns a path with a project's key in it.
func ForProject(path []string, project string) []string {
	path = slices.Clone(path)
	if i := slices.Index(path, projectKey); i >= 0 {
		path[i] = project
	}
	return path
}

// Names returns the names of all clients in table order.
func Names() []string {
	names := make([]string, len(All()))
	for i, c := range All() {
		names[i] = c.Name
	}
	return names
}

// Lookup finds a client by name or alias.
func Lookup(name string) *Client {
	for _, c := range All() {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// Index returns the index of a client in the table, or -1.
func Index(name string) int {
	return slices.IndexFunc(All(), func(c *Client) bool { return c.Name == name })
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

// OnlySeed reports whether a text contains nothing but what a swap writes into an empty file in
// addition to its entry.
func (c *Client) OnlySeed(text []byte) bool {
	seed := map[string]any{}
	for _, f := range c.Seed {
		seed[f.Name] = f.Value
	}
	seeded, err := json.Marshal(seed)
	return err == nil && slices.Contains([]string{"", "{}", string(seeded)}, strings.Join(strings.Fields(string(text)), ""))
}
