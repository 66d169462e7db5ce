package swap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/checkout"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/hint"
)

// SchemaVersion is the version of the documents that --json prints. A field
// that goes or changes its meaning raises it; a new one does not.
const SchemaVersion = 1

// Detection is what Detect finds, and the document of detect --json.
type Detection struct {
	Version int        `json:"version"`
	Clients []Detected `json:"clients"`
}

// Detected is one client of a [Detection].
type Detected struct {
	Client       string   `json:"client"`
	Present      bool     `json:"present"` // both of the next two; of an editor either, or its directory
	Installed    bool     `json:"-"`       // on PATH, or an editor that has its directory
	Binary       string   `json:"binary"`  // its path, "" if none is on PATH
	Binaries     []string `json:"binaries"`
	Config       string   `json:"config"`
	ConfigExists bool     `json:"config_exists"`
	Note         string   `json:"note,omitempty"`
}

// Detect reports which clients are installed.
func (s *Swapper) Detect() Detection {
	out := Detection{Version: SchemaVersion}
	for _, c := range clients.All {
		d := Detected{Client: c.Name, Present: s.present(c), Installed: s.installed(c), Binary: c.Binary(), Binaries: c.Binaries, Config: c.ConfigPath(s.Sys), Note: c.Note}
		if d.Binaries == nil {
			d.Binaries = []string{}
		}
		d.ConfigExists = s.hasConfig(c)
		out.Clients = append(out.Clients, d)
	}
	return out
}

// StatusOptions say what [Swapper.Status] looks at.
type StatusOptions struct {
	Repo    string
	Server  string // "": derived from the checkout
	Clients []string
	Scope   clients.Scope // "": all scopes
}

// Status is what each client runs, and the document of status --json.
type Status struct {
	Version  int           `json:"version"`
	Repo     string        `json:"repo"`
	Server   string        `json:"server"` // "" if it could not be derived
	NoServer error         `json:"-"`      // why it could not; then Clients is empty
	Clients  []ClientState `json:"clients"`
	Swaps    []Swap        `json:"swaps,omitempty"` // all that are recorded
}

// ClientState is one scope of one client.
type ClientState struct {
	Client  string        `json:"client"`
	Scope   clients.Scope `json:"scope"`
	Label   string        `json:"-"`
	Config  string        `json:"config"`
	Exists  bool          `json:"config_exists"`
	Found   bool          `json:"found"`
	Command []string      `json:"command,omitempty"` // program and arguments, without secrets
	Env     []string      `json:"env,omitempty"`     // names only: the values may be secrets
	Tag     *Tag          `json:"tag,omitempty"`
	// Shadows are the reasons why the client does not run this entry.
	Shadows []string `json:"shadows,omitempty"`
	Error   string   `json:"error,omitempty"`

	argv []string // Command as it is
	won  []string // the Shadows that are other entries
}

// Status reports what a server's name resolves to in each client and scope, and
// every recorded swap. A config that cannot be read is an Error of its client.
func (s *Swapper) Status(o StatusOptions) (*Status, error) {
	if err := checkScope(o.Scope); err != nil {
		return nil, err
	}
	clients, err := s.clients(o.Clients)
	if err != nil {
		return nil, err
	}
	st := &Status{Version: SchemaVersion, Clients: []ClientState{}}
	if st.Repo, st.Server, st.NoServer = repoAndServer(o.Repo, o.Server); st.NoServer != nil {
		if st.Repo, err = checkout.RealDir(o.Repo); err != nil {
			return nil, err
		}
	} else {
		st.Clients = s.states(clients, o.Scope, st.Repo, st.Server)
	}
	s.swaps(st, o, clients)
	return st, nil
}

// states reports what a server's name resolves to in some clients.
func (s *Swapper) states(clients []*clients.Client, only clients.Scope, repo, server string) []ClientState {
	out := []ClientState{}
	for _, c := range clients {
		_, missing := os.Lstat(c.ConfigPath(s.Sys))
		var doc *document
		var err error
		if missing == nil {
			doc, err = s.open(c)
		}
		for _, scope := range c.ScopesInOrder() {
			if only != "" && c.Scope(only) != scope {
				continue
			}
			cs := ClientState{Client: c.Name, Scope: scope, Label: c.Label(scope), Config: c.ConfigPath(s.Sys)}
			cs.Exists = missing == nil
			e := err
			if e == nil && cs.Exists {
				e = s.state(&cs, doc, scope, repo, server)
			}
			if e != nil {
				cs.Error = e.Error()
			}
			out = append(out, cs)
		}
	}
	return out
}

