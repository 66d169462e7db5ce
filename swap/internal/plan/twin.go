package plan

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
)

// The same server may have an entry under another name: one that runs the checkout, or the
// package that it publishes. A client with both offers every tool twice, old and new.

// noTwin returns an error if an entry is added beside another for the same server. One that is there
// is changed all the same, and of a server's setup the error is a caution then about the server that
// it replaces: the user may have two entries of its own, for two tmux servers.
func noTwin(env configs.Env, c Source, want *Wanted) error {
	here := c.has(want)
	if here && want.By == "" {
		return nil
	}
	var twin, likely error
	configs.EachOther(env, c.client, want.Repo, want.Name, func(in configs.Held, name string, value map[string]any) {
		runs, perhaps := sameServer(env.Sys, c.client, value, in.Project || in.Scopes[0] == clients.ScopeProject, want)
		_, former := toolsOf(c.client.Dialect.ReadArgv(value))
		if runs == "" || twin != nil || perhaps != "" && likely != nil || here && !former {
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
		advice := passServer(env.Words.Server, name, scope)
		switch {
		case here:
			advice = "remove one"
		case want.By != "" && !former:
			advice = "to use that one: " + want.again(c.client, name, want.Argv[1:]...)
		case want.By != "":
			advice = "to replace it: " + want.again(c.client, name, want.Argv[1:]...)
		}
		err := fmt.Errorf("its entry %q %sruns %s: with %q beside it, every tool is there twice%s; %s", name, perhaps, runs, want.Name, where, advice)
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
	if c.has(want) {
		return nil
	}
	configs.EachOther(env, c.client, want.Repo, want.Name, func(_ configs.Held, name string, _ map[string]any) {
		if slip == nil && oneSlip(name, want.Name) {
			slip = fmt.Errorf("its entry %q stays beside the new %q; did you mean %s %s?", name, want.Name, env.Words.Server, ask.CommandLine([]string{name}))
		}
	})
	return slip
}

// oneSlip reports whether one name is the other with one mistake, other than in its digits: those
// are meant.
func oneSlip(a, b string) bool {
	return nearest.Mistakes(a, b) == 1 && digits().ReplaceAllString(a, "") != digits().ReplaceAllString(b, "")
}

var digits = lazy.Regexp(`[0-9]+`)

// sameServer returns what an entry runs if that is the wanted server, or "". perhaps is "perhaps " if
// that is uncertain.
func sameServer(sys machine.System, c *clients.Client, value map[string]any, project bool, want *Wanted) (runs, perhaps string) {
	if want.By != "" {
		argv := c.Dialect.ReadArgv(value)
		if program, _ := toolsOf(argv); program == want.By || sameProgram(argv, want.Argv) {
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

// formerly has servers whose tools another one offers now, and that one, by the names of their programs
// and packages.
var formerly = map[string]string{"libtmux-mcp": "tmux-mcp"}

// toolsOf returns the program whose tools a command offers, if that is one that sets itself up. former
// is set if it starts the server that had them before.
func toolsOf(argv []string) (program string, former bool) {
	for _, word := range argv {
		name := commands.Bare(filepath.Base(word))
		if now := formerly[name]; now != "" {
			return now, true
		}
		for _, now := range formerly {
			if name == now {
				return now, false
			}
		}
	}
	return "", false
}

// A Double is an entry beside another one of its client with the same tools.
type Double struct {
	configs.Held
	Name, Text string
}

// Doubles returns the entries of a client that offer the same tools as another one, for servers that set
// themselves up. Two of the same program with different flags are meant: each is for a tmux server.
func Doubles(env configs.Env, c *clients.Client, repo string) (out []Double) {
	type entry struct {
		configs.Held
		name, program string
		former        bool
		argv          []string
	}
	var all []entry
	configs.EachOther(env, c, repo, "", func(in configs.Held, name string, value map[string]any) {
		argv := c.Dialect.ReadArgv(value)
		program, former := toolsOf(argv)
		if program == "" {
			return
		}
		if st, err := configs.StateOf(env, in.Doc, in.Scopes[0], repo, name); err == nil && !st.Off() {
			all = append(all, entry{in, name, program, former, argv})
		}
	})
	slices.SortStableFunc(all, func(a, b entry) int { // a former one is named first, as that to replace
		return cmp.Compare(fmt.Sprint(b.former), fmt.Sprint(a.former))
	})
	for i, a := range all {
		at := slices.IndexFunc(all[i+1:], func(b entry) bool {
			return a.program == b.program && a.name != b.name && (a.former || slices.Equal(a.argv, b.argv))
		})
		if at >= 0 {
			b := all[i+1+at]
			out = append(out, Double{a.Held, a.name, fmt.Sprintf("%s runs %s as %q beside %q, which runs %s, so every tool is there twice; remove one",
				c.Label(a.Scopes[0]), ask.CommandLine(ask.ShowArgs(a.argv)), a.name, b.name, ask.CommandLine(ask.ShowArgs(b.argv)))})
		}
	}
	return out
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
