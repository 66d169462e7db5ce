package configs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/machine"
)

// This file finds entries in all the places that a client reads: see [clients.Layer].

// OpenFor reads the config of a client in which a server's entry is, or would be created:
// if the client reads several files, the strongest one of the user's that has it.
func OpenFor(env Env, c *clients.Client, project, server string) (*Document, error) {
	var config *Document
	for _, file := range c.UserFiles(env.Sys) {
		d, err := Open(env, c, file)
		if err != nil {
			return nil, err
		}
		if file == c.ConfigPath(env.Sys) {
			config = d
		}
		for _, scope := range c.ScopesInOrder() {
			if _, e, err := d.Find(scope, project, server); err == nil && e.Found {
				return d, nil
			}
		}
	}
	if config == nil {
		return Open(env, c, c.ConfigPath(env.Sys)) // to report what is missing
	}
	return config, nil
}

// Top returns the top of the work tree that contains a directory, or the directory.
func Top(dir string) string { return cmp.Or(Env{}.Tree(dir), dir) }

// OpenProject reads the project file of a client in which a server's entry is, or would be
// created. If there is no document, file is the one that would be created. An entry in a file
// that the client does not read, because of another file, counts only if unread is set.
func OpenProject(env Env, c *clients.Client, repo, server string, unread bool) (d *Document, file string, err error) {
	all, into := c.ProjectFiles(env.Sys, repo, env.Tree(repo))
	if len(into) == 0 {
		return nil, NamedPath(env.Sys, c), errNoProject
	}
	var found []*Document
	var idle *Document
	for _, file := range all {
		if machine.Missing(file) {
			continue
		}
		hidden := hiddenBy(env, c, file, repo) != ""
		d, err := Open(env, c, file)
		if err != nil && (hidden || !slices.Contains(into, file)) {
			continue // the client cannot read it either
		}
		if err != nil {
			return nil, file, err
		}
		_, e, err := d.Find(clients.ScopeProject, "", server)
		switch has := err == nil && e.Found; {
		case hidden && has && idle == nil:
			idle = d
		case hidden:
		case has:
			return d, file, nil
		default:
			found = append(found, d)
		}
	}
	if idle != nil && unread {
		return idle, idle.Path, nil
	}
	for _, file := range into {
		if i := slices.IndexFunc(found, func(d *Document) bool { return d.Path == file }); i >= 0 {
			return found[i], file, nil
		}
	}
	return nil, into[0], nil
}

// hiddenBy returns the file because of which a client does not read a project file, or "".
func hiddenBy(env Env, c *clients.Client, file, repo string) string {
	for _, l := range c.Layers {
		if l.Role == clients.Project {
			if by := l.Hides(c.Files(l, env.Sys, repo, env.Tree(repo)), file); by != "" {
				return by
			}
		}
	}
	return ""
}

var errNoProject = errors.New("it reads no servers from files of a project; leave out --scope, or use --scope user")

// Leads returns an error if a project file is outside the project because of a link.
func (d *Document) Leads(repo string) error {
	if dir := Top(repo); !Inside(d.Target, dir) {
		return fmt.Errorf("%s is left alone: a link leads out of %s, to %s", d.Path, dir, d.Target)
	}
	return nil
}

// settings returns the config with the client's settings, which for a project file is a
// different one.
func (d *Document) settings(env Env, scope clients.Scope) *format.Doc {
	c := d.Client
	if !c.InFiles(scope) {
		return d.Doc
	}
	return settingsOf(env, c)
}

// settingsOf returns a client's config; an empty one if it cannot be read, as the client cannot
// read it either.
func settingsOf(env Env, c *clients.Client) *format.Doc {
	own, err := env.document(c, c.ConfigPath(env.Sys))
	if err != nil {
		own, _ = c.Parse(nil)
	}
	return own
}

// NamedPath returns the config that output names if no entry is found.
func NamedPath(sys machine.System, c *clients.Client) string {
	path := c.ConfigPath(sys)
	if files := c.UserFiles(sys); len(files) > 0 && machine.Missing(path) {
		return files[0]
	}
	return path
}

// An entryAt is an entry with a server's name in one of the places that a client reads.
type entryAt struct {
	*source
	value map[string]any
	asked clients.Approval
}

// inForce reports whether the client reads the entry now.
func (p entryAt) inForce() bool {
	return !(p.layer.Trusted && p.untrusted) && p.layer.When == "" && p.asked != clients.Waiting && p.asked != clients.Rejected
}

// places returns all of them, strongest first, but from the user's config only the entry of
// the user scope. A project file is omitted if the client does not read it and it is not doc.
// unread says of the files stronger than the user's config that cannot be read here, and may
// have one, and of those because of which the client refuses its config.
func (d *Document) places(env Env, repo, server string) (out []entryAt, unread []string) {
	c := d.Client
	for _, s := range sources(env, c, repo, nil) {
		switch {
		case (s.hidden != "" || s.skipped) && s.where != d.Path:
			continue
		case s.unread && !s.below:
			unread = append(unread, fmt.Sprintf("it is not known whether an entry in %s wins: %v", s.where, s.err))
			continue
		case s.err != nil && c.Dialect.Syntax && s.layer.When == "" && !s.untrusted:
			unread = append(unread, fmt.Sprintf("%s %s because of %s: %v", c.Name, clients.Refuses, s.where, s.err))
			continue
		case s.err != nil:
			continue // the client cannot read it either
		}
		scopes := s.scopes(c)
		for _, container := range s.containers(c, "", scopes[len(scopes)-1]) { // the user's, of two
			if e, err := s.doc.Lookup(container, server); err == nil && e.Found {
				out = append(out, entryAt{source: s, value: e.Value})
				break
			}
		}
	}
	return out, unread
}

