// Package report holds the outcome of a run of mcp-conform, compares it with another run and
// with failures that are known, and writes it in every format that the program has. It runs
// nothing.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Layer is what a script looks at.
type Layer string

const (
	// TmuxLayer is the tmux program itself.
	TmuxLayer Layer = "tmux"
	// APILayer is a wrapper of tmux: package tmux of this module, or others by their adapters.
	APILayer Layer = "api"
	// MCPLayer is an MCP server, asked by a client over stdio.
	MCPLayer Layer = "mcp"
)

// Layers returns all layers, in the order of reports.
func Layers() []Layer { return []Layer{TmuxLayer, APILayer, MCPLayer} }

// layers are the letters above the glyphs of a cell, and what the layers ask.
var layers = map[Layer]struct{ letter, question string }{
	TmuxLayer: {"t", "is the claim true of this tmux?"},
	APILayer:  {"a", "is the gap closed in the Go API?"},
	MCPLayer:  {"m", "is the gap closed in the MCP server?"},
}

// Status is the outcome of a cell.
type Status string

const (
	// Pass: everything was as the script expects.
	Pass Status = "pass"
	// Fail: something was not.
	Fail Status = "fail"
	// NotApplicable: the script says that this version of tmux is too old or
	// too new for it.
	NotApplicable Status = "n/a"
	// NotOffered: the MCP server has no tool for it.
	NotOffered Status = "not offered"
	// Skip: the script did not run, or not to its end, for the reason given.
	Skip Status = "skip"
	// Errored: the runner or the script itself is at fault, not the target.
	Errored Status = "error"
	// Flaky: it failed, and passed when it was run again.
	Flaky Status = "flaky"
)

// Bad reports whether a cell of this status makes a run fail, unless the failure
// is a known one.
func (s Status) Bad() bool { return s == Fail || s == Errored }

// Verdict is what a script of layer tmux observed about a claim; empty when it saw neither verdict.
type Verdict string

const (
	Confirmed Verdict = "confirmed"
	Refuted   Verdict = "refuted"
	NoVerdict Verdict = "n/a"
)

// FormatVersion is the version of the tree below, written to JSON. Increment it
// when a field changes its meaning or is removed, not when one is added.
const FormatVersion = 1

// Report is the outcome of a run.
type Report struct {
	Version     int       `json:"version"`
	Started     time.Time `json:"started"`
	DurationMS  int64     `json:"duration_ms"`
	Interrupted bool      `json:"interrupted"`
	// Program is the mcp-conform that made the report, and Machine where it ran.
	Program *Program `json:"program,omitempty"`
	Machine *Machine `json:"machine,omitempty"`
	// Kept is the directory of the run, when it was to be kept.
	Kept string `json:"kept,omitempty"`
	// Shard is the part of the scripts that was run, "1/3"; empty for all.
	Shard  string  `json:"shard,omitempty"`
	Layers []Layer `json:"layers"`
	// APIs are the wrappers that layer api asked.
	APIs []API `json:"apis,omitempty"`
	// Server is the command of the MCP server that layer mcp asked; empty when it
	// was the one of this program.
	Server string `json:"server,omitempty"`
	// ServerName is what that server calls itself.
	ServerName string `json:"server_name,omitempty"`
	// Dialect is the dialect that the server was asked in, where it is not the
	// scripts' own, and DialectFile what --dialect said.
	Dialect     string `json:"dialect,omitempty"`
	DialectFile string `json:"dialect_file,omitempty"`
	// Scripts is the directory of the gaps; empty for the built-in ones.
	Scripts string `json:"scripts,omitempty"`
	// Suites are the suites that were run.
	Suites  []Suite   `json:"suites,omitempty"`
	Targets []Target  `json:"targets"`
	Gaps    []GapInfo `json:"gaps"`
	// Cells are in the order of gaps, then targets, then layers.
	Cells []Cell `json:"cells"`
	// Stale are the known failures that did not fail.
	Stale []Stale `json:"stale,omitempty"`
}

// Program is a build of mcp-conform.
type Program struct {
	Version string `json:"version"`
	// Commit is the beginning of the commit's hash, or "unknown". Sum is then the SHA-256 of the
	// program, in hexadecimal.
	Commit string `json:"commit,omitempty"`
	Sum    string `json:"sum,omitempty"`
}

// Machine is a system, as Go names it, and the release of its kernel.
type Machine struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"`
}

