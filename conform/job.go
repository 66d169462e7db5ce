package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// job is one script on one target, in the process that runs all of them. The script itself runs in
// a child; see package child.
type job struct {
	gap       *gap.Gap
	target    report.Target
	layer     report.Layer
	api       report.API     // on layer api
	foreign   bool           // the wrapper or the server is not this module's
	transport tmux.Transport // for the report; empty where it is not known
	index     int            // among the jobs of the run
	dir       string
}

// cell returns a cell as the one of this job.
func (j *job) cell(c report.Cell) report.Cell {
	c.Suite, c.Gap, c.Layer = j.gap.Suite, j.gap.Number, j.layer
	c.API, c.Tmux, c.Transport = j.api.Name, j.target.Name, string(j.transport)
	return c
}

// settled returns the outcome of the job, with all claims of its script.
func (j *job) settled(c report.Cell) report.Cell {
	c = j.cell(c)
	c.Settle(j.gap.Claims(j.layer, j.target.Version))
	return c
}

// run runs the script, and leaves nothing of it.
func (j *job) run(ctx context.Context, opts Options) report.Cell {
	start := time.Now()
	cell, err := j.runChild(ctx, opts)
	if err != nil {
		cell = j.settled(report.Cell{Status: report.Errored, Reason: err.Error()})
	}
	if opts.Keep {
		cell.Dir = j.dir
	} else if err := os.RemoveAll(j.dir); err != nil && !cell.Status.Bad() {
		cell.Status, cell.Reason = report.Errored, "clean up: "+err.Error()
	}
	if ctx.Err() != nil && cell.Status != report.Pass {
		cell = j.settled(report.Cell{Status: report.Skip, Reason: stopReason(ctx)})
	}
	cell.DurationMS = time.Since(start).Milliseconds()
	if opts.Strict {
		cell.Refuse()
	}
	return cell
}

func (j *job) runChild(ctx context.Context, opts Options) (report.Cell, error) {
	if c := opts.unoffered(j); c != nil {
		return j.settled(*c), nil
	}
	if err := child.MakeDirs(j.dir); err != nil {
		return report.Cell{}, err
	}
	file := filepath.Join(j.dir, j.gap.Name+".txtar")
	if err := os.WriteFile(file, j.gap.Script(j.layer), 0o600); err != nil {
		return report.Cell{}, err
	}
	api, apiDir := opts.adapter, "" // the script's directory
	if j.api.Command != "" {
		api, apiDir = adapter.Shell(j.api.Command), opts.serverDir
	}
	last, err := opts.pool.Converse(ctx, child.Request{
		Dir: j.dir, File: file, Layer: j.layer, Target: j.target, Transport: opts.Transport, Needs: j.gap.Features(),
		Server: opts.server, ServerDir: opts.serverDir, API: api, APIDir: apiDir, Another: j.foreign, Dialect: opts.Dialect,
		Timeout: opts.Timeout, Verbose: opts.Verbose, Keep: opts.Keep,
	})
	if errors.Is(err, child.ErrOvertime) {
		why := fmt.Sprintf("no end within %v", opts.Timeout)
		e := child.Evidence(last.Command, fmt.Sprintf("an end within %v", opts.Timeout), "still running")
		return j.settled(report.Cell{
			Status: report.Fail, Reason: why, Evidence: []report.Evidence{e},
			Claims: []report.Claim{{Outcome: report.TimedOut, Why: why, Evidence: &e}},
		}), nil
	}
	if err != nil {
		return report.Cell{}, err
	}
	cell := j.settled(*last.Cell)
	cell.Log = last.Log
	if cell.Status.Bad() || opts.Reproduce {
		cell.Reproducer = j.reproducer(&cell, last.Steps, opts)
	}
	return cell, nil
}
