package swap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/journal"
)

// UseOptions say what [Swapper.UseLocal] writes, and where.
type UseOptions struct {
	Repo        string   // the checkout; "" is the current directory
	Server      string   // "": derived from the checkout
	Entry       string   // "": derived from the checkout
	Env         []EnvVar // added to the entry's; wins
	Clients     []string // none: those that are present
	Scope       Scope    // "" is ScopeProject; matters for claude alone
	Mode        Mode     // "" is ModeDev
	Ref         string   // version, for ModeReleased
	PR          int      // head of a pull request instead of a mode
	DryRun      bool     // give diffs and touch nothing
	NoPreflight bool
}

// A job is one client's part of a UseLocal.
type job struct {
	client    *Client
	scope     Scope
	project   string
	doc       *document
	container []string
	old       format.Entry
	edit      format.Edit
	result    Result

	// What applying has recorded of it.
	prior *journal.Record // the record of an earlier swap of the entry
	fresh string          // the backup made for this one
}

// UseLocal writes the checkout's command into the clients' configs. A client
// that fails does not stop the others; the error is for what stops all: bad
// options ([*UsageError]), no checkout, a server that does not start.
func (s *Swapper) UseLocal(ctx context.Context, o UseOptions) ([]Result, error) {
	u, err := s.prepare(o)
	if err != nil {
		return nil, err
	}
	clients, err := s.clients(o.Clients)
	if err != nil {
		return nil, err
	}
	if len(clients) == 0 {
		return nil, errors.New("no client is here (one is, when its program is on PATH and its config exists); name one with --cli")
	}
	if _, err := s.Journal.Load(); err != nil {
		return nil, err
	}

	// First all edits in memory: what cannot be edited is known before the
	// server is started, and what needs no edit starts none.
	seen := map[string][]byte{} // planned texts, for configs that are one file
	var jobs []*job
	for _, c := range clients {
		j := &job{client: c, scope: c.scope(cmp.Or(o.Scope, ScopeProject))}
		j.result = Result{Client: c.Name, Scope: j.scope, Label: c.label(j.scope), Server: u.server, Config: c.configPath(s.Sys), Command: u.argv}
		jobs = append(jobs, j)
		doc, err := s.open(c)
		if err == nil && seen[doc.target] != nil {
			doc.text = seen[doc.target]
			err = doc.parse()
		}
		if err == nil {
			err = u.plan(j, doc)
		}
		if err != nil {
			j.fail(err)
			continue
		}
		seen[doc.target] = j.edit.Out
	}

	if o.DryRun {
		for _, j := range jobs {
			j.dryRun()
		}
		return results(jobs), nil
	}
	if slices.ContainsFunc(jobs, func(j *job) bool { return j.result.Outcome == "" && j.edit.Changed() }) {
		if err := s.beforeWriting(ctx, u, jobs, o.NoPreflight); err != nil {
			return nil, err
		}
		if err := s.applyAll(ctx, u, jobs); err != nil {
			return nil, err
		}
	}
	for _, j := range jobs {
		if j.result.Outcome == "" {
			j.result.Outcome = Unchanged
		}
		s.cautions(j, u)
	}
	return results(jobs), nil
}

func results(jobs []*job) []Result {
	out := make([]Result, len(jobs))
	for i, j := range jobs {
		out[i] = j.result
	}
	return out
}

func (j *job) fail(err error) { j.result.Outcome, j.result.Err = Failed, err }

// use is what a UseLocal wants, the same for all clients.
type use struct {
	repo    string
	server  string
	argv    []string
	compile []string
	env     []EnvVar
	project string
}

func (s *Swapper) prepare(o UseOptions) (*use, error) {
	if err := checkScope(o.Scope); err != nil {
		return nil, err
	}
	if o.PR < 0 {
		return nil, usagef("--pr %d is not a positive number", o.PR)
	}
	if o.PR > 0 && (o.Mode != "" && o.Mode != ModeDev || o.Ref != "") {
		return nil, usagef("--pr says what to run already: it cannot be combined with --mode or --ref")
	}
	if o.Mode != "" && !slices.Contains(Modes, o.Mode) {
		return nil, usagef("--mode %q is not one of dev, build, installed, released", string(o.Mode))
	}
	if o.Ref != "" && o.Mode != ModeReleased {
		return nil, usagef("--ref needs --mode released")
	}
	if _, err := s.clients(o.Clients); err != nil {
		return nil, err
	}
	if strings.ContainsAny(o.Ref, " \t\n") || strings.HasPrefix(o.Ref, "-") {
		return nil, usagef("--ref %q is not a version", o.Ref)
	}
	if o.PR > 0 {
		// Before an entry is asked for, which would not help.
		if err := prSupported(o.Repo); err != nil {
			return nil, err
		}
	}
	co, err := ReadCheckout(o.Repo, o.Entry)
	if err != nil {
		return nil, err
	}
	u := &use{repo: co.Dir, server: co.Server, env: o.Env, project: claudeProject(co.Dir)}
	if o.Server != "" {
		u.server = o.Server
	}
	if o.PR > 0 {
		u.argv, err = co.PRCommand(o.PR)
	} else {
		u.argv, u.compile, err = co.Command(o.Mode, o.Ref, s.Sys.buildDir())
	}
	if err != nil {
		return nil, err
	}
	for _, text := range append([]string{u.server, u.project}, u.argv...) {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%q is not UTF-8, so no config can hold it", text)
		}
	}
	return u, nil
}

