package configs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// A State is what an entry is in one scope of one client.
type State struct {
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
	// Effective is what the client uses instead of this entry, because it reads stronger files
	// too and merges them; nil if that changes nothing.
	Effective *Effective `json:"effective,omitempty"`
	// OtherNames are the client's entries of other names that run this server, if it has none of this
	// name. Instead says so, or names one that is spelled like it.
	OtherNames []string `json:"other_names,omitempty"`
	Instead    string   `json:"-"`
	// Stale says that the checkout was edited after what the entry runs was built.
	Stale string `json:"stale,omitempty"`
	Error string `json:"error,omitempty"`

	Value map[string]any `json:"-"` // the entry as the client reads it
	Argv  []string       `json:"-"` // Command, with secrets
	Won   []string       `json:"-"` // Shadows that are other entries
	// Meant are Shadows that the user may have intended, or that may exist only here and now.
	Meant     []string `json:"-"`
	When      string   `json:"-"` // condition on which the client reads the file, if it is a project file
	AsSwapped bool     `json:"-"` // it is as written by UseLocal

	target    string
	container []string
}

// Given compares the entry with a record, and corrects its tag if it runs a command that was given to
// UseLocal.
func (cs *State) Given(c *clients.Client, r *journal.Record, server string) {
	if !cs.Found || !r.Same(cs.target, cs.container, server) {
		return
	}
	wrote := c.Dialect.Flat(r.Writes[len(r.Writes)-1].Value)
	cs.AsSwapped = format.Equal(cs.Value, wrote)
	if !r.Given || len(cs.Argv) == 0 || !slices.Equal(cs.Argv, c.Dialect.ReadArgv(wrote)) {
		return
	}
	t := &Tag{Kind: TagCommand, Path: commands.Starts(cs.Argv, cs.Value, "").Place, ThisRepo: cs.Tag.ThisRepo, By: r.By}
	if t.Path == "" && filepath.IsAbs(cs.Argv[0]) {
		t.Path = cs.Argv[0]
	}
	t.look()
	cs.Tag = t
}

// InFiles reports whether the entry is in a project file.
func (cs *State) InFiles() bool {
	c := clients.Lookup(cs.Client)
	return c != nil && c.InFiles(cs.Scope)
}

// States returns what a server's name resolves to in these clients, in all scopes or only one.
func States(env Env, clients []*clients.Client, only clients.Scope, repo, server string) []State {
	out := []State{}
	var records []journal.Record
	if st, err := env.Recorded(); err == nil {
		records = st.Records
	}
	for _, c := range clients {
		doc, err := OpenFor(env, c, env.Project(repo), server)
		config := NamedPath(env.Sys, c)
		if doc != nil {
			config = doc.Path
		}
		if cs, ok := projectState(env, c, only, records, repo, server); ok {
			out = append(out, cs)
		}
		for _, scope := range c.ScopesInOrder() {
			if only != "" && only != scope {
				continue
			}
			cs, e := NewState(c, scope, config), err
			if e == nil {
				cs, e = StateOf(env, doc, scope, repo, server)
			}
			for i := range records {
				cs.Given(c, &records[i], server)
			}
			if e != nil && cs.Exists {
				cs.Error = e.Error()
			}
			out = append(out, cs)
		}
	}
	return out
}

// projectState returns the state of project files if one was swapped or only they were asked about.
// Other project files with an entry are in the user's [State.Shadows].
func projectState(
	env Env, c *clients.Client, only clients.Scope, records []journal.Record, repo, server string,
) (cs State, ok bool) {

	scope := clients.ScopeProject
	if only == clients.ScopeUser || !c.InFiles(scope) {
		return cs, false
	}
	doc, file, err := OpenProject(env, c, repo, server, true)
	if errors.Is(err, errNoProject) {
		return cs, false
	}
	if cs = NewState(c, scope, file); doc != nil {
		cs, err = StateOf(env, doc, scope, repo, server)
	}
	if err != nil {
		cs.Error = err.Error()
	}
	ok = only == scope
	for i := range records {
		cs.Given(c, &records[i], server)
		ok = ok || records[i].Same(cs.target, cs.container, server)
	}
	return cs, ok
}

// NewState returns what is known of a scope of a client before its config is read.
func NewState(c *clients.Client, scope clients.Scope, config string) State {
	return State{Client: c.Name, Scope: scope, Label: c.Label(scope), Config: config, Exists: !machine.Missing(config)}
}

