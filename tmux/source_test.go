package tmux_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestSource(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	get := func() string {
		v, err := srv.GlobalSessionOptions().Get(ctx, "@x")
		if err != nil && !errors.Is(err, tmux.ErrUnknownOption) {
			t.Fatal(err)
		}
		return v
	}
	out, err := srv.Source(ctx, []byte("# a comment\nset -g @x 'from source'\ndisplay-message -p hello\n"))
	expect(t, err == nil && string(out) == "hello\n" && get() == "from source", "printed %q, set %q, %v", out, get(), err)
	if _, err := srv.Source(ctx, []byte("last-window\nset -g @x 'after an error'\n")); !errors.Is(err, tmux.ErrNotFound) || get() != "after an error" {
		t.Errorf("set %q, %v", get(), err)
	}
	expect(t, second(srv.Source(ctx, []byte("set -g @x no\nno-such-command\n"))) != nil, "a syntax error is none")
	equal(t, "set with a syntax error", "after an error", get())
	ok(t, second(srv.Source(ctx, nil)))
	path := filepath.Join(t.TempDir(), "a * [b] ?#{x};")
	ok(t, os.WriteFile(path, []byte("set -g @x 'from a file'\n"), 0o600))
	ok(t, do(ctx, srv, tmux.SourceFile{Paths: []string{path}}))
	equal(t, "set", "from a file", get())
	isKind(t, "no file", do(ctx, srv, tmux.SourceFile{Paths: []string{path + "none"}}), tmux.ErrNotFound)
	ok(t, do(ctx, srv, tmux.SourceFile{Paths: []string{"-"}, Input: []byte("set -g @x no\n"), ParseOnly: true}))
	equal(t, "set by what is parsed only", "from a file", get())
}

func TestMessages(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	if _, err := srv.GlobalSessionOptions().Get(ctx, "@nope"); err == nil {
		t.Fatal("no error to be logged")
	}
	v := must[tmux.Version](t)(srv.Version(ctx))
	got, err := srv.Messages(ctx)
	if v.Minor < 6 && v.Major == 3 {
		isKind(t, "without a client", err, tmux.ErrNoClient)
		t.Skipf("tmux %v shows messages only with a client attached", v)
	}
	expect(t, err == nil && strings.Contains(strings.Join(got, "\n"), "show-options -gq @nope"), "%q, %v", got, err)
}
