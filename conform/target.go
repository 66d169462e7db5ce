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
	"slices"
	"strings"
	"sync"
	"time"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
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
	child.EndAdopted()
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
	answer, err := child.Ask(ctx, child.Request{Ask: child.AskVersion, Target: *t, Timeout: versionTimeout})
	switch {
	case err != nil && !answer.Strange:
		return fail(err)
	case err == nil && !t.Probe:
		t.Version = answer.Version
		return nil
	}
	probed, probeErr := child.Ask(ctx, child.Request{Ask: child.AskProbe, Target: *t, Timeout: DefaultTimeout})
	if probeErr != nil {
		// For a program that is not a tmux at all, the error of -V is clearer.
		return fail(cmp.Or(err, probeErr))
	}
	t.Probed, t.Version, t.Claimed = true, probed.Version, answer.Version
	if err == nil && gap.LevelOf(answer.Version) == probed.Version {
		t.Version, t.Claimed = answer.Version, ""
	}
	return nil
}

// versionTimeout bounds `tmux -V`; a variable for tests.
var versionTimeout = 5 * time.Second
