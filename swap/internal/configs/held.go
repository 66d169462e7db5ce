package configs

import (
	"slices"

	"tmuxmcp/swap/clients"
)

// A Held is a config that a client reads for a directory, and the scopes in it.
type Held struct {
	Doc     *Document
	Scopes  []clients.Scope
	Project bool
}

// All returns all configs that a client reads for a directory, strongest first. Those
// that it cannot read are left out, and those that it reads only in a profile.
func All(env Env, c *clients.Client, repo string) []Held {
	var out []Held
	for _, s := range read(sources(env, c, repo, nil)) {
		if s.target == "" || s.layer.Container != nil || s.profile() != "" || s.skipped {
			continue
		}
		doc := &Document{Client: c, Path: s.where, Target: s.target, Text: s.text, Doc: s.doc}
		out = append(out, Held{doc, s.scopes(c), s.layer.Role == clients.Project})
	}
	return out
}

// Holds returns which of the configs has an entry of a name, or "".
func Holds(all []Held, project, name string) string {
	for _, in := range all {
		for _, scope := range in.Scopes {
			if _, e, err := in.Doc.Find(scope, project, name); err == nil && e.Found {
				return in.Doc.Path
			}
		}
	}
	return ""
}

// EachOther calls f with all entries of other servers that a client reads for a directory, each
// with its scope.
func EachOther(env Env, c *clients.Client, repo, server string, f func(in Held, name string, value map[string]any)) {
	for _, in := range All(env, c, repo) {
		for _, scope := range in.Scopes {
			for _, container := range c.ContainersIn(in.Doc.Doc, scope, env.Project(repo)) {
				names, _ := in.Doc.Doc.Names(container) // a container of another form has none
				for _, name := range names {
					if name == server || clients.IsContainer(c, append(slices.Clone(container), name)) {
						continue
					}
					if e, err := in.Doc.Doc.Lookup(container, name); err == nil && e.Found {
						f(Held{in.Doc, []clients.Scope{scope}, in.Project}, name, e.Value)
					}
				}
			}
		}
	}
}
