package configs

import (
	"path/filepath"
	"slices"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/machine"
)

// A Held is a config that a client reads for a directory, and the scopes in it.
type Held struct {
	Doc     *Document
	Scopes  []clients.Scope
	Project bool
}

// All returns all configs that a client reads for a directory, strongest first. Those
// that it cannot read are left out, and those that it reads only in a profile.
func All(sys machine.System, c *clients.Client, repo string) []Held {
	var out []Held
	tree := Tree(repo)
	for _, l := range c.Layers {
		if l.Role == clients.Managed && l.When != "" {
			continue
		}
		files := c.Files(l, sys, repo, tree)
		for _, file := range files {
			target, err := filepath.EvalSymlinks(file)
			twice := slices.ContainsFunc(out, func(h Held) bool { return h.Doc.Target == target })
			if err != nil || twice || l.Hides(files, file) != "" {
				continue
			}
			text, err := parseFile(target, c.Parse)
			if err != nil {
				continue
			}
			doc := &Document{Client: c, Path: file, Target: target, Doc: text}
			h := Held{Doc: doc, Scopes: c.ScopesInOrder(), Project: l.Role == clients.Project}
			if h.Project {
				h.Scopes = []clients.Scope{clients.ScopeUser}
				if c.InFiles(clients.ScopeProject) {
					h.Scopes = []clients.Scope{clients.ScopeProject}
				}
			}
			out = append(out, h)
		}
	}
	return out
}

// EachOther calls f with all entries of other servers that a client reads for a directory.
func EachOther(sys machine.System, c *clients.Client, repo, server string, f func(in Held, name string, value map[string]any)) {
	for _, in := range All(sys, c, repo) {
		for _, scope := range in.Scopes {
			for _, container := range c.ContainersIn(in.Doc.Doc, scope, checkout.ClaudeProject(repo)) {
				names, _ := in.Doc.Doc.Names(container) // a container of another form has none
				for _, name := range names {
					if e, err := in.Doc.Doc.Lookup(container, name); err == nil && e.Found && name != server {
						f(in, name, e.Value)
					}
				}
			}
		}
	}
}
