package conform

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/version"
	"tmuxmcp/tmux"
)

// Options say what to run. Targets and Gaps are required.
type Options struct {
	Targets []report.Target
	Gaps    []*gap.Gap
	// Layers to run; all when empty. A gap that has no script for a layer has no
	// cell there.
	Layers []report.Layer
	Policy
	// Transport is how package tmux reaches the server; the target's own client
	// program, as for a target that is a client and a server, when empty. Layer
	// tmux has no choice.
	Transport tmux.Transport
	// APIs are the wrappers that layer api asks; package tmux when empty. See [ParseAPI]. A
	// wrapper without a name gets the one that its adapter reports.
	APIs []report.API
	// Server is the shell command that starts the MCP server for layer mcp. The
	// server speaks MCP over standard input and output, and honors the environment
	// variables of tmux-mcp or of libtmux-mcp. If empty, it is this executable with
	// [ServerArg].
	Server string
	// Dialect is the server's. If nil, it is one of [Dialects], if exactly one is
	// certain from the tools that the server offers, and else the scripts' own.
	Dialect *gap.Dialect
	// Warn, when set, is called for each problem of Dialect.
	Warn func(string)
	// Jobs is the number of scripts that run at a time; twice the number of
	// processors when zero, as scripts wait more than they work.
	Jobs int
	// Timeout is for each script; 30 seconds when zero.
	Timeout time.Duration
	// Keep leaves the scripts' directories, and the tmux servers in them.
	Keep bool
	// Verbose makes the transcripts of the cells complete.
	Verbose bool
	// Reproduce gives every cell a reproducer, and not only those that fail.
	Reproduce bool
	// Progress, when set, is called, one call at a time, when a script starts
	// and when it has ended.
	Progress func(Event)

	// child is the command that becomes a script's process (see [Main]); this
	// executable with [ChildArg] when empty.
	child   []string
	pool    *child.Pool
	server  []string
	adapter []string  // of package tmux
	offers  gap.Offer // of Server
	// temp is where the run makes its directory; the usual place when empty.
	temp string
	// serverDir is this process's directory: commands of servers and adapters may have
	// paths relative to it.
	serverDir string
}

// Event reports the progress of a run.
type Event struct {
	// Cell is the script's cell; it has an outcome once Done is set.
	Cell report.Cell
	Done bool
	// Ended and Total are numbers of scripts.
	Ended, Total int
}

// DefaultTimeout is the time that a script has.
const DefaultTimeout = 30 * time.Second

// Run runs the scripts and returns a report. When ctx ends, it ends the running
// scripts, skips the others, and returns what is known, marked as interrupted.
// An error means that nothing could be run.
func Run(ctx context.Context, opts Options) (*report.Report, error) {
	if len(opts.Targets) == 0 || len(opts.Gaps) == 0 {
		return nil, errors.New("nothing to run: no targets or no gaps")
	}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	if err := opts.findAPIs(ctx); err != nil {
		return nil, err
	}
	all := opts.jobs()
	jobs := opts.Shard.of(all)
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("nothing to run: no gap has a script for layer %s", opts.Layers[0])
	case len(jobs) == 0:
		return nil, fmt.Errorf("nothing to run: shard %s of %d scripts is empty", opts.Shard, len(all))
	}
	opts.Gaps = slices.DeleteFunc(slices.Clone(opts.Gaps), func(g *gap.Gap) bool {
		return !slices.ContainsFunc(jobs, func(j *job) bool { return j.gap == g })
	})
	result := newReport(opts, jobs)
	if err := findServer(ctx, &opts, result); err != nil {
		return nil, err
	}
	opts.Expected.Of(result)
	dir, err := child.RunDir(opts.temp)
	if err != nil {
		return nil, fmt.Errorf("make a directory for the run: %w", err)
	}
	for i, j := range jobs {
		j.index, j.dir = i, filepath.Join(dir, strconv.Itoa(i))
	}
	opts.pool = &child.Pool{Child: opts.child}
	result.Cells = runJobs(ctx, opts, jobs)
	opts.pool.End()
	result.DurationMS = time.Since(result.Started).Milliseconds()
	result.Interrupted = ctx.Err() != nil
	opts.Expected.Apply(result)
	if opts.Keep {
		result.Kept = dir
		return result, nil
	}
	child.EndAdopted()
	return result, os.RemoveAll(dir)
}

