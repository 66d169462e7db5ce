package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// job is one script on one target: the side of the process that runs all of
// them. The script itself runs in a child; see child.go.
type job struct {
	gap       *gap.Gap
	target    report.Target
	layer     report.Layer
	api       report.API     // on layer api
	foreign   bool           // the wrapper or the server is not this module's
	transport tmux.Transport // for the report; empty where nobody knows
	index     int            // among the jobs of the run
	dir       string
}

func (j *job) cell() report.Cell {
	return report.Cell{
		Suite: j.gap.Suite, Gap: j.gap.Number, Layer: j.layer, API: j.api.Name, Tmux: j.target.Name, Transport: string(j.transport),
	}
}

// run runs the script, and leaves nothing of it.
func (j *job) run(ctx context.Context, opts Options) report.Cell {
	start := time.Now()
	cell, err := j.runChild(ctx, opts)
	if err != nil {
		cell = j.cell()
		cell.Status, cell.Reason = report.Errored, err.Error()
	}
	if opts.Keep {
		cell.Dir = j.dir
	} else if err := os.RemoveAll(j.dir); err != nil && !cell.Status.Bad() {
		cell.Status, cell.Reason = report.Errored, "clean up: "+err.Error()
	}
	if ctx.Err() != nil && cell.Status != report.Pass {
		cell = j.cell()
		cell.Status, cell.Reason = report.Skip, stopReason(ctx)
	}
	cell.DurationMS = time.Since(start).Milliseconds()
	cell.Settle(j.gap.Claims(j.layer, j.target.Version))
	if opts.Strict {
		cell.Refuse()
	}
	return cell
}

func (j *job) runChild(ctx context.Context, opts Options) (report.Cell, error) {
	if c := opts.unoffered(j); c != nil {
		return *c, nil
	}
	cell := j.cell()
	if err := child.MakeDirs(j.dir); err != nil {
		return cell, err
	}
	file := filepath.Join(j.dir, j.gap.Name+".txtar")
	if err := os.WriteFile(file, j.gap.Script(j.layer), 0o600); err != nil {
		return cell, err
	}
	var api []string
	if j.layer == report.APILayer {
		var err error
		if api, err = AdapterCommand(j.api); err != nil {
			return cell, err
		}
	}
	last, err := opts.pool.Converse(ctx, child.Request{
		Cell: cell, Dir: j.dir, File: file, Layer: j.layer, Target: j.target, Transport: opts.Transport, Needs: j.gap.Features(),
		Server: opts.server, ServerDir: opts.serverDir, API: api, APIDir: opts.serverDir, Another: j.foreign, Dialect: opts.Dialect,
		Timeout: opts.Timeout, Verbose: opts.Verbose, Keep: opts.Keep,
	})
	if errors.Is(err, child.ErrOvertime) {
		cell.Status, cell.Reason = report.Fail, fmt.Sprintf("no end within %v", opts.Timeout)
		cell.Evidence = []report.Evidence{child.Evidence(last.Command, fmt.Sprintf("an end within %v", opts.Timeout), "still running")}
		cell.Claims = []report.Claim{{Outcome: report.TimedOut, Why: cell.Reason, Evidence: &cell.Evidence[0]}}
		return cell, nil
	}
	if err != nil {
		return cell, err
	}
	done := *last.Cell
	done.Log = last.Log
	done.Settle(j.gap.Claims(j.layer, j.target.Version))
	if done.Status.Bad() || opts.Reproduce {
		done.Reproducer = j.reproducer(&done, last.Steps, opts)
	}
	return done, nil
}
