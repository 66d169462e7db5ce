package plan

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
)

// The same server may have an entry under another name: one that runs the checkout, or the
// package that it publishes. A client with both offers every tool twice, old and new.

// noTwin returns an error if an entry would be added beside another for the same server.
func noTwin(env configs.Env, c Source, want *Wanted) error {
	if _, e, err := c.doc.Find(c.scope, want.project, want.Name); err != nil || e.Found {
		return nil // the edit reports it
	}
	var twin, likely error
	configs.EachOther(env, c.client, want.Repo, want.Name, func(in configs.Held, name string, value map[string]any) {
		runs, perhaps := sameServer(env.Sys, c.client, value, in.Project || in.Scopes[0] == clients.ScopeProject, want)
		if runs == "" || twin != nil || perhaps != "" && likely != nil {
			return
		}
		where, scope := "", clients.Scope("")
		if in.Doc.Target != c.doc.Target {
			where = " (it is in " + in.Doc.Path + ")"
			switch {
			case !c.client.InFiles(clients.ScopeProject):
			case in.Project && c.scope == clients.ScopeUser:
				scope = clients.ScopeProject
			case !in.Project && c.scope == clients.ScopeProject:
				scope = clients.ScopeUser
			}
		}
		err := fmt.Errorf("its entry %q %sruns %s: with %q beside it every tool would be there twice%s; %s",
			name, perhaps, runs, want.Name, where, passServer(env.Words.Server, name, scope))
		switch {
		case perhaps == "":
			twin = err
		case want.unnamed:
			likely = fmt.Errorf("%w, or %s %s if it is another server", err, env.Words.Server, ask.CommandLine([]string{want.Name}))
		default:
			likely = err
		}
	})
	return cmp.Or(twin, likely)
}

// misspelt returns an error if an entry would be added under a given name that is one slip away from
// that of another.
func misspelt(env configs.Env, c Source, want *Wanted) (slip error) {
	if _, e, err := c.doc.Find(c.scope, want.project, want.Name); err != nil || e.Found {
		return nil
	}
	configs.EachOther(env, c.client, want.Repo, want.Name, func(_ configs.Held, name string, _ map[string]any) {
		if slip == nil && oneSlip(name, want.Name) {
			slip = fmt.Errorf("its entry %q stays beside the new %q; did you mean %s %s?", name, want.Name, env.Words.Server, ask.CommandLine([]string{name}))
		}
	})
	return slip
}

// oneSlip reports whether one letter is missing, added or another, or two are swapped. A digit is
// meant.
func oneSlip(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return (len(a) <= 1 && len(b) <= 1 || swapped) && !strings.ContainsAny(a+b, "0123456789")
}

// sameServer returns what an entry runs if that is the wanted server, or "". perhaps is "perhaps " if
// that is uncertain.
func sameServer(sys machine.System, c *clients.Client, value map[string]any, project bool, want *Wanted) (runs, perhaps string) {
	if want.By != "" {
		if argv := c.Dialect.ReadArgv(value); sameProgram(argv, want.Argv) || slices.ContainsFunc(argv, func(word string) bool { return filepath.Base(word) == want.By }) {
			return ask.CommandLine(ask.ShowArgs(argv)), ""
		}
		return "", ""
	}
	if want.Given || want.URL != "" {
		if slices.Equal(c.Dialect.Runs(value), want.runs()) {
			return "the same server", ""
		}
		return "", ""
	}
	return configs.Classify(sys, c, value, project, want.Repo).RunsServer(want.published)
}

// PassServer returns the advice to use a server's name, and its scope if that is another one.
func PassServer(name string, scope clients.Scope) string { return passServer("--server", name, scope) }

func passServer(flag, name string, scope clients.Scope) string {
	flags := flag + " " + ask.CommandLine([]string{name})
	if scope != "" {
		flags += " --scope " + string(scope)
	}
	return "pass " + flags + " to use that name"
}
