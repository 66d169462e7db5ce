package swap

import (
	"context"
	"fmt"
	"slices"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/plan"
	"tmuxmcp/swap/journal"
)

// A Program is a server that adds itself to the clients.
type Program struct {
	Name  string // recorded with the swaps
	Entry string // the name of the entries, if no other is given
}

// SetupOptions say what [Program.Setup] writes and where, and what [Program.Remove] undoes.
type SetupOptions struct {
	Name        string            // of the entries; "": the [Program]'s, and for Remove all
	Command     []string          // the path of the program, and its flags; not for Remove
	NoFlags     bool              // entries lose the flags that they have, which they keep if Command has none
	SameFlag    map[string]string // one word for spellings of a flag that replace each other
	Clients     []string          // none: all that are installed, and for Remove all
	DryRun      bool              // return diffs and write nothing
	Force       bool              // also edit a config that is read-only, and undo what was edited since
	ShowSecrets bool              // leave the diffs of DryRun unmasked
}

// Setup writes the server's command into the clients' configs, for all projects, as
// [Swapper.UseLocal] does with a command. By default it takes every client that is certainly
// installed, and creates a config for one that has none. A client that already runs the program
// keeps its flags unless others are given, and gets a second entry only under a given name.
func (p Program) Setup(ctx context.Context, s *Swapper, o SetupOptions) ([]Result, error) {
	want := plan.Itself(s.Env, p.Name, p.Entry, o.Name, o.Command)
	want.Bare, want.SameFlag = o.NoFlags, o.SameFlag
	return apply(ctx, s.Env, want, UseOptions{
		Clients: o.Clients, Scope: clients.ScopeUser, DryRun: o.DryRun, Force: o.Force, ShowSecrets: o.ShowSecrets,
	}, preflight)
}

// Remove undoes what [Program.Setup] wrote and forgets it, so that no trace is left.
// There are no results if nothing is recorded.
func (p Program) Remove(ctx context.Context, s *Swapper, o SetupOptions) ([]Result, error) {
	selection := Selection{Clients: o.Clients, Server: o.Name, By: p.Name}
	c, wanted, err := selection.records(ctx, s.Env, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer c.End()
	for _, r := range c.State.Records {
		if client, res := recordedResult(r); client != nil && r.By == "" && r.Server == p.Entry {
			s.Warn(fmt.Sprintf("%s: mcp-swap use-local has written the entry %q, so it stays; mcp-swap revert puts back what was there before", res.Label, r.Server))
		}
	}
	mine := slices.DeleteFunc(slices.Clone(c.State.Records), func(r journal.Record) bool { return r.By != p.Name })
	out, err := undo(ctx, c, wanted, RevertOptions{DryRun: o.DryRun, Force: o.Force, ShowSecrets: o.ShowSecrets})
	if err == nil && len(out) == 0 && len(mine) > 0 {
		err = selection.noMatch(s.Words, "remove", mine)
	}
	if err != nil || o.DryRun {
		return out, err
	}
	reverted := slices.DeleteFunc(slices.Clone(c.State.Reverted), func(r journal.Record) bool { return !wanted(r) })
	if len(reverted) > 0 {
		_, err = c.Forget(reverted)
	}
	return out, err
}