// StateOf returns the state of a server's entry in one scope of a config. With an error, the
// entry is not known.
func StateOf(env Env, doc *Document, scope clients.Scope, repo, server string) (State, error) {
	c := doc.Client
	cs := NewState(c, scope, doc.Path)
	project := env.Project(repo)
	container, e, err := doc.Find(scope, project, server)
	if err != nil {
		return cs, err
	}
	cs.target, cs.container = doc.Target, container
	places, unread := doc.places(env, repo, server)
	settings := doc.settings(env, scope)
	places = approvals(env, c, settings, places, repo, server)
	above, below := doc.split(places)
	at := slices.IndexFunc(places, func(p entryAt) bool { return p.where == doc.Path })
	competes := scope == clients.ScopeUser || c.InFiles(scope) && at >= 0
	if e.Found {
		cs.Found, cs.Value = true, e.Value
		if c.Merges && at >= 0 {
			cs.mergeWeaker(e.Value, below)
		}
		if c.Merges && competes {
			cs.fold(c, above)
		}
		cs.describe(env, c, repo)
		cs.Shadows = slices.Concat(cs.faults(c, e.Value, doc.Path, places), refused(env, c, repo, server))
		cs.judge(env, c, settings, repo, server)
		cs.Shadows = append(cs.Shadows, unread...)
		cs.gates(env, c, places, at, trusts(env, c, settings, repo), repo, server)
	}
	if !competes {
		return cs, nil
	}
	cs.compete(c, above)
	if at < 0 {
		for _, p := range below {
			cs.Merged = append(cs.Merged, p.where+" has an entry of that name, which is weaker than one here")
		}
	}
	if len(c.Scopes) > 1 && e.Found {
		if _, own, err := doc.Find(clients.ScopeProject, project, server); err == nil && own.Found {
			cs.Won = append(cs.Won, "the project scope has an entry of that name, which wins")
		}
	}
	cs.Shadows = append(cs.Shadows, cs.Won...)
	return cs, nil
}

// Off reports whether a switch keeps the client from running the entry.
func (cs *State) Off() bool {
	return slices.ContainsFunc(cs.Meant, func(why string) bool { return strings.HasPrefix(why, switchedOff) })
}

// meant adds shadows that the user may have intended, or that may exist only here and now.
func (cs *State) meant(why ...string) {
	cs.Shadows, cs.Meant = append(cs.Shadows, why...), append(cs.Meant, why...)
}

// judge adds what keeps the client from running the entry: its name, a switch, what cannot be
// started, or another place that counts alone.
func (cs *State) judge(env Env, c *clients.Client, settings *format.Doc, repo, server string) {
	if !c.Server.Takes(server, true) {
		cs.Shadows = append(cs.Shadows, c.Server.Refused(c.Name, server)+"; it "+c.Server.Else)
	}
	var from map[string]string
	if cs.Effective != nil {
		from = cs.Effective.from
	}
	value, argv := cs.Uses()
	cs.meant(switchOffs(env, c, settings, value, from, repo, server)...)
	if why, hereOnly := cs.cannotStart(env, c, repo); hereOnly {
		cs.meant(why)
	} else if why != "" {
		cs.Shadows = append(cs.Shadows, why)
	}
	if why := commands.Unpublished(argv, value, repo); why != "" {
		cs.meant(why)
	}
	cs.meant(solePlaces(env.Sys, c)...)
}

// gates adds why the client does not read the entry's file, which is places[at] or, for the
// user's config, perhaps none of them: another file, an approval, or a folder that it does not
// trust.
func (cs *State) gates(env Env, c *clients.Client, places []entryAt, at int, trusted trustAnswer, repo, server string) {
	file := c.InFiles(cs.Scope) && at >= 0
	if file && places[at].hidden != "" {
		cs.Shadows = append(cs.Shadows, fmt.Sprintf("%s is there, and %s then does not read %s", places[at].hidden, c.Name, cs.Config))
	}
	if file {
		if why := places[at].waits(c, server); why != "" {
			cs.meant(why)
		}
	}
	switch {
	case trusted == distrusted && c.Trust.Needs != "":
		cs.meant(fmt.Sprintf(untrusted+"%s %s%s", c.Name, c.Trust.Needs, untilTrusted(repo)))
	case trusted == distrusted && file && places[at].layer.Trusted:
		cs.meant(fmt.Sprintf(untrusted+"%s does not read %s%s", c.Name, cs.Config, untilTrusted(repo)))
	case file:
		cs.When = places[at].layer.When
	case trusted == distrusted:
		cs.meant(borrowed(env, c, repo, server)...)
	}
}

