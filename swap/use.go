package swap

import (
	"context"
	"slices"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/plan"
)

// UseOptions say what [Swapper.UseLocal] writes, and where.
type UseOptions = plan.Options

// UseLocal writes the checkout's command into the clients' configs. A client that fails
// does not stop the others. The returned error is for what stops all: bad options
// ([*hint.UsageError]), no checkout, or a server that does not start.
func (s *Swapper) UseLocal(ctx context.Context, o UseOptions) ([]Result, error) {
	want, err := plan.Want(s.Env, o)
	if err != nil {
		return nil, err
	}
	return apply(ctx, s.Env, want, o, try)
}

// A starter starts the server before its entries are written, as the options say. In the result,
// the changes of clients that could not start it have failed.
type starter func(context.Context, configs.Env, *plan.Wanted, []plan.Change, UseOptions) ([]plan.Change, error)

func apply(ctx context.Context, env configs.Env, want *plan.Wanted, o UseOptions, try starter) ([]Result, error) {
	env = env.Anew()
	sources, err := plan.Gather(env, want, o)
	if err != nil {
		return nil, err
	}
	changes := plan.Make(env, want, sources)
	if o.DryRun {
		return dryRun(want, changes, o.ShowSecrets), nil
	}
	changes = confirm(env, changes, o.Force)
	pending := slices.ContainsFunc(changes, plan.Change.Pending)
	if !pending && !commit.ToNote(env, want, changes) {
		return results(env, want, commit.Unwritten(changes)), nil
	}
	if pending {
		if changes, err = try(ctx, env, want, changes, o); err != nil {
			return nil, err
		}
	}
	outcomes, err := write(ctx, env, want, changes)
	if err != nil {
		return nil, err
	}
	return results(env.Anew(), want, outcomes), nil
}

func write(ctx context.Context, env configs.Env, want *plan.Wanted, changes []plan.Change) ([]commit.Outcome, error) {
	c, err := commit.Begin(ctx, env)
	if err != nil {
		return nil, err
	}
	defer c.End()
	return c.Write(ctx, want, changes)
}

// confirm asks about each read-only config once. The change of one that must not be written fails.
func confirm(env configs.Env, changes []plan.Change, force bool) []plan.Change {
	out := slices.Clone(changes)
	for i, c := range out {
		if !c.Pending() {
			continue
		}
		if err := c.Doc.Writable(env.Confirm, force); err != nil {
			out[i] = c.Failed(err)
			continue
		}
		out[i].Force = force || !c.Doc.Absent() && configs.ReadOnly(c.Doc.Info.Mode())
	}
	return out
}

func resultOf(want *plan.Wanted, o commit.Outcome) Result {
	c := o.Change
	res := Result{
		Client: c.Client.Name, Scope: c.Scope, Label: c.Client.Label(c.Scope),
		Server: want.Name, Repo: want.Repo, Config: c.Path, Command: ask.ShowArgs(want.ArgvFor(c.Client, c.Old)),
		Outcome: o.Action, Detail: o.Detail, Backup: o.Backup, Cautions: slices.Clip(c.Cautions), Err: o.Err,
	}
	if runs := c.Client.Dialect.Runs(c.Old.Value); want.By != "" && o.Action == Replaced && len(runs) > 0 {
		res.Detail = "it ran " + ask.CommandLine(ask.ShowArgs(runs))
	}
	if want.URL != "" {
		res.Tag = &Tag{Kind: TagRemote, URL: ask.ShowURL(want.URL)}
	}
	return res
}

// results returns the results of what was written, with cautions for the user.
func results(env configs.Env, want *plan.Wanted, outcomes []commit.Outcome) []Result {
	out := make([]Result, len(outcomes))
	for i, o := range outcomes {
		out[i] = resultOf(want, o)
		if o.Action != Failed {
			addCautions(env, &out[i], want, o)
		}
	}
	return out
}

// dryRun returns the results of what would change.
func dryRun(want *plan.Wanted, changes []plan.Change, show bool) []Result {
	out := make([]Result, len(changes))
	for i, o := range commit.Unwritten(changes) {
		c := o.Change
		if c.Pending() {
			o.Action = c.Action()
		}
		res := resultOf(want, o)
		if c.Pending() {
			res.Cautions = append(res.Cautions, c.Hidden(want)...)
			runs := want.Argv
			if want.Compile != nil {
				runs = want.Compile
			}
			if err := (ask.Command{Argv: runs}).Look(); err != nil {
				res.Shadows = []string{err.Error()}
			} else if want.Unbuilt != nil {
				res.Shadows = []string{want.Unbuilt.Error()}
			}
			res.Diff, res.Masked = c.Diff(want, show)
		}
		out[i] = res
	}
	return out
}
