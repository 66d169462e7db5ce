package conform

import (
	"context"
	"fmt"
	"slices"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// findServer asks the MCP server of the run, if it is another than this program's, what it is and
// what it offers, and finds its dialect.
func findServer(ctx context.Context, o *Options, r *report.Report) (err error) {
	if o.Server == "" || !slices.Contains(r.Layers, report.MCPLayer) {
		return nil
	}
	if o.offers, r.ServerName, err = o.askServer(ctx); err != nil {
		return err
	}
	given := o.Dialect != nil
	if !given {
		if o.Dialect, err = o.offers.Detect(); err != nil {
			return err
		}
	}
	if o.Dialect != nil {
		r.Dialect = o.Dialect.Name
	}
	var wrong []string
	if all, err := gap.LoadSuites(gap.AllSuites); given && err == nil {
		wrong = o.Dialect.Misnamed(gap.Tools(append(all, o.Gaps...)), o.offers)
	} else if text := o.offers.Unfit(gap.Tools(o.Gaps)); o.Dialect == nil && text != "" {
		wrong = []string{text}
	}
	for _, text := range wrong {
		if o.Warn != nil {
			o.Warn(text)
		}
	}
	return nil
}

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

// unoffered returns the outcome of a script of layer mcp if the list of tools shows that the server
// offers nothing of what it asks for. It returns nil if that is not certain, or if the script may
// not be applicable.
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
	return &report.Cell{
		Status: report.NotOffered, Reason: e.Actual, Evidence: []report.Evidence{e},
		Claims: []report.Claim{{Outcome: report.Outcome(report.NotOffered), Why: e.Actual, Evidence: &e}},
	}
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
