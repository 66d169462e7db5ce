package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// Fetch brings the tmux of a Debian suite and returns the path of its program.
type Fetch func(ctx context.Context, suite string) (path string, err error)

// ErrNoSystemTmux: no tmux on PATH.
var ErrNoSystemTmux = errors.New("no tmux on PATH")

// FindTargets finds the programs of targets, and asks each for its version. Only
// "debian:SUITE" calls fetch, for several suites at once.
func FindTargets(ctx context.Context, targets []report.Target, fetch Fetch) ([]report.Target, error) {
	targets = slices.Clone(targets)
	errs := make([]error, len(targets))
	var all sync.WaitGroup
	for i := range targets {
		all.Go(func() { errs[i] = find(ctx, &targets[i], fetch) })
	}
	all.Wait()
	endAdopted()
	taken := map[string]bool{}
	for i := range targets {
		t := &targets[i]
		if errs[i] != nil {
			return nil, errs[i]
		}
		name := cmp.Or(t.Name, t.Version)
		if taken[t.Name] {
			return nil, fmt.Errorf("--tmux %s: there are two targets of the name %s: want one name for each", t.Spec, name)
		}
		t.Name = name
		for i := 2; taken[t.Name]; i++ {
			t.Name = fmt.Sprintf("%s#%d", name, i)
		}
		taken[t.Name] = true
	}
	return targets, nil
}

// ParseTarget reads a spec: a path, "system" (the tmux on PATH) or "debian:SUITE", each
// also as NAME=PATH, and with "?" and what the program needs: env=NAME=VALUE, arg=WORD and
// probe, with "&" between them. In these, %26 is "&" and %25 "%".
func ParseTarget(spec string) (report.Target, error) {
	t := report.Target{Spec: spec}
	fail := func(text string) (report.Target, error) { return t, fmt.Errorf("--tmux %s: %s", spec, text) }
	path := spec
	if name, rest, ok := strings.Cut(spec, "="); ok && !strings.ContainsAny(name, "/?") {
		if name == "" || rest == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }) {
			return fail("want NAME=PATH, where NAME is one word")
		}
		t.Name, path = name, rest
	}
	path, needs, ok := strings.Cut(path, "?")
	t.Path = path
	if !ok {
		return t, nil
	}
	for need := range strings.SplitSeq(needs, "&") {
		key, value, _ := strings.Cut(need, "=")
		value, err := url.PathUnescape(value)
		switch {
		case err != nil:
			return fail(fmt.Sprintf("%v: want %%25 for a percent sign", err))
		case key == "env" && strings.Index(value, "=") > 0:
			t.Env = append(t.Env, value)
		case key == "arg" && value != "":
			t.Args = append(t.Args, value)
		case need == "probe":
			t.Probe = true
		default:
			return fail(fmt.Sprintf("%q behind the ?: want env=NAME=VALUE, arg=WORD or probe", need))
		}
	}
	return t, nil
}