// GapInfo describes a gap in a report.
type GapInfo struct {
	// Suite is the name of its suite; empty for a script of the user's own.
	Suite   string `json:"suite,omitempty"`
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Cluster string `json:"cluster"`
	Claim   string `json:"claim"`
	Truth   string `json:"truth"`
	// Since says from which version on it holds, and Wrappers what wrappers did
	// wrong.
	Since    string `json:"since,omitempty"`
	Wrappers string `json:"wrappers,omitempty"`
	// Needs are features of a tmux, with commas, without which it is for no version.
	Needs string `json:"needs,omitempty"`
	// Absent says what it means if a wrapper has no method for it, where that is something
	// else than the gap.
	Absent string `json:"absent,omitempty"`
	Source string `json:"source"`
	// Digest is of its file: two runs with different ones did not run the same script.
	Digest string `json:"digest,omitempty"`
}

// GapField is a text of a gap, by the name that its file has for it.
type GapField struct {
	Name string
	Text *string
}

func (f GapField) String() string { return *f.Text }

// Fields returns the texts that a gap's file has.
func (g *GapInfo) Fields() []GapField {
	return []GapField{
		{"gap", &g.Title}, {"cluster", &g.Cluster}, {"claim", &g.Claim}, {"truth", &g.Truth}, {"since", &g.Since},
		{"wrappers", &g.Wrappers}, {"needs", &g.Needs}, {"not offered", &g.Absent}, {"source", &g.Source},
	}
}

