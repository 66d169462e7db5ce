// Jobs plays nineteen whole jobs against tmux-mcp, each with the calls that a competent
// agent would make, and counts what they cost: calls, the bytes that a model writes and
// reads, and time.
//
//	go run ./internal/jobs [--tmux PATH] [--think DURATION] [--json | --markdown] [JOB…]
//
// A job has three parts. The first prepares a private tmux server; the second plays the
// agent, which knows only its task and the text of the results; the third checks with
// the tmux program and in files, without tmux-mcp, whether the job is done, and compares
// what the agent has learned with the truth. tmux-mcp is built from this checkout and
// runs as a child process with its defaults.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/term"
)

func main() {
	if play, ok := standIns[filepath.Base(os.Args[0])]; ok {
		os.Exit(play(os.Args[1:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `usage: go run ./internal/jobs [flags] [JOB...]

Play whole jobs against tmux-mcp, all or the named ones, and count calls, bytes and time:

    go run ./internal/jobs --tmux /opt/tmux-3.6a/bin/tmux --think 0s vim less

  --tmux PATH       the tmux to test (default: the one on PATH)
  --think DURATION  how long the model pauses between two calls (default 1s)
  --json            write the figures as JSON
  --markdown        write them as a table in markdown
  --trace           write every call and its result to standard error

Exit status: 0 all outcomes were right, 1 one was wrong, 2 wrong usage.
A job whose program is not installed is skipped and not counted as done.

Jobs: `

// The goals for all jobs.
const (
	mostCalls = 60
	mostRead  = 20_000
)

// A report is what came of a run.
type report struct {
	Tmux  string    `json:"tmux"`
	Think float64   `json:"think_seconds"`
	Jobs  []outcome `json:"jobs"`
	Total struct {
		Done    int `json:"done"`
		Skipped int `json:"skipped"`
		cost
	} `json:"total"`
}

// An outcome is what came of one job.
type outcome struct {
	Name    string `json:"job"`
	Title   string `json:"title"`
	Done    bool   `json:"done"`
	Skipped string `json:"skipped,omitempty"` // why
	Error   string `json:"error,omitempty"`
	cost
}

// run is the command. It returns the exit status.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("jobs", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	tmux := f.String("tmux", "tmux", "")
	think := f.Duration("think", time.Second, "")
	asJSON := f.Bool("json", false, "")
	asMarkdown := f.Bool("markdown", false, "")
	traced := f.Bool("trace", false, "")
	switch err := f.Parse(arguments); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, usage+strings.Join(names(), ", "))
		return 0
	case err != nil:
		return misused(stderr, err.Error())
	case *think < 0:
		return misused(stderr, fmt.Sprintf("--think %v: must not be negative", *think))
	case *asJSON && *asMarkdown:
		return misused(stderr, "--json and --markdown exclude each other")
	}
	chosen := jobs
	if f.NArg() > 0 {
		chosen = nil
		for _, name := range f.Args() {
			i := slices.IndexFunc(jobs, func(j job) bool { return j.name == name })
			if i < 0 {
				return misused(stderr, fmt.Sprintf("no job %q: must be one of %s", name, strings.Join(names(), ", ")))
			}
			chosen = append(chosen, jobs[i])
		}
	}
	var trace func(tool, arguments, text string)
	if *traced {
		trace = func(tool, arguments, text string) { fmt.Fprintf(stderr, "> %s %s\n%s\n\n", tool, arguments, text) }
	}
	played, err := playAll(ctx, *tmux, *think, chosen, trace, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "jobs: %v\n", err)
		return 1
	}
	switch {
	case *asJSON:
		err = played.json(stdout)
	case *asMarkdown:
		err = played.markdown(stdout)
	default:
		err = played.text(stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "jobs: %v\n", err)
		return 1
	}
	if played.Total.Done+played.Total.Skipped < len(played.Jobs) {
		return 1
	}
	return 0
}

func misused(stderr io.Writer, why string) int {
	fmt.Fprintf(stderr, "jobs: %s\nSee go run ./internal/jobs --help\n", why)
	return 2
}

func names() (all []string) {
	for _, j := range jobs {
		all = append(all, j.name)
	}
	return all
}

// playAll plays jobs one after the other. An error is not a job's own: there is no tmux,
// or the user has interrupted the run.
func playAll(ctx context.Context, tmux string, think time.Duration, chosen []job, trace func(tool, arguments, text string), stderr io.Writer) (r *report, err error) {
	progress := func(string, ...any) {}
	if file, ok := stderr.(*os.File); ok && trace == nil && term.IsTerminal(int(file.Fd())) {
		progress = func(format string, args ...any) { fmt.Fprintf(stderr, "\r\033[K"+format, args...) }
	}
	defer progress("")
	progress("building tmux-mcp")
	b, err := newBench(ctx, tmux, think)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, b.close()) }()
	r = &report{Tmux: b.version, Think: think.Seconds()}
	for i, j := range chosen {
		progress("%d of %d: %s", i+1, len(chosen), j.title)
		o := b.play(ctx, j, trace)
		if ctx.Err() != nil {
			return nil, interrupted(ctx, nil)
		}
		r.take(o)
		switch {
		case o.Skipped != "":
			progress("")
			fmt.Fprintf(stderr, "SKIPPED %s: %s\n", o.Name, o.Skipped)
		case !o.Done:
			progress("")
			fmt.Fprintf(stderr, "FAILED %s: %s\n", o.Name, o.Error)
		}
	}
	return r, nil
}

