package tmux_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// TestOptionsInOneList: a change, its result and its object, in one round trip, for the
// target that tmux picks.
func TestOptionsInOneList(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	here := srv.OptionsAt(tmux.SessionOptions, nil)
	var b tmux.Batch
	before := tmux.AddOption(&b, here, "status-interval")
	none := tmux.AddOption(&b, here, "@none")
	tmux.Add(&b, here.Setting(tmux.SetOption{Name: "status-interval", Value: ptr("007")}))
	after := tmux.AddOption(&b, here, "status-interval")
	hook := tmux.AddHooks(&b, srv.HooksAt(tmux.GlobalWindowOptions, nil), "pane-died")
	tmux.Add(&b, srv.EnvironmentAt(tmux.Named("main")).Setting(tmux.SetEnvironment{Name: "X", Value: ptr("1;")}))
	vars := tmux.AddEnvironment(&b, srv.EnvironmentAt(tmux.Named("main")))
	check.OK(t, b.Do(ctx, srv))
	check.Equal(t, "before", []tmux.Option{{Name: "status-interval", Value: "15", Scope: tmux.GlobalSessionOptions, Inherited: true}}, *before)
	check.Equal(t, "after", []tmux.Option{{Name: "status-interval", Value: "7", Scope: tmux.SessionOptions}}, *after)
	check.That(t, *none == nil && len(*hook) == 0, "not set, and read as %+v and %+v", *none, *hook)
	if !slices.Contains(*vars, tmux.Variable{Name: "X", Value: "1;"}) {
		t.Errorf("X is not in %+v", *vars)
	}
	for _, name := range []string{"mode-keys", "pane-died", "#(x)", "status-interv"} {
		b = tmux.Batch{}
		tmux.Add(&b, here.Setting(tmux.SetOption{Name: name, Value: ptr("7")}))
		if err := b.Do(ctx, srv); !errors.Is(err, tmux.ErrArgument) && !errors.Is(err, tmux.ErrUnknownOption) {
			t.Errorf("%s was set: %v", name, err)
		}
	}
}

// Formats read options by name, and names that are not options of the running version are
// looked up in the environment.
func TestOptionsSince(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "cat")
	v := check.Must[tmux.Version](t)(srv.Version(testserver.Context(t)))
	have := map[string]bool{}
	for _, scope := range []string{"-gs", "-g", "-gw"} {
		for line := range strings.Lines(testserver.Run(t, srv, "show-options", scope)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, _, _ = strings.Cut(name, "[")
			have[name] = true
		}
	}
	names := tmux.OptionNames(v)
	for _, name := range names {
		check.That(t, have[name] || v.Next, "tmux %s has no option %s", v, name)
	}
	for name := range have {
		if !slices.Contains(names, name) && !strings.HasPrefix(name, "@") {
			t.Errorf("the option %s of tmux %s is not known", name, v)
		}
	}
}