// plan makes the edit of one client in memory.
func (u *use) plan(j *job, doc *document) error {
	j.doc, j.project = doc, u.project
	var err error
	if j.container, j.old, err = doc.find(j.scope, u.project, u.server); err != nil {
		return err
	}
	if j.edit, err = doc.doc.Set(j.container, u.server, j.client.change(u.argv, u.env, j.old)); err != nil {
		return fmt.Errorf("%s: %w", doc.config, err)
	}
	return nil
}

func (j *job) dryRun() {
	if j.result.Outcome != "" {
		return
	}
	j.result.Outcome = Unchanged
	if j.edit.Changed() {
		j.result.Outcome = j.action()
		j.result.Diff = unified(j.doc.target, j.doc.text, j.edit.Out)
	}
}

func (j *job) action() string {
	if j.old.Found {
		return Replaced
	}
	return Added
}

// unified is a diff that patch(1) applies.
func unified(path string, old, text []byte) []byte {
	name := path
	switch {
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }):
		name = strconv.Quote(path)
	case strings.Contains(path, " "):
		name += "\t" // else patch takes the name to end at the space
	}
	d := diff.Diff(name, old, name, text)
	// The first line is for git; patch skips it, and a reader can do without.
	if i := bytes.Index(d, []byte("\n--- ")); i >= 0 {
		d = d[i+1:]
	}
	return d
}

// beforeWriting compiles what is to be compiled and starts the server once for
// every environment that a client would start it with.
func (s *Swapper) beforeWriting(ctx context.Context, u *use, jobs []*job, noPreflight bool) error {
	if u.compile != nil {
		if err := s.run(ctx, u.compile); err != nil {
			return err
		}
	}
	if noPreflight {
		return nil
	}
	if _, err := exec.LookPath(u.argv[0]); err != nil {
		s.Warn(fmt.Sprintf("preflight skipped: %s is not on PATH here, so the server could not be tried", u.argv[0]))
		return nil
	}
	tried := map[string]bool{}
	for _, j := range jobs {
		if j.result.Outcome != "" || !j.edit.Changed() {
			continue
		}
		env := j.client.Dialect.env(j.edit.Value)
		if key := fmt.Sprint(env); tried[key] {
			continue
		} else {
			tried[key] = true
		}
		slow := time.AfterFunc(2*time.Second, func() {
			s.Warn("preflight: waiting for the server to answer; its first start may have to build it")
		})
		_, err := Handshake(ctx, u.argv, env, nil)
		slow.Stop()
		if err != nil {
			return fmt.Errorf("preflight failed, nothing was written: %w", err)
		}
	}
	return nil
}

// compileLimit bounds a compilation, which may have to download first.
const compileLimit = 15 * time.Minute

func (s *Swapper) run(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, compileLimit)
	defer cancel()
	s.Warn("compiling: " + strings.Join(argv, " "))
	if dir := slices.Index(argv, "-o"); dir > 0 {
		if err := os.MkdirAll(filepath.Dir(argv[dir+1]), 0o755); err != nil {
			return fmt.Errorf("make the build directory: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = 5 * time.Second
	var tail tailBuffer
	cmd.Stdout, cmd.Stderr = &tail, &tail
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("compile the server: %w%s", err, tail.indented())
}

// cautions tells what keeps a swapped entry from doing what it says.
func (s *Swapper) cautions(j *job, u *use) {
	if j.result.Outcome == Failed {
		return
	}
	if j.client.Note != "" && j.result.Outcome != Unchanged {
		s.Warn(fmt.Sprintf("%s: %s is %s", j.result.Label, j.doc.config, j.client.Note))
	}
	if j.client.Expands && slices.ContainsFunc(u.argv, func(a string) bool { return strings.Contains(a, "$") }) {
		s.Warn(fmt.Sprintf("%s: %s expands $NAME in arguments, and there is a $ in %s", j.result.Label, j.client.Name, strings.Join(u.argv, " ")))
	}
	if j.result.Outcome != Unchanged && atomicfile.Links(j.doc.info) > 1 {
		s.Warn(fmt.Sprintf("%s: %s had other hard links, which keep the old text", j.result.Label, j.doc.target))
	}
	for _, o := range j.client.Off {
		if off, how := o.switchesOff(j.edit.Value, nil, j.project, u.server); off {
			s.Warn(fmt.Sprintf("%s: the entry is switched off (%s), and stays so", j.result.Label, how))
		}
	}
}