// newReport returns the report of these jobs, without their outcomes.
func newReport(o Options, jobs []*job) *report.Report {
	r := &report.Report{
		Version: report.FormatVersion, Started: time.Now(), Shard: o.Shard.String(),
		Targets: o.Targets, Server: o.Server, Suites: gap.SuitesOf(o.Gaps),
		Program: thisProgram(), Machine: thisMachine(),
	}
	for _, g := range o.Gaps {
		r.Gaps = append(r.Gaps, g.GapInfo)
	}
	for _, l := range report.Layers() {
		if slices.ContainsFunc(jobs, func(j *job) bool { return j.layer == l }) {
			r.Layers = append(r.Layers, l)
		}
	}
	if slices.Contains(r.Layers, report.APILayer) {
		r.APIs = o.APIs
	}
	return r
}

// complete sets defaults.
func (o *Options) complete() error {
	o.Jobs = cmp.Or(max(o.Jobs, 0), 2*runtime.NumCPU())
	o.Transport = cmp.Or(o.Transport, tmux.TransportExec)
	o.Timeout = cmp.Or(max(o.Timeout, 0), DefaultTimeout)
	if len(o.Layers) == 0 {
		o.Layers = report.Layers()
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, to run scripts with: %w", err)
	}
	if len(o.child) == 0 {
		o.child = []string{exe, child.Arg}
	}
	o.adapter = []string{exe, APIArg}
	o.server = []string{"/bin/sh", "-c", o.Server}
	if o.Server == "" {
		o.server = []string{exe, ServerArg}
	}
	if o.serverDir, err = os.Getwd(); err != nil {
		return fmt.Errorf("find the current directory, to start the MCP server in: %w", err)
	}
	return nil
}

// thisProgram returns what made the report, which may have been built without its commit.
func thisProgram() *report.Program {
	p := &report.Program{Version: version.Number(), Commit: version.Commit()}
	if p.Commit != "" {
		return p
	}
	p.Commit = "unknown"
	if exe, err := os.Executable(); err == nil {
		if f, err := os.Open(exe); err == nil {
			defer f.Close()
			h := sha256.New()
			if _, err := io.Copy(h, f); err == nil {
				p.Sum = hex.EncodeToString(h.Sum(nil))
			}
		}
	}
	return p
}

// thisMachine describes this machine, without names of it or its user.
func thisMachine() *report.Machine {
	m := &report.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return m
}

// jobs returns all scripts of the run, in the order of reports.
func (o *Options) jobs() (jobs []*job) {
	for _, gap := range o.Gaps {
		for _, target := range o.Targets {
			for _, layer := range gap.Layers() {
				j := &job{gap: gap, target: target, layer: layer, transport: o.Transport}
				switch {
				case !slices.Contains(o.Layers, layer):
					continue
				case layer == report.TmuxLayer:
					j.transport = tmux.TransportExec
				case layer == report.MCPLayer && o.Server != "":
					j.transport, j.foreign = "", true
				}
				if layer != report.APILayer {
					jobs = append(jobs, j)
					continue
				}
				for _, a := range o.APIs {
					of := *j
					of.api, of.foreign = a, a.Command != ""
					if of.foreign {
						of.transport = ""
					}
					jobs = append(jobs, &of)
				}
			}
		}
	}
	return jobs
}

// maxHung is how many consecutive scripts of a target may time out before the rest is skipped:
// each would take its whole timeout.
const maxHung = 3

func runJobs(ctx context.Context, opts Options, jobs []*job) []report.Cell {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cells := make([]report.Cell, len(jobs))
	var mu sync.Mutex
	ended := 0
	// The number of consecutive scripts that hung, by target and wrapper.
	hung := map[string]int{}
	progress := func(c report.Cell, done bool) {
		if opts.Progress != nil {
			opts.Progress(Event{Cell: c, Done: done, Ended: ended, Total: len(jobs)})
		}
	}
	run := func(j *job) report.Cell {
		if ctx.Err() != nil {
			return j.settled(report.Cell{Status: report.Skip, Reason: stopReason(ctx)})
		}
		c := j.cell(report.Cell{})
		mu.Lock()
		progress(c, false)
		givenUp := hung[c.Tmux+" "+c.API] >= maxHung
		mu.Unlock()
		if givenUp {
			c = j.settled(report.Cell{Status: report.Skip, Reason: report.GivenUp})
		} else {
			c = attempts(ctx, opts, j)
		}
		mu.Lock()
		defer mu.Unlock()
		if slices.ContainsFunc(c.Claims, func(cl report.Claim) bool { return cl.Outcome == report.TimedOut }) {
			hung[c.Tmux+" "+c.API]++
		} else if !givenUp {
			hung[c.Tmux+" "+c.API] = 0
		}
		if opts.FailFast && c.Status.Bad() && !opts.Expected.Expect(c, j.target) {
			stop(errFailFast)
		}
		ended++
		progress(c, true)
		return c
	}
	queue := make(chan *job)
	var workers sync.WaitGroup
	for range min(opts.Jobs, len(jobs)) {
		workers.Go(func() {
			for j := range queue {
				cells[j.index] = run(j)
			}
		})
	}
	// A long script that starts last would run alone at the end.
	for _, j := range longestFirst(jobs) {
		queue <- j
	}
	close(queue)
	workers.Wait()
	return cells
}

