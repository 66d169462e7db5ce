package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"tmuxmcp/tmux"
)

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
}

// Fetch brings the tmux of a Debian suite and returns the path of its program.
type Fetch func(ctx context.Context, suite string) (path string, err error)

// ErrNoSystemTmux: no tmux on PATH.
var ErrNoSystemTmux = errors.New("no tmux on PATH")

// ResolveTargets finds the programs that the specs name and asks each for its
// version. A spec is a path, NAME=PATH, "system" (the tmux on PATH) or
// "debian:SUITE"; only the last calls fetch, for several suites at once.
func ResolveTargets(ctx context.Context, specs []string, fetch Fetch) ([]Target, error) {
	targets := make([]Target, len(specs))
	errs := make([]error, len(specs))
	var all sync.WaitGroup
	for i, spec := range specs {
		all.Go(func() { targets[i], errs[i] = resolve(ctx, spec, fetch) })
	}
	all.Wait()
	endAdopted()
	taken := map[string]bool{}
	for i, spec := range specs {
		t := &targets[i]
		if errs[i] != nil {
			return nil, errs[i]
		}
		named := t.Name != ""
		if !named {
			t.Name = t.Version
		}
		name := t.Name
		if taken[name] && named {
			return nil, fmt.Errorf("--tmux %s: there are two targets of the name %s", spec, name)
		}
		for i := 2; taken[t.Name]; i++ {
			t.Name = fmt.Sprintf("%s#%d", name, i)
		}
		taken[t.Name] = true
	}
	return targets, nil
}

func resolve(ctx context.Context, spec string, fetch Fetch) (Target, error) {
	t := Target{Spec: spec}
	fail := func(err error) (Target, error) { return t, fmt.Errorf("--tmux %s: %w", spec, err) }
	path := spec
	if name, rest, ok := strings.Cut(spec, "="); ok && !strings.Contains(name, "/") {
		if name == "" || rest == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }) {
			return fail(errors.New("want NAME=PATH, where NAME is one word"))
		}
		t.Name, path = name, rest
	}
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
			return t, fmt.Errorf("--tmux %w", err)
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
	if t.Version, err = askVersion(ctx, t.Path); err != nil {
		return fail(err)
	}
	return t, nil
}

// versionTimeout bounds `tmux -V`.
const versionTimeout = 5 * time.Second

// versionLine is what tmux prints for -V, and its version, which reports print.
var versionLine = regexp.MustCompile(`^tmux ([0-9A-Za-z.~+_-]+)$`)

// askVersion runs a program with -V in a process of its own and reads tmux's
// version from what it prints. The program may be anything: whatever it starts is ended with it.
func askVersion(ctx context.Context, path string) (string, error) {
	answer, err := ask(ctx, request{Ask: askForVersion, Tmux: path, Timeout: versionTimeout})
	return answer.Version, err
}

// version is the child's side of askVersion.
func (r request) version(ctx context.Context) (message, error) {
	out, _, _, err := run(ctx, r.Dir, scriptEnv(r.Dir), r.Tmux, "-V")
	text := strings.TrimSpace(out)
	switch {
	case ctx.Err() != nil:
		return message{}, fmt.Errorf("-V did not end within %v: not a tmux", r.Timeout)
	case errors.Is(err, errTooMuch):
		return message{}, fmt.Errorf("-V printed more than %d KiB: not a tmux", maxOutput>>10)
	case errors.Is(err, syscall.ENOEXEC):
		return message{}, errors.New("is not a program of this machine")
	case err != nil:
		return message{}, fmt.Errorf("-V failed: not a tmux: %w", err)
	case !strings.HasPrefix(text, "tmux "):
		return message{}, fmt.Errorf("-V printed %.60q: not a tmux", text)
	}
	v, err := tmux.ParseVersion(text)
	m := versionLine.FindStringSubmatch(text)
	switch {
	case err != nil || m == nil:
		return message{}, fmt.Errorf("-V printed %.60q: a tmux whose version is not known, as in \"tmux 3.6a\" or \"tmux next-3.8\"", text)
	case !v.Has(tmux.MinVersion):
		return message{}, fmt.Errorf("is tmux %s: older than %s, the oldest that this works with", v, tmux.MinVersion)
	}
	return message{Version: m[1]}, nil
}
