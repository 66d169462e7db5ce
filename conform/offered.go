package conform

import (
	"context"
	"fmt"
	"slices"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// askServer starts the server once and returns which tools it offers, and its name.
func (o Options) askServer(ctx context.Context) (gap.Offer, string, error) {
	answer, err := child.Ask(ctx, child.Request{
		Ask: child.AskServer, Target: o.Targets[0], Server: o.server, ServerDir: o.serverDir, Another: true,
		Transport: o.Transport, Dialect: o.Dialect, Timeout: o.Timeout,
	})
	child.EndAdopted()
	if err != nil && ctx.Err() == nil {
		return nil, "", fmt.Errorf("the server %q cannot be asked: %w", o.Server, err)
	}
	return answer.Offer, answer.ServerName, err
}

// unoffered returns the cell of a script of layer mcp that asks for nothing that the server
// offers, as its list of tools shows. It returns nil if that is not certain, or if the script
// may not be applicable.
func (o Options) unoffered(j *job) *report.Cell {
	perhaps := func(r gap.Rule) bool { return r.Layer == j.layer && r.NotApplicable != "" && r.Has(j.target.Version) }
	if o.offers == nil || j.layer != report.MCPLayer || o.Reproduce || slices.ContainsFunc(j.gap.Rules(), perhaps) {
		return nil
	}
	found := j.gap.Unoffered(j.target.Version, o.offers, o.Dialect)
	if found == nil {
		return nil
	}
	e := child.Evidence(found.Command, found.Expected, found.Actual)
	c := j.cell()
	c.Status, c.Reason, c.Evidence = report.NotOffered, e.Actual, []report.Evidence{e}
	c.Claims = []report.Claim{{Outcome: report.Outcome(report.NotOffered), Why: c.Reason, Evidence: &e}}
	return &c
}

// DraftDialect asks the server of opts, with its first target, for its tools, and returns the
// draft of a dialect's file for it.
func DraftDialect(ctx context.Context, opts Options) (string, error) {
	gaps, err := gap.LoadSuites(gap.AllSuites)
	if err == nil {
		err = opts.complete()
	}
	if err != nil {
		return "", err
	}
	offers, _, err := opts.askServer(ctx)
	if err != nil {
		return "", err
	}
	return offers.Draft(gap.Tools(gaps)), nil
}