// Cell is the outcome of one script on one target.
type Cell struct {
	// Suite is the gap's.
	Suite string `json:"suite,omitempty"`
	Gap   int    `json:"gap"`
	Layer Layer  `json:"layer"`
	// API is the name of the wrapper on layer api.
	API string `json:"api,omitempty"`
	// Tmux is the name of the target.
	Tmux string `json:"tmux"`
	// Transport is how tmux was reached: "exec" is its client program, "native"
	// package tmux itself, and "auto" whichever of them that found to work. It is
	// empty where another wrapper or MCP server was asked.
	Transport string  `json:"transport"`
	Status    Status  `json:"status"`
	Verdict   Verdict `json:"verdict,omitempty"`
	// Reason is why the status is not pass, in a line.
	Reason string `json:"reason,omitempty"`
	// Known is set for a failure that was expected; see [Expectations].
	Known    *Known     `json:"known,omitempty"`
	Claims   []Claim    `json:"claims,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Reproducer is a shell script that shows a failure with nothing but the target, and on
	// layer mcp the server.
	Reproducer string `json:"reproducer,omitempty"`
	// Earlier are the attempts before this one, when a script that had failed was
	// run again.
	Earlier    []Attempt `json:"earlier,omitempty"`
	DurationMS int64     `json:"duration_ms"`
	// Dir is where the script ran, if that was to be kept.
	Dir string `json:"dir,omitempty"`
	// Log is the transcript of the script.
	Log string `json:"-"`
}

// Attempt is a script's run that failed and was not the last.
type Attempt struct {
	Status     Status     `json:"status"`
	Reason     string     `json:"reason"`
	Claims     []Claim    `json:"claims,omitempty"`
	Evidence   []Evidence `json:"evidence,omitempty"`
	DurationMS int64      `json:"duration_ms"`
}

// Known says why a failure was expected.
type Known struct {
	Reason string `json:"reason"`
	Link   string `json:"link,omitempty"`
}

// Stale is a known failure that did not fail: its entry is to be removed or made
// narrower.
type Stale struct {
	Gap int `json:"gap"`
	// Layer is empty for all layers.
	Layer Layer  `json:"layer,omitempty"`
	Claim string `json:"claim"`
	// Tmux are the targets that passed. Partly is set if the claim fails with others.
	Tmux   []string `json:"tmux"`
	Partly bool     `json:"partly,omitempty"`
	// Entry is where the known failure is listed, FILE:LINE.
	Entry string `json:"entry"`
	Known
}

// Evidence is a command as it can be typed, what was expected of it, and what it did.
type Evidence struct {
	Command  string `json:"command"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// Refuse turns claims that are not offered into failures, except extras.
func (c *Cell) Refuse() {
	for i := range c.Claims {
		cl := &c.Claims[i]
		if cl.Outcome != Outcome(NotOffered) || !cl.Asked {
			continue
		}
		cl.Outcome, cl.Why = Blocked, string(NotOffered)+": "+cl.Why
		if !c.Status.Bad() {
			c.Status, c.Reason = Fail, cl.Why
			if cl.Evidence != nil && c.Last() != *cl.Evidence {
				c.Evidence = append(c.Evidence, *cl.Evidence)
			}
		}
	}
}

// Unexpected reports whether the cell makes its run fail.
func (c *Cell) Unexpected() bool { return c.Status.Bad() && c.Known == nil }

// OK reports whether the run was complete, only known failures occurred and none of them is stale,
// and each wrapper and MCP server offers some of what it was asked for.
func (r *Report) OK() bool {
	for i := range r.Cells {
		if r.Cells[i].Unexpected() {
			return false
		}
	}
	return len(lacking(r)) == 0 && !r.Interrupted && len(r.Stale) == 0
}

// lacking returns the columns in which nothing that was asked for is offered. It returns none for
// a shard, which asks only a part.
func lacking(r *Report) (all []string) {
	for _, in := range r.Columns() {
		lacks, offers := false, false
		for i := range r.Cells {
			for _, cl := range r.Cells[i].Claims {
				if !in.has(&r.Cells[i]) || !cl.Asked || cl.Outcome == Outcome(NotApplicable) || cl.Outcome == NotReached {
					continue
				}
				lacks = lacks || cl.Outcome == Outcome(NotOffered)
				offers = offers || cl.Outcome != Outcome(NotOffered)
			}
		}
		if lacks && !offers && r.Shard == "" {
			all = append(all, in.String())
		}
	}
	return all
}

// Cell returns the cell of a gap and target in a column, or nil if there is none.
func (r *Report) Cell(gap int, target string, in Column) *Cell {
	return first(r.Cells, func(c *Cell) bool { return c.Gap == gap && c.Tmux == target && in.has(c) })
}

// Gap returns the report's entry for the gap with this number.
func (r *Report) Gap(number int) GapInfo {
	if g := first(r.Gaps, func(g *GapInfo) bool { return g.Number == number }); g != nil {
		return *g
	}
	return GapInfo{Number: number}
}

func (r *Report) target(name string) (t Target) {
	if found := first(r.Targets, func(t *Target) bool { return t.Name == name }); found != nil {
		return *found
	}
	return t
}

// first returns the first item of a list for which is returns true, or nil.
func first[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Summary returns the outcome of the run in one line.
func (r *Report) Summary() string {
	n := map[string]int{"stale": len(r.Stale)}
	for i := range r.Cells {
		n[string(r.Cells[i].seen())]++
	}
	n["pass"] += n[string(seenRefuted)]
	parts := counted(n, []string{
		"pass", "partly", "fail", "blocked", "error", "known to fail", "flaky", "not offered", "n/a", "skip", "stale",
	})
	if len(r.Cells) == 0 {
		parts = append([]string{"nothing"}, parts...)
	}
	text := fmt.Sprintf("%s in %.1f s", strings.Join(parts, ", "), float64(r.DurationMS)/1000)
	if r.Shard != "" {
		text += ", shard " + r.Shard
	}
	if r.Interrupted {
		text += ", interrupted"
	}
	if idle := r.Idle(); idle != "" {
		text += "; " + idle
	}
	if columns := lacking(r); columns != nil {
		text += "; nothing that was asked for is offered: " + strings.Join(columns, ", ")
	}
	return text
}

// Target is a tmux program to run the scripts against.
type Target struct {
	// Name identifies the target in reports: the name given for it, or else its
	// version, made unique.
	Name string `json:"name"`
	// Version is what the program prints with -V, without "tmux ".
	Version string `json:"version"`
	// Path is the absolute path of the program.
	Path string `json:"path"`
	// Spec is the argument that selected the target.
	Spec string `json:"spec"`
	// Args stand before the arguments of each call, and Env, as NAME=VALUE, is added
	// to its environment.
	Args []string `json:"args,omitempty"`
	Env  []string `json:"env,omitempty"`
	// Probe asks for the version to be found by what the program can do. Probed is set
	// if that was done; Version is then the newest whose features it has, unless it
	// agrees with -V.
	Probe  bool `json:"-"`
	Probed bool `json:"probed,omitempty"`
	// Claimed is what -V prints, where it says something else than Version.
	Claimed string `json:"claimed,omitempty"`
}

// Command returns the command line that runs the target with these arguments.
func (t Target) Command(args ...string) string {
	return CommandLine(slices.Concat(t.Env, []string{t.Path}, t.Args, args))
}

// The reasons of skipped scripts: the run was interrupted, another script failed under --fail-fast,
// or too many scripts of the target timed out.
const (
	Interrupted = "interrupted"
	FailFast    = "not run: another script had failed, and the run was to end with the first"
	GivenUp     = "not run: three scripts in a row had reached their timeout with this tmux"
)

// stopped summarizes on one line the scripts that did not run because the run was
// stopped. It is empty if the run was not stopped.
func (r *Report) stopped() string {
	switch {
	case r.Interrupted:
		return "the scripts that had not ended when the run was interrupted"
	case slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Reason == FailFast }):
		return "the scripts that had not ended when the first one failed"
	}
	return ""
}

