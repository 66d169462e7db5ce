package conform

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"tmuxmcp/conform/report"
)

// Control says which scripts of a run are left out, and what happens when one
// fails. The zero Control runs all of them, once.
type Control struct {
	// Skip leaves out the scripts whose name it matches, which is
	// 04-pane-reset/tmux/3.6a: gap, layer and target. They are reported as skipped.
	Skip *regexp.Regexp
	// Shard is the part of the scripts to run. The others are not in the report.
	Shard Shard
	// FailFast ends the run when a script has failed that was not known to.
	FailFast bool
	// Retry is how often a script that fails is run again. One that passes then is
	// flaky.
	Retry int
	// Repeat is how often each script is run, if more than once: a claim that is not the
	// same each time is unstable, and a failure. It excludes Retry.
	Repeat int
	// Known are the failures that are expected.
	Known *report.Expectations
}

// Shard is one of several parts of the scripts that together are all of them.
// The parts are the same wherever the scripts, layers and targets are, and take about the
// same time. The zero Shard is all.
type Shard struct {
	Index int // from 1
	Of    int
}

// ParseShard reads a shard as it is written: 1/3.
func ParseShard(s string) (Shard, error) {
	var shard Shard
	fmt.Sscanf(s, "%d/%d", &shard.Index, &shard.Of)
	if shard.String() != s || shard.Index < 1 || shard.Index > shard.Of {
		return Shard{}, fmt.Errorf("%q is no shard: want I/N, from 1/N to N/N", s)
	}
	return shard, nil
}

func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// of is the shard's part of the jobs: each gets its turn of the longest script, of
// the next one, and so on.
func (s Shard) of(jobs []*job) []*job {
	if s.Of == 0 {
		return jobs
	}
	mine := map[*job]bool{}
	for turn, j := range longestFirst(jobs) {
		mine[j] = turn%s.Of == s.Index-1
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return !mine[j] })
}

// longestFirst are the jobs by the length of their scripts.
func longestFirst(jobs []*job) []*job {
	length := func(j *job) int { return len(j.gap.section(j.layer)) }
	return slices.SortedStableFunc(slices.Values(jobs), func(a, b *job) int { return length(b) - length(a) })
}

func (j *job) name() string {
	return j.gap.Name + "/" + string(j.layer) + "/" + j.target.Name
}

// errFailFast is the cause of a context that a failed script has ended.
var errFailFast = errors.New(report.FailFast)

// stopReason is why a script did not run to its end when ctx has ended.
func stopReason(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), errFailFast) {
		return report.FailFast
	}
	return report.Interrupted
}

// attempts runs a job, again if it is to be run again.
func (c Control) attempts(ctx context.Context, opts Options, j *job) report.Cell {
	if c.Skip != nil && c.Skip.MatchString(j.name()) {
		cell := j.cell()
		cell.Status, cell.Reason = report.Skip, "left out with --skip "+c.Skip.String()
		return cell
	}
	dir := j.dir
	var runs []report.Cell
	for again := true; again; {
		cell := j.run(ctx, opts)
		runs = append(runs, cell)
		j.dir = fmt.Sprintf("%s-%d", dir, len(runs))
		switch {
		case ctx.Err() != nil || cell.Status == report.NotApplicable || cell.Status == report.Skip:
			again = false
		case c.Repeat > 1:
			again = len(runs) < c.Repeat
		default:
			again = len(runs) <= c.Retry && cell.Status.Bad() && !c.Known.Expect(cell, j.target)
		}
	}
	switch last := runs[len(runs)-1]; {
	case c.Repeat < 2:
		return report.Retried(runs)
	case last.Status == report.NotApplicable || last.Status == report.Skip:
		return last
	}
	return report.Repeated(runs)
}
