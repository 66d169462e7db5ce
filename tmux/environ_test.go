package tmux_test

import (
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
				isKind(t, "a NUL byte", err, tmux.ErrArgument)
				continue
			}
			ok(t, err)
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
	old := must[[]tmux.Variable](t)(env.All(ctx))
	for _, v := range old {
		unset(v.Name)
	}
	for _, err := range []error{
		env.Set(ctx, "B", "x\ny"), env.Set(ctx, "A", "-"), env.SetHidden(ctx, "H", "secret"), env.Remove(ctx, "GONE"), env.Set(ctx, "-n", ""),
	} {
		ok(t, err)
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
	isKind(t, "after it was unset", second(env.Get(ctx, "A")), tmux.ErrNotFound)
	isKind(t, "a name with an equals sign", env.Set(ctx, "A=B", "x"), tmux.ErrArgument)
	isKind(t, "of a session that is gone", srv.Session("$9").Environment().Set(ctx, "A", "x"), tmux.ErrNotFound)
	isKind(t, "of a session that is gone", second(srv.Session("$9").Environment().All(ctx)), tmux.ErrNotFound)
}