// attempts returns cells as attempts that came before another.
func attempts(cells []Cell) (all []Attempt) {
	for _, c := range cells {
		all = append(all, Attempt{
			Status: c.Status, Reason: c.Reason, Claims: c.Claims, Evidence: c.Evidence, DurationMS: c.DurationMS,
		})
	}
	return all
}

// Repeated combines several runs of one script: a claim whose outcome varies is [Unstable].
func Repeated(runs []Cell) Cell {
	c := runs[len(runs)-1]
	for i := range runs {
		if runs[i].Status.Bad() { // so that the evidence is of what went wrong
			c = runs[i]
		}
	}
	c.Claims = slices.Clone(c.Claims)
	for i := range c.Claims {
		var outcomes []Outcome
		for _, r := range runs {
			o := Outcome(r.Status)
			if i < len(r.Claims) {
				o = r.Claims[i].Outcome
			}
			outcomes = append(outcomes, o)
		}
		times, order := count(outcomes)
		if len(order) == 1 {
			continue
		}
		var parts []string
		for _, o := range order {
			parts = append(parts, fmt.Sprintf("%s %d of %d times", o, times[o], len(runs)))
		}
		cl := &c.Claims[i]
		cl.Outcome, cl.Why = Unstable, strings.TrimSuffix(strings.Join(parts, ", ")+": "+cl.Why, ": ")
		if c.Status != Fail {
			c.Status, c.Reason = Fail, cl.Why
		}
	}
	c.Earlier = attempts(runs)
	return c
}

// Retried combines the last run of a script with the failed ones before it.
func Retried(runs []Cell) Cell {
	c, earlier := runs[len(runs)-1], runs[:len(runs)-1]
	if len(earlier) == 0 {
		return c
	}
	last := earlier[len(earlier)-1]
	switch c.Status {
	case Pass:
		c.Status = Flaky
		for i := range c.Claims {
			if o := &c.Claims[i].Outcome; *o == True || *o == Untrue {
				*o = Outcome(Flaky)
			}
		}
		c.Reason = fmt.Sprintf("failed %d of %d times: %s", len(earlier), len(runs), last.Reason)
	case Skip:
		// The run ended before this attempt did: the failure before it stands.
		c, earlier = last, earlier[:len(earlier)-1]
	}
	c.Earlier = attempts(earlier)
	return c
}

// Suite describes a set of scripts that belong together. The number of a script
// is unique among all suites, and stays the same for ever.
type Suite struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// suites are in the order of reports. The numbers of a suite's scripts begin at 1,
// 101, 201 and so on.
var suites = []Suite{
	{"670", "the 14 gaps of libtmux issue #670"},
	{"releases", "what changed between tmux releases and breaks wrappers"},
	{"quoting", "what becomes of text on its way into tmux and back"},
	{"agents", "what agent CLIs ask of tmux"},
	{"control", "control mode, as wrappers use it"},
}

// Suites returns the suites that the program carries.
func Suites() []Suite { return slices.Clone(suites) }

// part is a suite in a report, or all scripts where there is one suite or none.
type part struct {
	Suite
	Gaps []GapInfo
}

// parts divides the report by suites. A single part needs no name.
func (r *Report) parts() []part {
	if len(r.Suites) < 2 {
		return []part{{Gaps: r.Gaps}}
	}
	var all []part
	for _, s := range r.Suites {
		gaps := slices.DeleteFunc(slices.Clone(r.Gaps), func(g GapInfo) bool { return g.Suite != s.Name })
		all = append(all, part{s, gaps})
	}
	return all
}

// Idle names in one line the suites of which no script applies to any target. It is empty if
// there is none, and for a shard, which has only a part of each suite.
func (r *Report) Idle() string {
	var found []string
	for _, p := range r.parts() {
		name := "these scripts"
		if p.Name != "" {
			name = "suite " + p.Name
		} else if len(r.Suites) == 1 {
			name = "suite " + r.Suites[0].Name
		}
		applies, any := false, false
		for _, c := range r.Cells {
			if slices.ContainsFunc(p.Gaps, func(g GapInfo) bool { return g.Number == c.Gap }) {
				any, applies = true, applies || c.Status != NotApplicable
			}
		}
		if any && !applies {
			found = append(found, name)
		}
	}
	if len(found) == 0 || r.Shard != "" {
		return ""
	}
	return "nothing was tested of " + strings.Join(found, ", ") + ": no script of it in this run applies to these tmux programs"
}