// CheckEnvironment returns an error if scripts cannot run in this process's environment: they
// need programs that every system has, and a directory for temporary files.
func CheckEnvironment() error {
	for _, name := range []string{"sh", "sleep", "cat"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("no %s on PATH (%q): set it, as in PATH=/usr/bin:/bin", name, os.Getenv("PATH"))
		}
	}
	dir, err := child.RunDir("")
	if err != nil {
		return fmt.Errorf("no directory can be made in %s: %w: set TMPDIR to one that is there, or unset it",
			os.TempDir(), errors.Unwrap(err))
	}
	return os.Remove(dir)
}

// Policy says which scripts of a run are left out, and what happens when one
// fails. The zero Policy runs all of them, once.
type Policy struct {
	// Skip leaves out the scripts whose name it matches, which is
	// 04-pane-reset/tmux/3.6a: gap, layer and target, and for another wrapper its name, as in
	// 04-pane-reset/api/3.6a/libtmux 0.62.0. They are reported as skipped.
	Skip *regexp.Regexp
	// Shard is the part of the scripts to run. The others are not in the report.
	Shard Shard
	// FailFast ends the run when a script has failed that was not known to.
	FailFast bool
	// Retry is how often a failing script is run again. One that passes then is flaky.
	Retry int
	// Repeat is how often each script is run, if more than once: a claim that is not the
	// same each time is unstable, and a failure. It excludes Retry.
	Repeat int
	// Strict makes what a wrapper or the server does not offer a failure.
	Strict bool
	// Expected are the known failures.
	Expected *report.Expectations
}

// Shard is one of several parts into which the scripts are divided. The division is the same
// wherever the scripts, layers and targets are, and the parts take about the same time.
// The zero Shard is all scripts.
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

// of returns the shard's part of the jobs: each shard gets its turn of the longest script, of
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

// longestFirst returns the jobs, those with the longest scripts first.
func longestFirst(jobs []*job) []*job {
	length := func(j *job) int { return len(j.gap.Section(j.layer)) }
	return slices.SortedStableFunc(slices.Values(jobs), func(a, b *job) int { return length(b) - length(a) })
}

// errFailFast is the cause of a context that a failed script has ended.
var errFailFast = errors.New(report.FailFast)

// stopReason returns why a script did not run to its end when ctx has ended.
func stopReason(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), errFailFast) {
		return report.FailFast
	}
	return report.Interrupted
}

// attempts runs a job, again if it is to be run again.
func attempts(ctx context.Context, o Options, j *job) report.Cell {
	name := j.gap.Name + "/" + string(j.layer) + "/" + j.target.Name
	if j.layer == report.APILayer && j.foreign {
		name += "/" + j.api.Name
	}
	if o.Skip != nil && o.Skip.MatchString(name) {
		return j.settled(report.Cell{Status: report.Skip, Reason: "left out with --skip " + o.Skip.String()})
	}
	dir := j.dir
	var runs []report.Cell
	for again := true; again; {
		cell := j.run(ctx, o)
		runs = append(runs, cell)
		j.dir = fmt.Sprintf("%s-%d", dir, len(runs))
		switch {
		case ctx.Err() != nil || cell.Status == report.NotApplicable || cell.Status == report.Skip:
			again = false
		case o.Repeat > 1:
			again = len(runs) < o.Repeat
		default:
			again = len(runs) <= o.Retry && cell.Status.Bad() && !o.Expected.Expect(cell, j.target)
		}
	}
	switch last := runs[len(runs)-1]; {
	case o.Repeat < 2:
		return report.Retried(runs)
	case last.Status == report.NotApplicable || last.Status == report.Skip:
		return last
	}
	return report.Repeated(runs)
}
