package swap

import (
	"context"
	"fmt"
	"slices"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// A Selection selects recorded swaps; a zero field means all.
type Selection struct {
	Clients []string
	Scope   clients.Scope
	Server  string
	Repo    string // the checkout, or the directory where a command was given
	By      string // the program that set itself up
}

// noMatch returns the error that no record is selected.
func (o Selection) noMatch(words configs.Words, verb string, all []journal.Record) error {
	var servers []string
	for _, r := range all {
		if !slices.Contains(servers, r.Server) {
			servers = append(servers, r.Server)
		}
	}
	check := "check --cli, --scope, --server and --repo"
	if o.By != "" {
		check = "check " + words.Client + " and " + words.Server
	}
	if o.Server != "" && !slices.Contains(servers, o.Server) {
		check = fmt.Sprintf("%s %s has none", words.Server, ask.CommandLine([]string{o.Server})) + nearest.Meant(o.Server, servers)
	}
	return fmt.Errorf("nothing to %s: no recorded swap matches; %s", verb, check)
}

// RevertOptions say what [Swapper.Revert] undoes.
type RevertOptions struct {
	Selection
	DryRun bool
	Force  bool // also fields edited since, read-only configs, and if a client still reads the swap elsewhere
	// ShowSecrets leaves the diffs of DryRun unmasked.
	ShowSecrets bool
}

// Revert undoes swaps, newest first. One that fails keeps its record and does not stop the
// others. There are no results if nothing is recorded.
func (s *Swapper) Revert(ctx context.Context, o RevertOptions) ([]Result, error) {
	c, wanted, err := o.records(ctx, s.Env, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer c.End()
	out, err := undo(ctx, c, wanted, o)
	if out == nil && err == nil && len(c.State.Records) > 0 {
		err = o.noMatch(s.Words, "revert", c.State.Records)
	}
	return out, err
}

// undo reverts the selected swaps.
func undo(ctx context.Context, c *commit.Commit, wanted func(journal.Record) bool, o RevertOptions) ([]Result, error) {
	back := commit.Back(c.Env, c.State)
	c.State.Revive(func(r *journal.Record) bool { return wanted(*r) && back(r) })
	records := slices.DeleteFunc(slices.Clone(c.State.Records), func(r journal.Record) bool { return !wanted(r) })
	if len(records) == 0 {
		return nil, nil
	}
	outcomes, err := c.Undo(ctx, records, commit.UndoOptions{DryRun: o.DryRun, Force: o.Force, ShowSecrets: o.ShowSecrets})
	var out []Result
	for _, done := range outcomes {
		_, res := recordedResult(done.Record)
		res.Outcome, res.Detail, res.Backup, res.Err = done.Action, done.Detail, done.Backup, done.Err
		res.Diff, res.Masked = done.Diff, done.Masked
		out = append(out, res)
	}
	if !o.DryRun { // two diffs of one file apply only in the order of undoing
		slices.SortStableFunc(out, func(a, b Result) int { return clients.Index(a.Client) - clients.Index(b.Client) })
	}
	return out, err
}

// records returns the record of swaps and which of them are selected. It takes the lock,
// unless nothing will be written.
func (o Selection) records(ctx context.Context, env configs.Env, dry bool) (c *commit.Commit, wanted func(journal.Record) bool, err error) {
	if err := o.Scope.Check(); err != nil {
		return nil, nil, err
	}
	chosen, err := clients.Named(env.Sys, o.Clients)
	if err != nil {
		return nil, nil, err
	}
	repo, err := checkout.RecordedDir(o.Repo)
	if err != nil {
		return nil, nil, err
	}
	wanted = func(r journal.Record) bool {
		reads := func(by journal.Reader) bool {
			return (len(o.Clients) == 0 || slices.Contains(chosen, clients.Lookup(by.Client))) &&
				(o.Scope == "" || o.Scope == clients.Scope(by.Scope))
		}
		return slices.ContainsFunc(r.Readers(), reads) &&
			(o.Server == "" || o.Server == r.Server) &&
			(repo == "" || repo == r.Repo) &&
			(o.By == "" || o.By == r.By)
	}
	if err := env.OwnHome(); err != nil {
		return nil, nil, err
	}
	if dry || machine.Missing(env.Journal.Dir) {
		c, err = commit.Read(env)
	} else {
		c, err = commit.Begin(ctx, env)
	}
	return c, wanted, err
}

// recordedResult begins the result for a record; the client is nil if unknown.
func recordedResult(r journal.Record) (*clients.Client, Result) {
	res := Result{Client: r.Client, Scope: clients.Scope(r.Scope), Label: r.Client}
	res.Server, res.Repo, res.Config, res.Backup = r.Server, r.Repo, r.Config, r.Backup
	c := clients.Lookup(r.Client)
	if c != nil {
		res.Label = c.Label(res.Scope)
	}
	return c, res
}