// Around returns what a client that merges its layers adds to an entry of a config: from weaker
// layers, and from the stronger ones that it reads now.
func (d *Document) Around(env Env, scope clients.Scope, repo, server string) (weaker, stronger map[string]any) {
	c := d.Client
	if !c.Merges {
		return nil, nil
	}
	places, _ := d.places(env, repo, server)
	places = approvals(env, c, d.settings(env, scope), places, repo, server)
	above, below := d.split(places)
	for _, p := range slices.Backward(below) {
		weaker = format.Merge(weaker, p.value)
	}
	for _, p := range slices.Backward(above) {
		if p.inForce() {
			stronger = format.Merge(stronger, p.value)
		}
	}
	return weaker, stronger
}

// split returns the places that are stronger than a config, and those that are weaker. If it is
// none of them, those above the user's config are stronger.
func (d *Document) split(places []entryAt) (above, below []entryAt) {
	at := slices.IndexFunc(places, func(p entryAt) bool { return p.where == d.Path })
	if at >= 0 {
		return places[:at], places[at+1:]
	}
	if at = slices.IndexFunc(places, func(p entryAt) bool { return p.below }); at < 0 {
		at = len(places)
	}
	return places[:at], places[at:]
}

// approvals completes what the client has asked the user about the entries in places, and
// leaves out those without which another one counts.
func approvals(env Env, c *clients.Client, settings *format.Doc, places []entryAt, repo, server string) []entryAt {
	if c.Approval == nil {
		return places
	}
	files := settingsFiles(env, c, settings, repo)
	record := func(file string, path ...string) (any, bool) {
		doc, err := env.document(c, file)
		if err != nil {
			return nil, false
		}
		return doc.Get(path...)
	}
	for i, p := range places {
		places[i].asked = c.Approves(p.layer, env.Sys, files, record, p.value, repo, server)
	}
	return slices.DeleteFunc(places, func(p entryAt) bool { return p.asked == clients.Rejected && c.Approval.Keeps })
}

// waits returns what the client's question about an entry means for it, or "".
func (p entryAt) waits(c *clients.Client, server string) string {
	var how string
	if c.Approval != nil {
		how = strings.ReplaceAll(c.Approval.How, ask.ServerName, ask.CommandLine([]string{server}))
	}
	switch p.asked {
	case clients.Waiting:
		return "it waits for your approval: " + how
	case clients.MayWait:
		return "it may wait for your approval: " + how
	case clients.Rejected:
		return "you have rejected it: " + how
	}
	return ""
}

// Differing returns the names of the fields in which two entries differ.
func Differing(a, b map[string]any) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(format.Merge(a, b))) {
		if !format.Equal(a[name], b[name]) {
			out = append(out, name)
		}
	}
	return out
}

// switchOffs lists the ways in which an entry is switched off, in itself or by settings. from says
// where its fields come from, if not from its own config.
func switchOffs(env Env, c *clients.Client, settings *format.Doc, value map[string]any, from map[string]string, repo, server string) []string {
	var out []string
	for _, o := range c.Off {
		files := []clients.File{fileOf(c, "", settings)}
		switch {
		case o.File != nil:
			files = readSettings(env, c, []string{o.File.File(env.Sys)})
		case o.Path != nil && !o.Config:
			files = settingsFiles(env, c, settings, repo)
		}
		for _, how := range o.SwitchesOff(value, files, env.Project(repo), server) {
			if file := from[o.Field]; o.Field != "" && o.File == nil && file != "" {
				how += ", " + file
			}
			out = append(out, switchedOff+how)
		}
	}
	return out
}

// settingsFiles reads the files with a client's settings, strongest first.
func settingsFiles(env Env, c *clients.Client, settings *format.Doc, repo string) (out []clients.File) {
	layers, own := c.Settings, c.ConfigPath(env.Sys)
	if layers == nil {
		layers = c.Layers
	}
	trusted := trusts(env, c, settings, repo)
	for _, l := range layers {
		files := slices.DeleteFunc(c.Files(l, env.Sys, repo, env.Tree(repo)), func(file string) bool {
			twice := slices.ContainsFunc(out, func(f clients.File) bool { return f.Name == file })
			return twice || l.Role != clients.Own && file == own
		})
		if l.Trusted && trusted == distrusted {
			continue
		}
		for _, f := range readSettings(env, c, files) {
			f.Managed = l.Role == clients.Managed
			f.Distrusted = l.Role == clients.Project && trusted == distrusted
			out = append(out, f)
		}
	}
	return out
}

func readSettings(env Env, c *clients.Client, files []string) (out []clients.File) {
	for _, file := range files {
		doc, err := env.document(c, file)
		if err != nil {
			continue // the client cannot read it either
		}
		if file == c.ConfigPath(env.Sys) {
			file = ""
		}
		out = append(out, fileOf(c, file, doc))
	}
	return out
}

func fileOf(c *clients.Client, name string, doc *format.Doc) clients.File {
	return clients.File{Name: name, Get: doc.Get, Spell: func(path []string) []string { return c.Respelled.In(doc, path) }}
}

// switchedOff begins the text about a switch.
const switchedOff = "switched off: "