// ParseTargets reads a TOML file of targets. A relative path is relative to the directory dir.
func ParseTargets(file, dir string, text []byte) ([]report.Target, error) {
	var doc struct {
		Target []struct {
			Name, Path string // which is required
			Args       []string
			Env        map[string]string
			Probe      bool
		}
	}
	const keys = "[[target]] with name, path, args, env and probe"
	if err := report.DecodeTOML(file, text, &doc, keys); err != nil {
		return nil, err
	}
	if len(doc.Target) == 0 {
		return nil, fmt.Errorf("%s: no targets: want %s", file, keys)
	}
	var targets []report.Target
	for i, d := range doc.Target {
		t := report.Target{Name: d.Name, Path: d.Path, Args: d.Args, Probe: d.Probe, Spec: cmp.Or(d.Name, d.Path)}
		switch {
		case d.Path == "":
			return nil, fmt.Errorf("%s: target %d (%s) has no path", file, i+1, cmp.Or(d.Name, "no name"))
		case strings.ContainsFunc(d.Name, func(r rune) bool { return r <= ' ' }):
			return nil, fmt.Errorf("%s: target %q: want a name that is one word", file, d.Name)
		case d.Name != "" && slices.ContainsFunc(targets, func(o report.Target) bool { return o.Name == d.Name }):
			return nil, fmt.Errorf("%s: there are two targets of the name %s: want one name for each", file, d.Name)
		case strings.Contains(d.Path, "/") && !filepath.IsAbs(d.Path):
			t.Path = filepath.Join(dir, d.Path)
		}
		for _, name := range slices.Sorted(maps.Keys(d.Env)) {
			t.Env = append(t.Env, name+"="+d.Env[name])
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// find fills in the target's path and version.
func find(ctx context.Context, t *report.Target, fetch Fetch) error {
	fail := func(err error) error { return fmt.Errorf("--tmux %s: %w", t.Spec, err) }
	path := t.Path
	var err error
	switch suite, isDebian := strings.CutPrefix(path, "debian:"); {
	case path == "":
		return fail(errors.New("want a path, NAME=PATH, system or debian:SUITE"))
	case path == "system":
		if path, err = exec.LookPath("tmux"); err != nil {
			return fail(ErrNoSystemTmux)
		}
	case isDebian:
		if suite == "" {
			return fail(errors.New("want debian:SUITE, as in debian:trixie"))
		}
		if fetch == nil {
			return fail(errors.New("nothing here can fetch Debian's tmux"))
		}
		if path, err = fetch(ctx, suite); err != nil {
			// A fetch's error names the suite itself.
			return fmt.Errorf("--tmux %w", err)
		}
	default:
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist) && !strings.Contains(path, "/"):
			return fail(errors.New("no such file; want a path, NAME=PATH, system or debian:SUITE"))
		case err != nil:
			return fail(errors.New(strings.TrimPrefix(err.Error(), "stat "+path+": ")))
		case info.IsDir():
			return fail(errors.New("is a directory, not a program"))
		case info.Mode()&0o111 == 0:
			return fail(errors.New("is not executable"))
		}
	}
	if t.Path, err = filepath.Abs(path); err != nil {
		return fail(err)
	}
	// The program may be anything: whatever it starts is ended with it.
	answer, err := ask(ctx, request{Ask: askForVersion, Target: *t, Timeout: versionTimeout})
	switch {
	case err != nil && !answer.Strange:
		return fail(err)
	case err == nil && !t.Probe:
		t.Version = answer.Version
		return nil
	}
	probed, probeErr := ask(ctx, request{Ask: askForProbe, Target: *t, Timeout: DefaultTimeout})
	if probeErr != nil {
		// What is no tmux at all is better known by its -V.
		return fail(cmp.Or(err, probeErr))
	}
	t.Probed, t.Version, t.Claimed = true, probed.Version, answer.Version
	if err == nil && levelOf(answer.Version) == probed.Version {
		t.Version, t.Claimed = answer.Version, ""
	}
	return nil
}

// versionTimeout bounds `tmux -V`; a variable for tests.
var versionTimeout = 5 * time.Second

// versionLine is what tmux prints for -V, and its version, which reports print.
var versionLine = regexp.MustCompile(`^tmux ([0-9A-Za-z.~+_-]+)$`)

// version is the child's side: it runs the program with -V and reads tmux's version from what
// that prints.
func (r request) version(ctx context.Context) (message, error) {
	out, _, _, err := run(ctx, r.Dir, scriptEnv(r.Dir), r.Target.Path, "-V")
	text := strings.TrimSpace(out)
	switch {
	case ctx.Err() != nil:
		return message{}, fmt.Errorf("-V did not end within %v: not a tmux", r.Timeout)
	case errors.Is(err, errTooMuch):
		return message{}, fmt.Errorf("-V printed more than %d KiB: not a tmux", maxOutput>>10)
	case errors.Is(err, syscall.ENOEXEC):
		return message{}, errors.New("is not a program of this machine")
	case err != nil:
		return message{Strange: true}, fmt.Errorf("-V failed: not a tmux: %w", err)
	case !strings.HasPrefix(text, "tmux "):
		return message{Strange: true, Version: clipText(text)}, fmt.Errorf("-V printed %.60q: not a tmux", text)
	}
	v, err := tmux.ParseVersion(text)
	m := versionLine.FindStringSubmatch(text)
	switch {
	case err != nil || m == nil:
		return message{Strange: true, Version: clipText(text)},
			fmt.Errorf("-V printed %.60q: a tmux whose version is not known, as in \"tmux 3.6a\" or \"tmux next-3.8\"", text)
	case !v.Has(tmux.MinVersion):
		return message{}, fmt.Errorf("is tmux %s: older than %s, the oldest that this works with", v, tmux.MinVersion)
	}
	return message{Version: m[1]}, nil
}

// levels are what a tmux can do from a version on: a command and what it then prints. A
// program has the version of the last level up to which it can do everything.
var levels = []struct {
	version string
	probes  []probe
}{
	{"3.2", []probe{shows(`^\$[0-9]+$`, "#{session_id}"), shows(`^$`, "#{no_such_token}")}},
	{"3.3", []probe{shows(`^[0-9]+$`, "#{uid}"), shows(`^\$[0-9]+$`, "#{next_session_id}")}},
	{"3.4", []probe{shows(`^[0-9]+$`, "#{server_sessions}"), {`^#\{pid\}$`, []string{"display-message", "-p", "-l", "#{pid}"}}}},
	{"3.5", []probe{shows(`.`, "#{pane_key_mode}")}},
	{"3.6", []probe{shows(`^[01]$`, "#{sixel_support}"), {`^x$`, []string{"run-shell", "-E", "echo x >&2"}}}},
	{"3.7", []probe{
		shows(`^[01]$`, "#{bracket_paste_flag}"),
		{`^x$`, []string{"set-buffer", "x", ";", "paste-buffer", "-S", ";", "display-message", "-p", "x"}},
	}},
	{"3.8", []probe{shows(`^[0-9]+$`, "#{pane_output_generation}"), shows(`^[0-9]+$`, "#{history_generation}")}},
}

func shows(value, format string) probe {
	return probe{value, []string{"display-message", "-p", format}}
}

// Newest returns the newest version that the scripts were written for if the given one is
// newer still, and else "".
func Newest(than string) string {
	newest := levels[len(levels)-1].version
	v, err := tmux.ParseVersion(than)
	k, _ := tmux.ParseVersion(newest)
	if err == nil && (v.Major > k.Major || v.Major == k.Major && v.Minor > k.Minor) {
		return newest
	}
	return ""
}

// features are what scripts may need, each with what shows that a tmux has it.
var features = map[string]probe{
	"two sessions": {`^[^\n]+\n[^\n]+$`, []string{
		"new-session", "-d", "exec sleep 600", ";", "list-sessions", "-F", "#{session_id}",
	}},
	"floating panes": {`^%[0-9]+$`, []string{"new-pane", "-d", "-P", "-F", "#{pane_id}", "exec sleep 600"}},
}

type probe struct {
	prints string // a regular expression
	args   []string
}

// levelOf is the version of the level that a version belongs to; empty for none.
func levelOf(version string) string {
	v, err := tmux.ParseVersion(version)
	if err != nil {
		return ""
	}
	found := ""
	for _, l := range levels {
		leadsTo := v.Next && l.version == fmt.Sprintf("%d.%d", v.Major, v.Minor)
		if v.Has(tmux.Version{Major: 3, Minor: int(l.version[2] - '0')}) && !leadsTo {
			found = l.version
		}
	}
	return found
}

// prober starts a server of the target's beside the script's, and runs commands there.
func (r request) prober(ctx context.Context) (func(args ...string) (string, error), error) {
	run := func(args ...string) (string, error) {
		out, stderr, _, err := run(ctx, r.Dir, scriptEnv(r.Dir), r.Target.Path, onServer(filepath.Join(r.Dir, "p"), args...)...)
		if said := tail(stderr); err != nil && said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return strings.TrimSpace(out), err
	}
	_, err := run("new-session", "-d", "-x", "80", "-y", "24", "exec sleep 600")
	return run, err
}

// lacking is the first of these features that the target does not have. One that starts
// no session, or does not survive the question, is not known to lack it.
func (r request) lacking(ctx context.Context, needs []string) string {
	if len(needs) == 0 {
		return ""
	}
	run, err := r.prober(ctx)
	for i := 0; err == nil && i < len(needs); i++ {
		p := features[needs[i]]
		out, _ := run(p.args...)
		if _, err = run("list-sessions"); err == nil && !regexp.MustCompile(p.prints).MatchString(out) {
			run("kill-server")
			return needs[i]
		}
	}
	run("kill-server")
	return ""
}

// probe is the child's side: it starts a server of the target's and tries what it
// can do.
func (r request) probe(ctx context.Context) (message, error) {
	run, err := r.prober(ctx)
	if err != nil {
		return message{}, fmt.Errorf("it starts no session: not a tmux: %w", err)
	}
	version := ""
	for _, l := range levels {
		for _, p := range l.probes {
			if out, err := run(p.args...); err != nil || !regexp.MustCompile(p.prints).MatchString(out) {
				if version == "" {
					return message{}, fmt.Errorf("%s printed %.60q: not a tmux of %s or later",
						report.CommandLine(p.args), out, levels[0].version)
				}
				return message{Version: version}, nil
			}
		}
		version = l.version
	}
	return message{Version: version}, nil
}
