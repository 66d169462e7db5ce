package conform

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/testtool"
	"tmuxmcp/tmux/tmuxtest"
)

// program is an executable shell script.
func program(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "tmux")
	if err := testtool.WriteProgram(path, []byte("#!/bin/sh\n"+text+"\n")); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResolveTargets(t *testing.T) {
	a, b := program(t, "echo tmux 3.6a"), program(t, "echo tmux next-3.8")
	fetch := func(_ context.Context, suite string) (string, error) {
		if suite == "sid" {
			return b, nil
		}
		return "", errors.New("debian:" + suite + ": no such suite")
	}
	targets, err := ResolveTargets(t.Context(), []string{a, "head=" + b, a, "debian:sid", "d=debian:sid"}, fetch)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range targets {
		got = append(got, target.Name+" "+target.Version)
	}
	if want := "3.6a 3.6a, head next-3.8, 3.6a#2 3.6a, next-3.8 next-3.8, d next-3.8"; strings.Join(got, ", ") != want {
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
		{"debian:", "want debian:SUITE"},
		{"debian:nosuch", "--tmux debian:nosuch: no such suite"},
	} {
		fetch := func(_ context.Context, suite string) (string, error) {
			return "", errors.New("debian:" + suite + ": no such suite")
		}
		_, err := ResolveTargets(t.Context(), []string{tt.spec}, fetch)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", tt.spec, err, tt.want)
		}
	}
	one := program(t, "echo tmux 3.6a")
	if _, err := ResolveTargets(t.Context(), []string{"x=" + one, "x=" + one}, nil); err == nil || !strings.Contains(err.Error(), "two targets of the name x") {
		t.Errorf("%v, want two targets of the name x", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := ResolveTargets(t.Context(), []string{"system"}, nil); !errors.Is(err, ErrNoSystemTmux) {
		t.Errorf("%v, want %v", err, ErrNoSystemTmux)
	}
}

// A program that hangs on -V is given up, and ended with all that it started.
func TestTargetHangs(t *testing.T) {
	t.Parallel()
	tmuxtest.Binary(t)
	dir := t.TempDir()
	path := program(t, "trap : TERM INT HUP; sleep 1000 & cd "+dir+"; sleep 1000; sleep 1000")
	start := time.Now()
	_, err := ResolveTargets(t.Context(), []string{path}, nil)
	if err == nil || !strings.Contains(err.Error(), "-V did not end within 5s: not a tmux") {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if ps := processes(t, filepath.Dir(path)); len(ps) > 0 {
		t.Errorf("left running: %s", ps)
	}
}
