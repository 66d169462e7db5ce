package swap

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
)

// The same server may have an entry under another name: one that runs the checkout, or the
// package that it publishes. A client with both offers every tool twice, old and new.

// publishes returns the package that a checkout publishes, without a version, or "".
func publishes(co *checkout.Checkout) string {
	argv, _, err := co.Command(checkout.ModeReleased, "", "")
	if err != nil {
		return ""
	}
	return bare(starter{}.command(argv).pkg)
}

var (
	versioned = regexp.MustCompile(`(.)(@|\[|[=<>~!]=|[<>]).*$`)
	separator = regexp.MustCompile(`[-_.]+`)
)

// bare returns the name of a package without version and extras, in the form that Python's
// index compares.
func bare(pkg string) string {
	return separator.ReplaceAllString(strings.ToLower(versioned.ReplaceAllString(pkg, "$1")), "-")
}

// runs returns what an entry runs of a checkout's server, by its tag: the checkout, or the
// package that it publishes; "" if neither.
func (t Tag) runs(published string) string {
	switch {
	case t.ThisRepo:
		return "this repository"
	case t.Package != "" && bare(t.Package) == published:
		return t.Package
	}
	return ""
}

// noTwin returns an error if an entry would be added beside another for the same server.
func (s *Swapper) noTwin(c source, u *use) error {
	if _, e, err := c.doc.find(c.scope, u.project, u.server); err != nil || e.Found {
		return nil // the edit reports it
	}
	var twin error
	s.others(c.client, u.repo, u.server, func(in held, name string, value map[string]any) {
		runs := s.sameServer(c.client, value, u)
		if runs == "" || twin != nil {
			return
		}
		where, scope := "", clients.Scope("")
		if in.doc.target != c.doc.target {
			where = " (it is in " + in.doc.config + ")"
			switch {
			case !c.client.InFiles(clients.ScopeProject):
			case in.project && c.scope == clients.ScopeUser:
				scope = clients.ScopeProject
			case !in.project && c.scope == clients.ScopeProject:
				scope = clients.ScopeUser
			}
		}
		twin = fmt.Errorf("its entry %q runs %s: with %q beside it every tool would be there twice%s; %s",
			name, runs, u.server, where, passServer(name, scope))
	})
	return twin
}

// sameServer returns what an entry runs if that is the wanted server, or "".
func (s *Swapper) sameServer(c *clients.Client, value map[string]any, u *use) string {
	if u.given || u.url != "" {
		if slices.Equal(c.Dialect.Runs(value), u.runs()) {
			return "the same server"
		}
		return ""
	}
	return s.classify(c.Dialect.ReadArgv(value), c.Dialect.Flat(value), u.repo).runs(u.published)
}

// A held is a config that a client reads for a directory, and the scopes in it.
type held struct {
	doc     *document
	scopes  []clients.Scope
	project bool
}

// everywhere returns all configs that a client reads for a directory, strongest first. Those
// that it cannot read are left out, and those that it reads only in a profile.
func (s *Swapper) everywhere(c *clients.Client, repo string) []held {
	var out []held
	tree := tree(repo)
	for _, l := range c.Layers {
		if l.Role == clients.Managed && l.When != "" {
			continue
		}
		files := c.Files(l, s.Sys, repo, tree)
		for _, file := range files {
			target, err := filepath.EvalSymlinks(file)
			twice := slices.ContainsFunc(out, func(h held) bool { return h.doc.target == target })
			if err != nil || twice || l.Hides(files, file) != "" {
				continue
			}
			text, err := parseFile(target, c.Parse)
			if err != nil {
				continue
			}
			doc := &document{client: c, config: file, target: target, doc: text}
			h := held{doc: doc, scopes: c.ScopesInOrder(), project: l.Role == clients.Project}
			if h.project {
				h.scopes = []clients.Scope{clients.ScopeUser}
				if c.InFiles(clients.ScopeProject) {
					h.scopes = []clients.Scope{clients.ScopeProject}
				}
			}
			out = append(out, h)
		}
	}
	return out
}

// others calls f with all entries of other servers that a client reads for a directory.
func (s *Swapper) others(c *clients.Client, repo, server string, f func(in held, name string, value map[string]any)) {
	for _, in := range s.everywhere(c, repo) {
		for _, scope := range in.scopes {
			for _, container := range c.ContainersIn(in.doc.doc, scope, checkout.ClaudeProject(repo)) {
				names, _ := in.doc.doc.Names(container) // a container of another form has none
				for _, name := range names {
					if e, err := in.doc.doc.Lookup(container, name); err == nil && e.Found && name != server {
						f(in, name, e.Value)
					}
				}
			}
		}
	}
}

// passServer advises to use a server's name, and the scope in which it is if it is another one.
func passServer(name string, scope clients.Scope) string {
	flags := "--server " + ask.CommandLine([]string{name})
	if scope != "" {
		flags += " --scope " + string(scope)
	}
	return "pass " + flags + " to use that name"
}