// repoAndServer finds the server's name; a name that is given needs no checkout.
func repoAndServer(repo, server string) (string, string, error) {
	if server == "" {
		co, err := checkout.Read(repo, "")
		if err != nil {
			return "", "", hint.Errorf(hint.Server, "no server is named, and the checkout does not name one: %w", err)
		}
		return co.Dir, co.Server, nil
	}
	real, err := checkout.RealDir(repo)
	return real, server, err
}

func (s *Swapper) state(cs *ClientState, doc *document, scope clients.Scope, repo, server string) error {
	c := doc.client
	project := checkout.ClaudeProject(repo)
	_, e, err := doc.find(scope, project, server)
	if err != nil {
		return err
	}
	if e.Found {
		cs.Found = true
		cs.argv = c.Dialect.ReadArgv(e.Value)
		cs.Command = ask.ShowArgs(cs.argv)
		for _, v := range c.Dialect.ReadEnv(e.Value) {
			cs.Env = append(cs.Env, v.Name)
		}
		tag := s.classify(cs.argv, e.Value, repo)
		tag.URL, tag.Package = ask.ShowURL(tag.URL), ask.ShowURL(tag.Package)
		cs.Tag = &tag
		for _, o := range c.Off {
			if off, how := o.SwitchesOff(e.Value, doc.doc.Get, project, server); off {
				cs.Shadows = append(cs.Shadows, "switched off: "+how)
			}
		}
	}
	trusted := s.trusts(doc, repo)
	if e.Found && trusted == distrusted && c.Trust.Needs != "" {
		cs.Shadows = append(cs.Shadows, fmt.Sprintf("untrusted folder: %s %s", c.Name, c.Trust.Needs))
	}
	if scope != clients.ScopeUser {
		return nil
	}
	for _, p := range c.Project {
		where := holder(p, repo, doc.target, server)
		switch {
		case where == "":
		case p.Trusted && trusted == distrusted:
			cs.won = append(cs.won, where+" has an entry of that name, which wins once the folder is trusted")
		case p.Approved:
			cs.won = append(cs.won, where+" has an entry of that name, which wins once it is approved")
		default:
			cs.won = append(cs.won, where+" has an entry of that name, which wins")
		}
	}
	if len(c.Scopes) > 1 && e.Found {
		if _, own, err := doc.find(clients.ScopeProject, project, server); err == nil && own.Found {
			cs.won = append(cs.won, "the project scope has an entry of that name, which wins")
		}
	}
	cs.Shadows = append(cs.Shadows, cs.won...)
	return nil
}

// holder returns the file of a repository, from the directory itself up to the
// top of its work tree, that has an entry for a server; "" if none has.
func holder(p clients.ProjectFile, repo, own, server string) string {
	top := repo
	if r, ok := checkout.FindRepo(repo); ok {
		top = r.Top
	}
	for dir := repo; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, filepath.FromSlash(p.Path))
		if target, err := filepath.EvalSymlinks(name); err == nil && target != own {
			if doc, err := parseFile(target, p.Kind); err == nil {
				if e, err := doc.Lookup(p.Container, server); err == nil && e.Found {
					return name
				}
			}
		}
		if dir == top || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

type trustAnswer int

const (
	trustUnknown trustAnswer = iota // the client has not asked yet, or never does
	trustGiven
	distrusted
)

// trusts reports whether a client trusts a directory, by the nearest directory
// above it that the client has recorded.
func (s *Swapper) trusts(doc *document, repo string) trustAnswer {
	t := doc.client.Trust
	if t == nil {
		return trustUnknown
	}
	if t.Gate != nil {
		if on, ok := doc.doc.Get(t.Gate...); on == false || !ok && t.Open {
			return trustUnknown
		}
	}
	if t.Env != "" && s.Sys.Getenv(t.Env) == "true" {
		return trustGiven
	}
	from := doc.doc
	if t.File != nil {
		var err error
		if from, err = parseFile(t.File.Resolve(s.Sys)[0], format.JSONC); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return distrusted
			}
			return trustUnknown
		}
	}
	for dir := repo; ; dir = filepath.Dir(dir) {
		path := append(slices.Clone(t.Path), dir)
		if t.Field != "" {
			path = append(path, t.Field)
		}
		if v, ok := from.Get(path...); ok {
			if word, ok := v.(string); ok && slices.Contains(t.Yes, word) {
				return trustGiven
			}
			return distrusted
		}
		if dir == filepath.Dir(dir) {
			return distrusted
		}
	}
}

func parseFile(path string, kind format.Kind) (*format.Doc, error) {
	text, _, err := atomicfile.Disk{}.Read(path)
	if err != nil {
		return nil, err
	}
	return format.Parse(kind, text)
}
