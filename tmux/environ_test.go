package tmux_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func FuzzEnvironment(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Add("\"; export X;\nY=\"z")
	f.Add("$x \\$y \\\\$z \\${a")
	srv := started(f)
	f.Fuzz(func(t *testing.T, value string) {
		ctx := tmuxtest.Context(t)
		for _, env := range []tmux.Environment{srv.Environment(), srv.Session("$0").Environment()} {
			err := env.Set(ctx, "FUZZ", value)
			if strings.IndexByte(value, 0) >= 0 {
				if !errors.Is(err, tmux.ErrArgument) {
					t.Fatalf("a NUL byte was not refused: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			want := tmux.Variable{Name: "FUZZ", Value: value}
			if got, err := env.Get(ctx, "FUZZ"); err != nil || got != want {
				t.Errorf("set %q, got %+v, %v", value, got, err)
			}
			all, err := env.All(ctx)
			if err != nil {
				t.Errorf("with %q: %v", value, err)
			}
			found := false
			for _, v := range all {
				found = found || v == want
			}
			if !found {
				t.Errorf("%q is not in %+v", value, all)
			}
		}
	})
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	tmuxtest.Run(t, srv, "set-option", "-g", "update-environment", "")
	env := srv.Session("$0").Environment()
	unset := func(name string) { ok(t, do(ctx, srv, env.Setting(tmux.SetEnvironment{Name: name, Unset: true}))) }
	old, err := env.All(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range old {
		unset(v.Name)
	}
	for _, err := range []error{
		env.Set(ctx, "B", "x\ny"), env.Set(ctx, "A", "-"), env.SetHidden(ctx, "H", "secret"), env.Remove(ctx, "GONE"), env.Set(ctx, "-n", ""),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []tmux.Variable{{Name: "-n"}, {Name: "A", Value: "-"}, {Name: "B", Value: "x\ny"}, {Name: "GONE", Removed: true}, {Name: "H", Value: "secret", Hidden: true}}
	got, err := env.All(ctx)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s%v", diff, err)
	}
	for _, v := range want {
		if got, err := env.Get(ctx, v.Name); err != nil || got != v {
			t.Errorf("%s is %+v, %v", v.Name, got, err)
		}
	}
	unset("A")
	if _, err := env.Get(ctx, "A"); !errors.Is(err, tmux.ErrNotFound) {
		t.Errorf("after it was unset: %v", err)
	}
	if err := env.Set(ctx, "A=B", "x"); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("a name with an equals sign: %v", err)
	}
	if err := srv.Session("$9").Environment().Set(ctx, "A", "x"); !errors.Is(err, tmux.ErrNotFound) {
		t.Errorf("of a session that is gone: %v", err)
	}
	if _, err := srv.Session("$9").Environment().All(ctx); !errors.Is(err, tmux.ErrNotFound) {
		t.Errorf("of a session that is gone: %v", err)
	}
}