// faults lists what is wrong with the entry in a file. A client with a toggle checks each file by
// itself, and then the merged entry (opencode 1.18 and its forks).
func (cs *State) faults(c *clients.Client, own map[string]any, path string, places []entryAt) (out []string) {
	if c.Dialect.Toggle != "" {
		out = c.Faults(c.Dialect.Flat(own), "")
		for _, p := range places {
			if flat := c.Dialect.Flat(p.value); p.where != path && p.inForce() && c.RefusesAll(flat) {
				for _, why := range c.Faults(flat, "") {
					out = append(out, fmt.Sprintf("%s (%s)", why, p.where))
				}
			}
		}
	}
	if len(out) == 0 {
		value, _ := cs.Uses()
		out = cs.because(c.Faults(value, ""), c.Faults(cs.Value, ""))
	}
	return out
}

// refused lists the entries of other servers for which the client refuses its whole config.
func refused(env Env, c *clients.Client, repo, server string) (out []string) {
	if !c.Dialect.Whole {
		return nil
	}
	EachOther(env, c, repo, server, func(in Held, name string, value map[string]any) {
		if flat := c.Dialect.Flat(value); c.RefusesAll(flat) {
			out = append(out, c.Faults(flat, fmt.Sprintf("%q in %s", name, in.Doc.Path))...)
		}
	})
	return out
}

// cannotStart returns what in the entry itself keeps the client from starting the server, if the tag
// does not say it. hereOnly is set if that may be so only in this environment.
func (cs *State) cannotStart(env Env, c *clients.Client, repo string) (why string, hereOnly bool) {
	value, argv := cs.Uses()
	if len(argv) == 0 || cs.Tag.Missing && slices.Equal(argv, cs.Argv) {
		return "", false
	}
	stops := func(value map[string]any) error {
		st, err := StartOf(env, c, cs.Scope, value, repo)
		if err == nil {
			err = st.Look()
		}
		return err
	}
	err := stops(value)
	var unclear *clients.UnclearError
	if err == nil || errors.As(err, &unclear) {
		return "", false
	}
	why = err.Error()
	if cs.Effective != nil {
		var own []string
		if err := stops(cs.Value); err != nil {
			own = []string{err.Error()}
		}
		why = cs.because([]string{why}, own, "command", "args", "env", "cwd")[0]
	}
	var unset *clients.MissingError
	return why, errors.Is(err, ask.ErrNotHere) || errors.As(err, &unset)
}

// mergeWeaker adds to the entry what the client merges from weaker places.
func (cs *State) mergeWeaker(own map[string]any, weaker []entryAt) {
	for _, p := range weaker {
		cs.Value = format.Merge(p.value, cs.Value)
		if added := Differing(own, format.Merge(p.value, own)); len(added) > 0 {
			cs.Merged = append(cs.Merged, fmt.Sprintf("%s adds to it: %s", p.where, strings.Join(added, ", ")))
		}
	}
}

// describe reads the command and the environment of the entry, and tags it.
func (cs *State) describe(env Env, c *clients.Client, repo string) {
	cs.Value = c.Dialect.Flat(cs.Value)
	cs.Argv = c.Dialect.ReadArgv(cs.Value)
	cs.Command = ask.ShowArgs(cs.Argv)
	for _, v := range c.Dialect.ReadEnv(cs.Value) {
		cs.Env = append(cs.Env, v.Name)
	}
	tag := Classify(env.Sys, c, cs.Value, cs.Scope == clients.ScopeProject, repo)
	tag.URL, tag.Package = ask.ShowURL(tag.URL), ask.ShowURL(tag.Package)
	cs.Tag, cs.Stale = &tag, tag.stale(env, repo)
}

// solePlaces returns texts about places that keep a client from reading any other.
func solePlaces(sys machine.System, c *clients.Client) (out []string) {
	for _, l := range c.Layers {
		if files := c.Files(l, sys, "", ""); l.Alone && len(files) > 0 {
			out = append(out, fmt.Sprintf("%s is there, and %s then reads no other file", files[0], c.Name))
		} else if l.Alone && sys.Getenv(l.Var) != "" {
			out = append(out, fmt.Sprintf("$%s is set, and %s then reads no file", l.Var, c.Name))
		}
	}
	return out
}
