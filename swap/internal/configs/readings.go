package configs

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/journal"
)

// This file reads servers through a client's own path, in all layers and all scopes, also in
// profiles and, for a client that keeps a list of the folders it trusts, in other projects.

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

// Entry returns where it is, as records have it.
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
	doc       *format.Doc
	dir       string // of the project
	untrusted bool   // the client does not read it until the folder is trusted
}

// ReadEntries returns the entries of a server's name that a client reads for a directory in any
// scope, strongest first. What it cannot read is left out, as are the files of a folder that it
// does not trust, and those to skip. planned has the texts that files are about to get.
func ReadEntries(env Env, c *clients.Client, dir, server string, planned map[string][]byte, skip func(target string, text []byte) bool) (out []Reading) {
	for _, s := range sources(env, c, []string{dir}, planned, skip) {
		if !s.untrusted {
			out = append(out, s.entries(c, []string{dir}, server)...)
		}
	}
	return out
}

// sources reads a client's layers for some directories, strongest first.
func sources(env Env, c *clients.Client, dirs []string, planned map[string][]byte, skip func(target string, text []byte) bool) (out []*source) {
	add := func(s source, text []byte) {
		var err error
		if s.doc, err = c.Parse(text); err == nil {
			s.text = text
			out = append(out, &s)
		}
	}
	file := func(l clients.Layer, path, dir string) {
		target, err := filepath.EvalSymlinks(path)
		twice := slices.ContainsFunc(out, func(s *source) bool { return s.target == target && s.dir == dir })
		if err != nil || twice {
			return
		}
		text, isPlanned := planned[target]
		if !isPlanned {
			text, _, err = env.Disk.Read(target)
		}
		if err != nil || skip != nil && skip(target, text) {
			return
		}
		add(source{layer: l, where: path, target: target, dir: dir}, text)
	}
	for _, l := range c.Layers {
		if text := env.Sys.Getenv(l.Var); l.Role == clients.Variable && text != "" {
			add(source{layer: l, where: "$" + l.Var}, []byte(text))
		}
		in := []string{""}
		if l.Role == clients.Project {
			in = dirs
		}
		for _, dir := range in {
			files := c.Files(l, env.Sys, dir, Tree(dir))
			for _, path := range files {
				if l.Hides(files, path) == "" {
					file(l, path, dir)
				}
			}
		}
	}
	all := slices.Clone(out)
	out = slices.DeleteFunc(out, func(s *source) bool { // a home may be a project, too
		return s.layer.Role == clients.Project && slices.ContainsFunc(all, func(o *source) bool {
			return o.layer.Role == clients.Own && o.target == s.target
		})
	})
	for _, s := range out {
		if gated := s.layer.Trusted || c.Trust != nil && c.Trust.Needs != ""; gated && s.layer.Role == clients.Project {
			s.untrusted = trusts(env.Sys, c, settingsOf(env.Sys, c), s.dir) == distrusted
		}
	}
	return out
}

// profile returns the file if the client reads it only in a profile, or "".
func (s *source) profile() string {
	if s.layer.Role == clients.Managed && s.layer.When != "" {
		return s.where
	}
	return ""
}

// containers returns those of a source in which its client finds servers.
func (s *source) containers(c *clients.Client, dirs []string) (out [][]string) {
	switch {
	case s.layer.Container != nil:
		return [][]string{s.layer.Container}
	case s.layer.Role == clients.Project && c.InFiles(clients.ScopeProject):
		return c.ContainersIn(s.doc, clients.ScopeProject, "")
	case s.layer.Role == clients.Project:
		return c.ContainersIn(s.doc, clients.ScopeUser, "")
	}
	for _, scope := range c.ScopesInOrder() {
		for _, dir := range dirs {
			for _, container := range c.ContainersIn(s.doc, scope, checkout.ClaudeProject(dir)) {
				if !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, container) }) {
					out = append(out, container)
				}
			}
		}
	}
	return out
}

func (s *source) entries(c *clients.Client, dirs []string, server string) (out []Reading) {
	for _, container := range s.containers(c, dirs) {
		if e, err := s.doc.Lookup(container, server); err == nil && e.Found {
			line := 1 + bytes.Count(s.text[:e.Start], []byte("\n"))
			out = append(out, Reading{c, s.where, s.target, container, e.Value, line, s})
		}
	}
	return out
}

// names returns the names of all servers in a source.
func (s *source) names(c *clients.Client, dirs []string) (out []string) {
	for _, container := range s.containers(c, dirs) {
		names, _ := s.doc.Names(container) // a container of another form has none
		out = append(out, names...)
	}
	return out
}

// A Refusal is an entry because of which a client refuses its whole config.
type Refusal struct {
	Server string
	Path   string // of the strongest file that has a part of it
	Fault  string // what is wrong with it
	Text   string // that, and where it is
	// Later is set if the client reads that file only once its folder is trusted.
	Later bool
	key   string
}

// Refusals returns the entries because of which a client would refuse its whole config, in a
// directory, in the projects that it trusts, or in one of its profiles; of one server, or of
// all if that is "". planned has the texts that files are about to get.
func Refusals(env Env, c *clients.Client, dir, server string, planned map[string][]byte) (out []Refusal) {
	if !c.Dialect.Whole {
		return nil
	}
	dirs := []string{dir}
	for _, folder := range trustedFolders(env.Sys, c, settingsOf(env.Sys, c)) {
		if !slices.Contains(dirs, folder) {
			dirs = append(dirs, folder)
		}
	}
	all := sources(env, c, dirs, planned, nil)
	names := []string{server}
	if server == "" {
		names = nil
		for _, s := range all {
			names = append(names, s.names(c, dirs)...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	for _, name := range names {
		var parts []Reading
		for _, s := range all {
			parts = append(parts, s.entries(c, dirs, name)...)
		}
		for _, read := range together(c, parts) {
			if f, ok := refusal(c, name, read); ok && !slices.ContainsFunc(out, f.same) {
				out = append(out, f)
			}
		}
	}
	return out
}

// together returns the parts of an entry that a client reads at the same time: without a
// project and in each, without a profile and in each. A client with a switch checks each file by
// itself: opencode 1.18 and its forks.
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

// refusal returns why a client refuses its config because of the parts of one entry, strongest
// first.
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
	f.Text = fmt.Sprintf("%s: %q in %s", f.Fault, server, strings.Join(places, " and "))
	if f.Later {
		f.Text += ", once that folder is trusted"
	}
	f.key = strings.Join(append(paths, server, f.Fault), "\x00")
	return f, true
}

func (f Refusal) same(o Refusal) bool { return f.key == o.key }

// Without returns the refusals that are not among others, wherever in their files they are.
func Without(refusals, others []Refusal) []Refusal {
	return slices.DeleteFunc(slices.Clone(refusals), func(f Refusal) bool { return slices.ContainsFunc(others, f.same) })
}
