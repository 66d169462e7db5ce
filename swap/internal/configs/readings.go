package configs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/journal"
)

// This file reads servers as a client finds them: in all layers and scopes, in profiles and, for a
// client that lists the folders it trusts, in other projects.

// A Reading is an entry in one of the places that a client reads.
type Reading struct {
	Client    *clients.Client
	Where     string // the file as the client names it, or the variable
	Target    string // the regular file; "" for a variable
	Container []string
	Value     map[string]any
	line      int
	source    *source
}

// Entry returns where it is in the form that records have.
func (r Reading) Entry() journal.Entry {
	target := r.Target
	if target == "" {
		target = r.Where
	}
	return journal.Entry{Target: target, Container: r.Container}
}

// Place returns the file and the line.
func (r Reading) Place() string {
	if r.Target == "" {
		return r.Where
	}
	return fmt.Sprintf("%s:%d", r.Where, r.line)
}

// A source is a text in which a client reads servers.
type source struct {
	layer     clients.Layer
	where     string
	target    string
	text      []byte
	doc       *format.Doc // nil if err is set
	err       error       // why it cannot be read here, or parsed
	unread    bool        // it cannot be read here, while the client may
	below     bool        // it is weaker than the user's config
	hidden    string      // the file because of which the client does not read it
	dir       string      // of the project
	untrusted bool        // the client does not read it until the folder is trusted
	skipped   bool        // the client refuses an entry in it, and skips the file
}

// ReadEntries returns the entries with a server's name that a client reads for a directory in any
// scope, strongest first. It leaves out what the client cannot read, the files of a folder that the
// client does not trust, and the files to skip. planned has the texts that files are about to get.
func ReadEntries(env Env, c *clients.Client, dir, server string, planned map[string][]byte, skip func(target string, text []byte) bool) (out []Reading) {
	for _, s := range read(readSources(env, c, dir, planned, skip)) {
		if !s.untrusted {
			out = append(out, s.entries(c, dir, server)...)
		}
	}
	return out
}

// sources returns the layers of a client for a directory, strongest first. Each file occurs once; one
// that is both the user's and a project's counts as the user's. planned has the texts that files are
// about to get.
func sources(env Env, c *clients.Client, dir string, planned map[string][]byte) []*source {
	if planned != nil {
		return readSources(env, c, dir, planned, nil)
	}
	return once(env.memo().sources, c.Name+"\x00"+dir, func() []*source { return readSources(env, c, dir, nil, nil) })
}

// readSources is sources without the cache. It leaves out the files to skip, and does not parse them.
func readSources(env Env, c *clients.Client, dir string, planned map[string][]byte, skip func(target string, text []byte) bool) (out []*source) {
	below, tree := false, env.Tree(dir)
	own := ownFiles(env, c)
	for _, l := range c.Layers {
		if text := env.Sys.Getenv(l.Var); l.Role == clients.Variable && text != "" {
			s := &source{layer: l, where: "$" + l.Var, text: []byte(text), below: below}
			s.doc, s.err = env.Parse(c, s.text)
			out = append(out, s)
		}
		files := c.Files(l, env.Sys, dir, tree)
		for _, path := range files {
			target, err := env.Real(path)
			twice := slices.ContainsFunc(out, func(s *source) bool { return s.target == target })
			if err != nil || twice || l.Role == clients.Project && own[target] {
				continue
			}
			s := &source{layer: l, where: path, target: target, below: below, hidden: l.Hides(files, path)}
			if text, isPlanned := planned[target]; isPlanned {
				s.text = text
			} else {
				s.text, _, s.err = env.Read(target)
			}
			if s.err == nil && skip != nil && skip(target, s.text) {
				continue
			}
			if s.unread = s.err != nil; !s.unread {
				s.doc, s.err = env.Parse(c, s.text)
			}
			if l.Role == clients.Project {
				s.belongsTo(env, c, dir)
			}
			out = append(out, s)
		}
		below = below || l.Role == clients.Own
	}
	return out
}

// ownFiles returns the targets of the user's own configs of a client.
func ownFiles(env Env, c *clients.Client) map[string]bool {
	own := map[string]bool{}
	for _, l := range c.Layers {
		if l.Role == clients.Own {
			for _, path := range c.Files(l, env.Sys, "", "") {
				if target, err := env.Real(path); err == nil {
					own[target] = true
				}
			}
		}
	}
	return own
}

// belongsTo makes the source a project's, which the client may not read.
func (s *source) belongsTo(env Env, c *clients.Client, dir string) {
	s.dir = dir
	gated := s.layer.Trusted || c.Trust != nil && c.Trust.Needs != ""
	s.untrusted = gated && trusts(env, c, settingsOf(env, c), dir) == distrusted
	s.skipped = c.Dialect.Skips && s.err == nil && s.refused(c, dir)
}

// read returns the sources that the client can read.
func read(all []*source) []*source {
	return slices.DeleteFunc(slices.Clone(all), func(s *source) bool { return s.err != nil || s.hidden != "" })
}

// refused reports whether the client refuses an entry of the source.
func (s *source) refused(c *clients.Client, dir string) bool {
	return slices.ContainsFunc(s.names(c, dir), func(name string) bool {
		return slices.ContainsFunc(s.entries(c, dir, name), func(in Reading) bool {
			flat := c.Dialect.Flat(in.Value)
			return c.RefusesAll(flat) && len(c.Faults(flat, "")) > 0
		})
	})
}

// profile returns the file if the client reads it only in a profile, or "".
func (s *source) profile() string {
	if s.layer.Role == clients.Managed && s.layer.When != "" {
		return s.where
	}
	return ""
}

