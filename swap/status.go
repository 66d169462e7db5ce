package swap

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/hint"
	"tmuxmcp/swap/journal"
)

// Detected is what Detect finds about one client.
type Detected struct {
	Client       string   `json:"client"`
	Present      bool     `json:"present"` // installed and with a config; either, for an editor
	Installed    bool     `json:"-"`       // on PATH, or an editor whose directory exists
	Binary       string   `json:"binary"`  // its path, "" if none is on PATH
	Binaries     []string `json:"binaries"`
	Config       string   `json:"config"`
	ConfigExists bool     `json:"config_exists"`
	Note         string   `json:"note,omitempty"`
}

// Detect reports which clients are installed.
func (s *Swapper) Detect() []Detected {
	var out []Detected
	for _, c := range clients.All {
		out = append(out, Detected{
			Client: c.Name, Present: s.present(c), Installed: s.installed(c), Binary: c.Binary(), Binaries: append([]string{}, c.Binaries...),
			Config: s.config(c), ConfigExists: s.hasConfig(c), Note: c.Note,
		})
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

// Status is what each client runs.
type Status struct {
	Repo     string
	Server   string // "" if it could not be derived
	NoServer error  // why not; Clients is then empty
	Clients  []ClientState
	Swaps    []Swap // all that are recorded
}

// ClientState is one scope of one client.
type ClientState struct {
	Client  string        `json:"client"`
	Scope   clients.Scope `json:"scope,omitempty"`
	Label   string        `json:"-"`
	Config  string        `json:"config"`
	Exists  bool          `json:"config_exists"`
	Found   bool          `json:"found"`
	Command []string      `json:"command,omitempty"` // program and arguments, without secrets
	Env     []string      `json:"env,omitempty"`     // names only: the values may be secrets
	Tag     *Tag          `json:"tag,omitempty"`
	// Shadows are the reasons why the client does not run this entry.
	Shadows []string `json:"shadows,omitempty"`
	// Merged says what the client adds to this entry from weaker files.
	Merged []string `json:"merged,omitempty"`
	Error  string   `json:"error,omitempty"`

	value map[string]any   // the entry as the client reads it
	argv  []string         // Command, with secrets
	env   []clients.EnvVar // Env with the values
	won   []string         // Shadows that are other entries
	when  string           // condition on which the client reads the file, if it is a project file
	ours  bool             // it is as written by UseLocal

	target    string
	container []string
	server    string
}

// inFiles reports whether the entry is in a project file.
func (cs *ClientState) inFiles() bool {
	c := clients.Lookup(cs.Client)
	return c != nil && c.InFiles(cs.Scope)
}

// Status reports what a server's name resolves to in each client and scope, and every
// recorded swap. If a config cannot be read, the client has an Error.
func (s *Swapper) Status(o StatusOptions) (*Status, error) {
	if err := checkScope(o.Scope); err != nil {
		return nil, err
	}
	clients, err := s.clients(o.Clients)
	if err != nil {
		return nil, err
	}
	st := &Status{Clients: []ClientState{}}
	if st.Repo, st.Server, st.NoServer = repoAndServer(o.Repo, o.Server); st.Repo == "" {
		return nil, st.NoServer
	}
	if st.NoServer == nil {
		st.Clients = s.states(clients, o.Scope, st.Repo, st.Server)
	}
	s.swaps(st, o, clients)
	return st, nil
}

// states reports what a server's name resolves to in some clients.
func (s *Swapper) states(clients []*clients.Client, only clients.Scope, repo, server string) []ClientState {
	out := []ClientState{}
	var records []journal.Record
	if st, err := s.Journal.Load(); err == nil {
		records = st.Records
	}
	for _, c := range clients {
		doc, err := s.openFor(c, checkout.ClaudeProject(repo), server)
		config := s.config(c)
		if doc != nil {
			config = doc.config
		}
		if cs, ok := s.projectState(c, only, records, repo, server); ok {
			out = append(out, cs)
		}
		for _, scope := range c.ScopesInOrder() {
			if only != "" && only != scope {
				continue
			}
			cs := ClientState{Client: c.Name, Scope: scope, Label: c.Label(scope), Config: config, Exists: !missing(config)}
			e := err
			if e == nil {
				e = s.state(&cs, doc, scope, repo, server)
			}
			for i := range records {
				cs.given(c, &records[i], server)
			}
			if e != nil && cs.Exists {
				cs.Error = e.Error()
			}
			out = append(out, cs)
		}
	}
	return out
}

// projectState reports on project files if one was swapped or only they are asked about.
// Other project files with an entry are in the user's [ClientState.Shadows].
func (s *Swapper) projectState(
	c *clients.Client, only clients.Scope, records []journal.Record, repo, server string,
) (cs ClientState, ok bool) {
	scope := clients.ScopeProject
	if only == clients.ScopeUser || !c.InFiles(scope) {
		return cs, false
	}
	doc, file, err := s.openProject(c, repo, server, true)
	if errors.Is(err, errNoProject) {
		return cs, false
	}
	cs = ClientState{Client: c.Name, Scope: scope, Label: c.Label(scope), Config: file, Exists: !missing(file)}
	if doc != nil {
		err = s.state(&cs, doc, scope, repo, server)
	}
	if err != nil {
		cs.Error = err.Error()
	}
	ok = only == scope
	for i := range records {
		cs.given(c, &records[i], server)
		ok = ok || records[i].Same(cs.target, cs.container, server)
	}
	return cs, ok
}

// repoAndServer determines the server's name; a given name needs no checkout. The directory
// is "" if it does not exist.
func repoAndServer(repo, server string) (string, string, error) {
	real, err := checkout.RealDir(repo)
	if err != nil || server != "" {
		return real, server, err
	}
	co, err := checkout.Read(real, "")
	if err != nil {
		return real, "", unnamed(err)
	}
	return real, co.Server, nil
}

func unnamed(err error) error {
	return hint.Advise(fmt.Errorf("no server is named, and the checkout does not name one: %w", err), "name it with --server")
}

// state completes what is known about an entry in one scope of a config.
func (s *Swapper) state(cs *ClientState, doc *document, scope clients.Scope, repo, server string) error {
	c := doc.client
	project := checkout.ClaudeProject(repo)
	container, e, err := doc.find(scope, project, server)
	if err != nil {
		return err
	}
	cs.target, cs.container = doc.target, container
	places, unread := s.places(doc, scope, repo, server)
	settings := s.settings(doc, scope)
	places = s.approvals(c, settings, places, repo, server)
	at := slices.IndexFunc(places, func(p entryAt) bool { return p.where == doc.config })
	trusted := s.trusts(c, settings, repo)
	if e.Found {
		cs.Found, cs.value = true, e.Value
		if c.Merges && at >= 0 {
			cs.mergeWeaker(e.Value, places[at+1:])
		}
		s.describe(cs, c, repo)
		cs.Shadows = slices.Concat(c.Faults(cs.value, ""), s.refused(c, repo, server), s.switchedOff(c, settings, cs.value, repo, server))
		cs.Shadows = append(cs.Shadows, s.cannotStart(cs, c, scope, repo)...)
		if why := unpublished(cs.argv, cs.value, repo); why != "" {
			cs.Shadows = append(cs.Shadows, why)
		}
		cs.Shadows = slices.Concat(cs.Shadows, s.readsOnly(c), unread)
		file := c.InFiles(scope) && at >= 0
		if by := s.hidden(c, doc.config, repo); file && by != "" {
			cs.Shadows = append(cs.Shadows, fmt.Sprintf("%s is there, and %s then does not read %s", by, c.Name, doc.config))
		}
		if file {
			if why := places[at].waits(c, server); why != "" {
				cs.Shadows = append(cs.Shadows, why)
			}
		}
		switch {
		case trusted == distrusted && c.Trust.Needs != "":
			cs.Shadows = append(cs.Shadows, fmt.Sprintf(untrusted+"%s %s"+untilTrusted, c.Name, c.Trust.Needs))
		case trusted == distrusted && file && places[at].layer.Trusted:
			cs.Shadows = append(cs.Shadows, fmt.Sprintf(untrusted+"%s does not read %s"+untilTrusted, c.Name, doc.config))
		case file:
			cs.when = places[at].layer.When
		}
	}
	switch {
	case scope != clients.ScopeUser && (!c.InFiles(scope) || at < 0):
		return nil
	case at >= 0:
		cs.compete(c, places[:at], trusted)
	default:
		// None of them is this one: what is stronger than the user's config wins.
		below := slices.IndexFunc(places, func(p entryAt) bool { return p.below })
		if below < 0 {
			below = len(places)
		}
		cs.compete(c, places[:below], trusted)
		for _, p := range places[below:] {
			cs.Merged = append(cs.Merged, p.where+" has an entry of that name, which is weaker than one here")
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

// refused lists the entries of other servers because of which the client refuses its whole
// config.
func (s *Swapper) refused(c *clients.Client, repo, server string) (out []string) {
	if !c.Dialect.Whole {
		return nil
	}
	s.others(c, repo, server, func(in held, name string, value map[string]any) {
		if flat := c.Dialect.Flat(value); c.RefusesAll(flat) {
			out = append(out, c.Faults(flat, fmt.Sprintf("%q in %s", name, in.doc.config))...)
		}
	})
	return out
}

// cannotStart says what of the entry itself keeps the client from starting the server, if the
// tag does not.
func (s *Swapper) cannotStart(cs *ClientState, c *clients.Client, scope clients.Scope, repo string) []string {
	if len(cs.argv) == 0 || cs.Tag.Missing {
		return nil
	}
	st, err := s.startOf(c, scope, cs.value, repo)
	if err == nil {
		err = st.Look()
	}
	var unclear *clients.UnclearError
	if err == nil || errors.As(err, &unclear) {
		return nil
	}
	return []string{err.Error()}
}

// mergeWeaker adds to the entry what the client adds to it from weaker places.
func (cs *ClientState) mergeWeaker(own map[string]any, weaker []entryAt) {
	for _, p := range weaker {
		cs.value = format.Merge(p.value, cs.value)
		if added := differing(own, format.Merge(p.value, own)); len(added) > 0 {
			cs.Merged = append(cs.Merged, fmt.Sprintf("%s adds to it: %s", p.where, strings.Join(added, ", ")))
		}
	}
}

// describe reads the command and the environment of the entry, and tags it.
func (s *Swapper) describe(cs *ClientState, c *clients.Client, repo string) {
	cs.value = c.Dialect.Flat(cs.value)
	cs.argv = c.Dialect.ReadArgv(cs.value)
	cs.Command = ask.ShowArgs(cs.argv)
	cs.env = c.Dialect.ReadEnv(cs.value)
	for _, v := range cs.env {
		cs.Env = append(cs.Env, v.Name)
	}
	tag := s.classify(cs.argv, cs.value, repo)
	tag.URL, tag.Package = ask.ShowURL(tag.URL), ask.ShowURL(tag.Package)
	cs.Tag = &tag
}

// readsOnly lists the places because of which a client reads no other.
func (s *Swapper) readsOnly(c *clients.Client) (out []string) {
	for _, l := range c.Layers {
		if files := c.Files(l, s.Sys, "", ""); l.Alone && len(files) > 0 {
			out = append(out, fmt.Sprintf("%s is there, and %s then reads no other file", files[0], c.Name))
		} else if l.Alone && s.Sys.Getenv(l.Var) != "" {
			out = append(out, fmt.Sprintf("$%s is set, and %s then reads no file", l.Var, c.Name))
		}
	}
	return out
}

// compete adds to won the entries in stronger places, unless merging them changes nothing.
func (cs *ClientState) compete(c *clients.Client, stronger []entryAt, trusted trustAnswer) {
	for _, p := range stronger {
		text := p.where + " has an entry of that name, which wins"
		if c.Merges {
			changed := differing(cs.value, format.Merge(cs.value, p.value))
			if len(changed) == 0 {
				continue
			}
			text += " in " + strings.Join(changed, ", ")
		}
		switch {
		case p.layer.Trusted && trusted == distrusted:
			text += " once the folder is trusted"
		case p.layer.When != "":
			text += " " + p.layer.When
		case p.asked == clients.Waiting && c.Approval.Keeps:
			text += " once it is approved"
		case p.asked == clients.Waiting, p.asked == clients.Rejected:
			text += ", but is not approved: no server of that name runs"
		}
		cs.won = append(cs.won, text)
	}
}

const untrusted = "untrusted folder: "

const untilTrusted = " until you start it there once, and trust the folder"

type trustAnswer int

const (
	trustUnknown trustAnswer = iota // the client has not asked yet, or never does
	trustGiven
	distrusted
)

// trusts reports whether a client trusts a directory, according to the nearest directory,
// at or above it, that the client has recorded.
func (s *Swapper) trusts(c *clients.Client, settings *format.Doc, repo string) trustAnswer {
	t := c.Trust
	if t == nil {
		return trustUnknown
	}
	if t.Gate != nil {
		if on, ok := settings.Get(t.Gate...); on == false || !ok && t.Open {
			return trustUnknown
		}
	}
	if slices.Contains([]string{"0", "false"}, s.Sys.Getenv(t.Quiet)) {
		return trustUnknown
	}
	if t.Env != "" && s.Sys.Getenv(t.Env) == "true" {
		return trustGiven
	}
	from := settings
	if t.File != nil {
		var err error
		if from, err = parseFile(t.File.File(s.Sys), c.Parse); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return distrusted
			}
			return trustUnknown
		}
	}
	listed, _ := from.Get(t.Path...)
	list, _ := listed.([]any)
	for dir := repo; ; dir = filepath.Dir(dir) {
		if slices.Contains(list, any(dir)) {
			return trustGiven
		}
		path := append(slices.Clone(t.Path), dir)
		if t.Field != "" {
			path = append(path, t.Field)
		}
		if v, ok := from.Get(path...); ok {
			if slices.Contains(t.Yes, fmt.Sprint(v)) {
				return trustGiven
			}
			return distrusted
		}
		if dir == filepath.Dir(dir) {
			return distrusted
		}
	}
}

func parseFile(path string, parse func([]byte) (*format.Doc, error)) (*format.Doc, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	text, _, err := atomicfile.Disk{}.Read(target)
	if err != nil {
		return nil, err
	}
	return parse(text)
}
