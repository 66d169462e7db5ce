package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// program returns the path of an executable shell script.
func program(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "tmux")
	if err := testtool.WriteProgram(path, []byte("#!/bin/sh\n"+text+"\n")); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindTargets(t *testing.T) {
	a, b, later := program(t, "echo tmux 3.6a"), program(t, "echo tmux next-3.8"), program(t, "echo tmux 4.0a")
	fetch := func(_ context.Context, suite string) (string, error) {
		if suite == "sid" {
			return b, nil
		}
		return "", errors.New("debian:" + suite + ": no such suite")
	}
	targets, err := resolve(t.Context(), []string{a, "head=" + b, a, "debian:sid", "d=debian:sid", later}, fetch)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range targets {
		got = append(got, target.Name+" "+target.Version)
	}
	if want := "3.6a 3.6a, head next-3.8, 3.6a#2 3.6a, next-3.8 next-3.8, d next-3.8, 4.0a 4.0a"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

// Each wrong target is one line that says what is wrong.
func TestWrongTargets(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "tmux")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "tmux")
	if err := testtool.WriteProgram(empty, nil); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ spec, want string }{
		{"", "--tmux : want a path"},
		{"/no/such/tmux", "--tmux /no/such/tmux: no such file"},
		{"no-such-tmux", "--tmux no-such-tmux: no such file; want a path, NAME=PATH, system or debian:SUITE"},
		{"x=/no/such/tmux", "--tmux x=/no/such/tmux: no such file"},
		{"=/bin/sh", "want NAME=PATH"},
		{"x=", "want NAME=PATH"},
		{"a b=/bin/sh", "want NAME=PATH"},
		{t.TempDir(), "is a directory"},
		{plain, "is not executable"},
		{empty, "is not a program of this machine"},
		{program(t, "exit 1"), "-V failed: not a tmux: exit status 1"},
		{program(t, "echo a program 1.0"), `-V printed "a program 1.0": not a tmux`},
		{program(t, ":"), `-V printed "": not a tmux`},
		{program(t, "echo tmux openbsd-7.6"), "a tmux whose version is not known"},
		{program(t, "echo tmux 2.9a"), "is tmux 2.9a: older than 3.2"},
		{"x=" + plain + "?", "behind the ?: want env=NAME=VALUE, arg=WORD or probe"},
		{plain + "?env=A", `"env=A" behind the ?`},
		{plain + "?probe&what=1", `"what=1" behind the ?`},
		{plain + "?arg=%zz", "want %25 for a percent sign"},
		{"debian:", "want debian:SUITE"},
		{"debian:nosuch", "--tmux debian:nosuch: no such suite"},
	} {
		fetch := func(_ context.Context, suite string) (string, error) {
			return "", errors.New("debian:" + suite + ": no such suite")
		}
		_, err := resolve(t.Context(), []string{tt.spec}, fetch)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", tt.spec, err, tt.want)
		}
	}
	one := program(t, "echo tmux 3.6a")
	if _, err := resolve(t.Context(), []string{"x=" + one, "x=" + one}, nil); err == nil || !strings.Contains(err.Error(), "two targets of the name x") {
		t.Errorf("%v, want two targets of the name x", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := resolve(t.Context(), []string{"system"}, nil); !errors.Is(err, ErrNoSystemTmux) {
		t.Errorf("%v, want %v", err, ErrNoSystemTmux)
	}
}

// needy returns the path of a tmux that works only with its environment and its argument.
func needy(t *testing.T) string {
	return program(t, `[ "$NEEDS" = "a & b" ] && [ "$1" = --compat ] || { echo "needs more" >&2; exit 1; }
shift
exec '`+testserver.Binary(t)+`' "$@"`)
}

// A target's arguments and environment reach it on every layer.
func TestNeedyTargets(t *testing.T) {
	t.Parallel()
	path := needy(t)
	fromFile, err := ParseTargets("t.toml", filepath.Dir(path), []byte("[[target]]\nname = \"file\"\npath = \"./tmux\"\nargs = [\"--compat\"]\nenv = { NEEDS = \"a & b\" }\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ParseTarget("spec=" + path + "?env=NEEDS=a %26 b&arg=--compat")
	if err != nil {
		t.Fatal(err)
	}
	targets, err := FindTargets(t.Context(), append(fromFile, spec), nil)
	if err != nil {
		t.Fatal(err)
	}
	const session = "tmux new-session -d -s work 'exec sleep 60'\n"
	g, err := gap.Parse("01-needy.txtar", []byte("# gap: g\n# claim: c\n-- tmux --\n"+session+"attach user\ncontrol -t work 'display-message -p one'\nstdout ^one$\nsaw confirmed a\nclaim confirmed b\n"+
		"-- api --\n"+session+"api list sessions\njson 0.session_name work\n-- mcp --\n"+session+"mcp list_sessions\njson result.0.session_name work\n"))
	if err != nil {
		t.Fatal(err)
	}
	result := mustRun(t, Options{Targets: targets, Gaps: []*Gap{g}})
	for _, c := range result.Cells {
		if c.Status != report.Pass {
			t.Errorf("%s, layer %s: %s: %s", c.Tmux, c.Layer, c.Status, c.Reason)
		}
	}
	if len(result.Cells) != 6 {
		t.Errorf("%d cells, want 6", len(result.Cells))
	}
	if _, err := resolve(t.Context(), []string{path + "?env=NEEDS=a"}, nil); err == nil || !strings.Contains(err.Error(), "-V failed: not a tmux") {
		t.Errorf("%v: the environment does not matter", err)
	}
}

// A tmux whose -V lies, or makes no sense, has the version of what it can do.
func TestProbe(t *testing.T) {
	t.Parallel()
	real := testserver.Binary(t)
	version, err := resolve(t.Context(), []string{real}, nil)
	if err != nil {
		t.Fatal(err)
	}
	level, lie := gap.LevelOf(version[0].Version), "3.2"
	if level == lie {
		lie = "9.9"
	}
	says := func(text string) string {
		return program(t, `[ "$1" = -V ] && { echo "`+text+`"; exit; }`+"\nexec '"+real+`' "$@"`)
	}
	targets, err := resolve(t.Context(), []string{real + "?probe", "liar=" + says("tmux "+lie) + "?probe", "strange=" + says("a shim of mine"), "believed=" + says("tmux 9.9")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range targets {
		got = append(got, fmt.Sprintf("%s %v %q", x.Version, x.Probed, x.Claimed))
	}
	want := []string{version[0].Version + ` true ""`, level + ` true "` + lie + `"`, level + ` true "a shim of mine"`, `9.9 false ""`}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// resolve finds the programs that the specs name.
func resolve(ctx context.Context, specs []string, fetch Fetch) ([]report.Target, error) {
	targets := make([]report.Target, len(specs))
	for i, spec := range specs {
		var err error
		if targets[i], err = ParseTarget(spec); err != nil {
			return nil, err
		}
	}
	return FindTargets(ctx, targets, fetch)
}