// scopes returns the scopes that a source has, the strongest first.
func (s *source) scopes(c *clients.Client) []clients.Scope {
	switch {
	case s.layer.Role != clients.Project:
		return c.ScopesInOrder()
	case c.InFiles(clients.ScopeProject):
		return []clients.Scope{clients.ScopeProject}
	}
	return []clients.Scope{clients.ScopeUser}
}

// containers returns the containers of a source in which its client finds servers of these scopes.
func (s *source) containers(c *clients.Client, dir string, scopes ...clients.Scope) (out [][]string) {
	if s.layer.Container != nil {
		return [][]string{s.layer.Container}
	}
	for _, scope := range scopes {
		project := ""
		if scope == clients.ScopeProject && !c.InFiles(scope) {
			project = checkout.ClaudeProject(dir)
		}
		out = append(out, c.ContainersIn(s.doc, scope, project)...)
	}
	return out
}

func (s *source) entries(c *clients.Client, dir, server string) (out []Reading) {
	for _, container := range s.containers(c, dir, s.scopes(c)...) {
		if e, err := s.doc.Lookup(container, server); err == nil && e.Found && !clients.IsContainer(c, append(slices.Clone(container), server)) {
			line := 1 + bytes.Count(s.text[:e.Start], []byte("\n"))
			out = append(out, Reading{c, s.where, s.target, container, e.Value, line, s})
		}
	}
	return out
}

func (s *source) names(c *clients.Client, dir string) (out []string) {
	for _, container := range s.containers(c, dir, s.scopes(c)...) {
		names, _ := s.doc.Names(container) // a container of another form has none
		out = append(out, names...)
	}
	return out
}

// A Refusal is an entry for which a client refuses its whole config.
type Refusal struct {
	Server string
	Path   string // of the strongest file that has a part of it
	Fault  string // what is wrong with it
	Text   string // that, and where it is
	// Later is set if the client reads that file only once its folder is trusted.
	Later bool
	key   string
}

// Refusals returns the entries for which a client would refuse its whole config: in a directory, in
// the projects that it trusts, or in one of its profiles. server "" means all servers. planned has
// the texts that files are about to get.
func Refusals(env Env, c *clients.Client, dir, server string, planned map[string][]byte) (out []Refusal) {
	if !c.Dialect.Whole {
		return nil
	}
	dirs := []string{dir}
	for _, folder := range trustedFolders(env, c, settingsOf(env, c)) {
		if !slices.Contains(dirs, folder) {
			dirs = append(dirs, folder)
		}
	}
	for _, dir := range dirs {
		all := read(sources(env, c, dir, planned))
		names := []string{server}
		if server == "" {
			names = nil
			for _, s := range all {
				names = append(names, s.names(c, dir)...)
			}
			slices.Sort(names)
			names = slices.Compact(names)
		}
		for _, name := range names {
			var parts []Reading
			for _, s := range all {
				parts = append(parts, s.entries(c, dir, name)...)
			}
			for _, parts := range together(c, parts) {
				if f, ok := refusal(c, name, parts); ok && !slices.ContainsFunc(out, f.same) {
					out = append(out, f)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Refusal) int { return strings.Compare(a.Server, b.Server) })
	return out
}

// together returns the groups of parts of an entry that a client reads at the same time: without a
// project and in each one, without a profile and in each one. A client with a toggle checks each
// file by itself (opencode 1.18 and its forks).
func together(c *clients.Client, parts []Reading) (out [][]Reading) {
	if c.Dialect.Toggle != "" {
		for _, p := range parts {
			out = append(out, []Reading{p})
		}
		return out
	}
	profiles, projects := []string{""}, []string{""}
	for _, p := range parts {
		if name := p.source.profile(); !slices.Contains(profiles, name) {
			profiles = append(profiles, name)
		}
		if !slices.Contains(projects, p.source.dir) {
			projects = append(projects, p.source.dir)
		}
	}
	for _, project := range projects {
		for _, in := range profiles {
			read := slices.DeleteFunc(slices.Clone(parts), func(p Reading) bool {
				of := p.source.profile()
				return p.source.dir != "" && p.source.dir != project || of != "" && of != in
			})
			if len(read) > 0 {
				out = append(out, read)
			}
		}
	}
	return out
}

// refusal returns why a client refuses its config for the parts of one entry, strongest first.
func refusal(c *clients.Client, server string, parts []Reading) (f Refusal, ok bool) {
	var value map[string]any
	var places, paths []string
	for _, p := range slices.Backward(parts) {
		value = format.Merge(value, p.Value)
	}
	for _, p := range parts {
		places, paths = append(places, p.Place()), append(paths, p.Where)
		f.Later = f.Later || p.source.untrusted
	}
	flat := c.Dialect.Flat(value)
	faults := c.Faults(flat, "")
	if !c.RefusesAll(flat) || len(faults) == 0 {
		return f, false
	}
	f.Server, f.Path, f.Fault = server, parts[0].Where, faults[0]
	if parts[0].source.skipped {
		f.Fault = strings.Replace(f.Fault, clients.Refuses, "skips a file of the project", 1)
	}
	f.Text = fmt.Sprintf("%s: %q in %s", f.Fault, server, strings.Join(places, " and "))
	if f.Later {
		f.Text += ", once that folder is trusted"
	}
	f.key = strings.Join(append(paths, server, f.Fault), "\x00")
	return f, true
}

func (f Refusal) same(o Refusal) bool { return f.key == o.key }

// Without returns the refusals that are not among others, whatever their lines.
func Without(refusals, others []Refusal) []Refusal {
	return slices.DeleteFunc(slices.Clone(refusals), func(f Refusal) bool { return slices.ContainsFunc(others, f.same) })
}
