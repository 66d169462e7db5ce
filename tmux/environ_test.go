package tmux_test

import (
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

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
	equal(t, "all", want, must[[]tmux.Variable](t)(env.All(ctx)))
	for _, v := range want {
		equal(t, v.Name, v, must[tmux.Variable](t)(env.Get(ctx, v.Name)))
	}
	unset("A")
	isKind(t, "after it was unset", second(env.Get(ctx, "A")), tmux.ErrNotFound)
	isKind(t, "a name with an equals sign", env.Set(ctx, "A=B", "x"), tmux.ErrArgument)
	isKind(t, "of a session that is gone", srv.Session("$9").Environment().Set(ctx, "A", "x"), tmux.ErrNotFound)
	isKind(t, "of a session that is gone", second(srv.Session("$9").Environment().All(ctx)), tmux.ErrNotFound)
}
