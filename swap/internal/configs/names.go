package configs

import (
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
)

// A Wanted server is one whose entry is looked for, by its name.
type Wanted struct {
	Repo, Server string
	Published    string // the package that the checkout publishes; "" if that is not known
}

// Instead adds to the states of clients without an entry of the server's name which of their other
// entries are that server, or have a name like it. The server is what the repository has, what it
// publishes, and what the entries of that name run.
func Instead(env Env, want Wanted, states []State) {
	var runs [][]string
	for _, cs := range states {
		if cs.Found && cs.Argv != nil {
			runs = append(runs, cs.Argv)
		}
	}
	for i := range states {
		cs := &states[i]
		has := func(o State) bool { return o.Client == cs.Client && (o.Found || o.Instead != "") }
		if !cs.Exists || cs.Error != "" || slices.ContainsFunc(states, has) {
			continue
		}
		cs.instead(env, want, runs)
	}
}

func (cs *State) instead(env Env, want Wanted, runs [][]string) {
	c := clients.Lookup(cs.Client)
	var names []string
	EachOther(env, c, want.Repo, want.Server, func(in Held, name string, value map[string]any) {
		names = append(names, name)
		project := in.Project || in.Scopes[0] == clients.ScopeProject
		is, perhaps := Classify(env.Sys, c, value, project, want.Repo).RunsServer(want.Published)
		argv := c.Dialect.ReadArgv(value)
		same := argv != nil && slices.ContainsFunc(runs, func(other []string) bool { return slices.Equal(other, argv) })
		if (same || is != "" && perhaps == "") && !slices.Contains(cs.OtherNames, name) {
			cs.OtherNames = append(cs.OtherNames, name)
		}
	})
	flag := func(name string) string { return env.Words.Server + " " + ask.CommandLine([]string{name}) }
	switch near := nearest.Names(want.Server, names); {
	case len(cs.OtherNames) == 1:
		cs.Instead = fmt.Sprintf("%q there is this server: pass %s", cs.OtherNames[0], flag(cs.OtherNames[0]))
	case len(cs.OtherNames) > 1:
		quoted := make([]string, len(cs.OtherNames))
		for i, name := range cs.OtherNames {
			quoted[i] = fmt.Sprintf("%q", name)
		}
		cs.Instead = fmt.Sprintf("%s there are this server: pass %s", strings.Join(quoted, " and "), flag(cs.OtherNames[0]))
	case len(near) > 0:
		cs.Instead = fmt.Sprintf("did you mean %s?", flag(near[0]))
	}
}