func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

// play plays one job on a stage of its own.
func (b *bench) play(ctx context.Context, j job, trace func(tool, arguments, text string)) outcome {
	o := outcome{Name: j.name, Title: j.title}
	for _, program := range j.needs {
		if _, err := exec.LookPath(program); err != nil {
			o.Skipped = program + " is not installed"
			return o
		}
	}
	if j.lacks != nil {
		if o.Skipped = j.lacks(); o.Skipped != "" {
			return o
		}
	}
	err := b.playOn(ctx, j, trace, &o.cost)
	if o.Done = err == nil; !o.Done {
		o.Error = err.Error()
	}
	return o
}

func (b *bench) playOn(ctx context.Context, j job, trace func(tool, arguments, text string), c *cost) (err error) {
	s, err := b.newStage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var play func(*agent)
	var check func()
	if err := try(func() { play, check = j.prepare(s) }); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	a, err := s.newAgent(trace)
	if err != nil {
		return fmt.Errorf("start tmux-mcp: %w", err)
	}
	begin := time.Now()
	err = try(func() { play(a) })
	a.Seconds = time.Since(begin).Seconds()
	*c = a.cost
	if err == nil {
		err = try(check)
	}
	return errors.Join(err, a.client.Close())
}

// take adds a job to the report.
func (r *report) take(o outcome) {
	r.Jobs = append(r.Jobs, o)
	if o.Done {
		r.Total.Done++
	}
	if o.Skipped != "" {
		r.Total.Skipped++
	}
	r.Total.cost.add(o.cost)
}

// missed are the goals that the report misses.
func (r *report) missed() (all []string) {
	if r.Total.Calls > mostCalls {
		all = append(all, fmt.Sprintf("%d calls, the goal is %d", r.Total.Calls, mostCalls))
	}
	if r.Total.Read > mostRead {
		all = append(all, fmt.Sprintf("%d bytes read, the goal is %d", r.Total.Read, mostRead))
	}
	return all
}

func (o outcome) done() string {
	switch {
	case o.Skipped != "":
		return "skipped"
	case o.Done:
		return "yes"
	}
	return "NO"
}

// json writes the report for programs.
func (r *report) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// text writes the report for people.
func (r *report) text(w io.Writer) error {
	fmt.Fprintf(w, "tmux %s, %gs between calls\n\n", r.Tmux, r.Think)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "job\tdone\tcalls\twritten\tread\ts\t")
	for _, o := range r.Jobs {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%.1f\t\n", o.Name, o.done(), o.Calls, o.Written, o.Read, o.Seconds)
	}
	fmt.Fprintf(t, "total\t%d of %d\t%d\t%d\t%d\t%.1f\t\n", r.Total.Done, len(r.Jobs), r.Total.Calls, r.Total.Written, r.Total.Read, r.Total.Seconds)
	if err := t.Flush(); err != nil {
		return err
	}
	for _, m := range r.missed() {
		if _, err := fmt.Fprintf(w, "\ngoal missed: %s\n", m); err != nil {
			return err
		}
	}
	return nil
}

// markdown writes the report for docs/performance.md.
func (r *report) markdown(w io.Writer) error {
	fmt.Fprint(w, "| job | done | calls | written, bytes | read, bytes | s |\n|---|---|---:|---:|---:|---:|\n")
	for _, o := range r.Jobs {
		fmt.Fprintf(w, "| %s | %s | %d | %s | %s | %.1f |\n", o.Title, o.done(), o.Calls, grouped(o.Written), grouped(o.Read), o.Seconds)
	}
	_, err := fmt.Fprintf(w, "| total | %d of %d | %d | %s | %s | %.0f |\n", r.Total.Done, len(r.Jobs), r.Total.Calls, grouped(r.Total.Written), grouped(r.Total.Read), r.Total.Seconds)
	return err
}

// grouped is a number with a comma before its last three digits.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
