package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// wrap writes a program that runs the target, if that needs arguments or an environment, so that
// all layers can start it by a path, and for adapters and other servers, which may know it only as
// tmux. No process of this request may run yet: a program that a child has open for writing cannot
// be started. A link saves a shell for each tmux command, but a linked script, such as Debian's
// tmux in the cache, would not find its files.
func wrap(r *child.Request) error {
	t := &r.Target
	bare := len(t.Args) == 0 && len(t.Env) == 0
	if bare && len(r.API) == 0 && !r.Another {
		return nil
	}
	words := []string{t.Path}
	if !bare {
		words = slices.Concat([]string{"env"}, t.Env, words, t.Args)
		t.Path = programOf(r.Dir)
	}
	if err := os.Mkdir(filepath.Dir(programOf(r.Dir)), 0o700); err != nil {
		return err
	}
	if bare && isELF(t.Path) {
		return os.Symlink(t.Path, programOf(r.Dir))
	}
	// The program's own directory is first on PATH: a target that runs "tmux" would find itself.
	path := report.CommandLine([]string{os.Getenv("PATH")})
	return os.WriteFile(programOf(r.Dir), []byte("#!/bin/sh\nPATH="+path+" exec "+report.CommandLine(words)+" \"$@\"\n"), 0o700)
}

// isELF reports whether a file is a Linux executable, not a script.
func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) == "\x7fELF"
}

// programOf returns the path of the program that wrap writes. It is alone in its directory.
func programOf(dir string) string { return filepath.Join(dir, "bin", "tmux") }

// pathWith returns PATH with the directory of a program first.
func pathWith(program string) string {
	return "PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// answer runs what the request asks for and returns the answer.
func (s *script) answer() child.Message {
	if s.req.Ask == "" {
		cell, log := s.run()
		return child.Message{Cell: &cell, Log: log, Steps: s.steps.all}
	}
	var m child.Message
	var err error
	switch s.req.Ask {
	case child.AskVersion:
		m, err = version(s.ctx, s.req)
	case child.AskTokens:
		m, err = tokens(s.ctx, s.req)
	case child.AskProbe:
		m, err = probe(s.ctx, s.req)
	case child.AskServer:
		m, err = s.offer(s.ctx)
	case child.AskAPI:
		m, err = s.offerAPI(s.ctx)
	case child.AskCheck:
		m, err = s.checkAPI(s.ctx)
	}
	if err != nil {
		m.Err = err.Error()
	}
	return m
}

// versionLine matches what tmux prints for -V. Its group is the version.
var versionLine = regexp.MustCompile(`^tmux ([0-9A-Za-z.~+_-]+)$`)

// version runs the target with -V and returns the version that it prints.
func version(ctx context.Context, r child.Request) (child.Message, error) {
	out, _, _, err := child.Run(ctx, r.Dir, child.Environment(r.Dir), r.Target.Path, "-V")
	text := strings.TrimSpace(out)
	switch {
	case ctx.Err() != nil:
		return child.Message{}, fmt.Errorf("-V did not end within %v: not a tmux", r.Timeout)
	case errors.Is(err, child.ErrTooMuch):
		return child.Message{}, fmt.Errorf("-V printed more than %d KiB: not a tmux", child.MaxOutput>>10)
	case errors.Is(err, syscall.ENOEXEC):
		return child.Message{}, errors.New("is not a program of this machine")
	case err != nil:
		return child.Message{Strange: true}, fmt.Errorf("-V failed: not a tmux: %w", err)
	case !strings.HasPrefix(text, "tmux "):
		return child.Message{Strange: true, Version: child.Clip(text)}, fmt.Errorf("-V printed %.60q: not a tmux", text)
	}
	v, err := tmux.ParseVersion(text)
	m := versionLine.FindStringSubmatch(text)
	switch {
	case err != nil || m == nil:
		return child.Message{Strange: true, Version: child.Clip(text)},
			fmt.Errorf("-V printed %.60q: a tmux whose version is not known, as in \"tmux 3.6a\" or \"tmux next-3.8\"", text)
	case !v.Has(tmux.MinVersion):
		return child.Message{}, fmt.Errorf("is tmux %s: older than %s, the oldest that this works with", v, tmux.MinVersion)
	}
	return child.Message{Version: m[1]}, nil
}

// prober runs commands on a server of the target apart from the script's.
func prober(ctx context.Context, r child.Request) (func(args ...string) (string, error), error) {
	run := func(args ...string) (string, error) {
		out, stderr, _, err := child.Run(ctx, r.Dir, child.Environment(r.Dir), r.Target.Path, onServer(filepath.Join(r.Dir, "p"), args...)...)
		if said := child.Tail(stderr); err != nil && said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return strings.TrimSpace(out), err
	}
	_, err := run("new-session", "-d", "-x", "80", "-y", "24", "exec sleep 600")
	return run, err
}

// lacking returns the first of these features that the target does not have, or "". It assumes that
// a target has the feature if it starts no session or does not survive the question.
func lacking(ctx context.Context, r child.Request, needs []string) string {
	if len(needs) == 0 {
		return ""
	}
	run, err := prober(ctx, r)
	for i := 0; err == nil && i < len(needs); i++ {
		p := gap.Features[needs[i]]
		out, _ := run(p.Args...)
		if _, err = run("list-sessions"); err == nil && !regexp.MustCompile(p.Prints).MatchString(out) {
			run("kill-server")
			return needs[i]
		}
	}
	run("kill-server")
	return ""
}

// probe finds the target's version by what a server of it can do.
func probe(ctx context.Context, r child.Request) (child.Message, error) {
	run, err := prober(ctx, r)
	if err != nil {
		return child.Message{}, fmt.Errorf("it starts no session: not a tmux: %w", err)
	}
	version := ""
	for _, l := range gap.Levels {
		for _, p := range l.Probes {
			if out, err := run(p.Args...); err != nil || !regexp.MustCompile(p.Prints).MatchString(out) {
				if version == "" {
					return child.Message{}, fmt.Errorf("%s printed %.60q: not a tmux of %s or later",
						report.CommandLine(p.Args), out, gap.Levels[0].Version)
				}
				return child.Message{Version: version}, nil
			}
		}
		version = l.Version
	}
	return child.Message{Version: version}, nil
}
