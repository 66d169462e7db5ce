package tmux_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestOptionScopes(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	session, window, pane := srv.Session("$0"), srv.Window("@0"), srv.Pane("%0")
	effective := func(o tmux.Options, name string) tmux.Option {
		t.Helper()
		return only[tmux.Option](t)(o.Items(ctx, name))
	}
	// From the largest scope down; each in turn is what the pane sees.
	for _, step := range []struct {
		o     tmux.Options
		scope tmux.OptionScope
	}{{srv.GlobalWindowOptions(), tmux.GlobalWindowOptions}, {window.Options(), tmux.WindowOptions}, {pane.Options(), tmux.PaneOptions}} {
		ok(t, step.o.Set(ctx, "@level", string(step.scope)))
		want := tmux.Option{Name: "@level", Value: string(step.scope), Scope: step.scope, Inherited: step.scope != tmux.PaneOptions}
		equal(t, "what the pane sees", want, effective(pane.Options(), "@level"))
	}
	ok(t, pane.Options().Unset(ctx, "@level"))
	ok(t, window.Options().Unset(ctx, "@level"))
	equal(t, "after it was unset", tmux.GlobalWindowOptions, effective(pane.Options(), "@level").Scope)
	ok(t, session.Options().Set(ctx, "status", "off"))
	if got := effective(session.Options(), "status"); got.Value != "off" || got.Inherited {
		t.Errorf("a session's own: %+v", got)
	}
	ok(t, do(ctx, srv, session.Options().Setting(tmux.SetOption{Name: "mouse"})))
	ok(t, session.Options().Append(ctx, "status-left", "more;"))
	contains(t, "appended", must[string](t)(session.Options().Get(ctx, "status-left")), "more;")
	ok(t, session.Options().Unset(ctx, "status"))
	if got := effective(session.Options(), "status"); got.Value != "on" || got.Scope != tmux.GlobalSessionOptions {
		t.Errorf("inherited: %+v", got)
	}
	isKind(t, "not set here", second(session.Options().Local(ctx, "status")), tmux.ErrUnknownOption)
	equal(t, "inherited as", "on", must[string](t)(session.Options().Get(ctx, "status")))
	contains(t, "set here", must[string](t)(session.Options().Local(ctx, "status-left")), "more;")
	own, err := session.Options().AllLocal(ctx)
	ok(t, err)
	names := []string{}
	for _, o := range own {
		if o.Name == "default-size" {
			continue // of new-session -x -y
		}
		names = append(names, o.Name)
	}
	equal(t, "local options", []string{"mouse", "status-left"}, names)
	all, err := window.Options().All(ctx)
	ok(t, err)
	found := false
	for _, o := range all {
		found = found || o == tmux.Option{Name: "mode-keys", Value: "emacs", Inherited: true}
	}
	expect(t, found, "mode-keys is not inherited in %+v", all)
}

func TestArrayOptions(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	o := srv.GlobalSessionOptions()
	want := []string{"A", "b c", "d,e;", "\n"}
	ok(t, o.SetItems(ctx, "update-environment", want))
	got := must[[]tmux.Option](t)(o.LocalItems(ctx, "update-environment"))
	values := []string{}
	for _, item := range got {
		values = append(values, item.Index+"="+item.Value)
	}
	equal(t, "items", []string{"0=A", "1=b c", "2=d,e;", "3=\n"}, values)
	equal(t, "an item", "d,e;", must[string](t)(o.Get(ctx, "update-environment[2]")))
	isKind(t, "the whole as one value", second(o.Get(ctx, "update-environment")), tmux.ErrArgument)
	ok(t, o.Unset(ctx, "update-environment[1]"))
	ok(t, o.Set(ctx, "update-environment[9]", "Z"))
	got = must[[]tmux.Option](t)(o.Items(ctx, "update-environment"))
	expect(t, len(got) == 4 && got[3].Index == "9" && got[3].Value == "Z", "after changes: %+v", got)
	ok(t, o.SetItems(ctx, "update-environment", nil))
	equal(t, "emptied", 0, len(must[[]tmux.Option](t)(o.LocalItems(ctx, "update-environment"))))
	equal(t, "emptied", 0, len(must[[]tmux.Option](t)(o.Items(ctx, "update-environment"))))
}

// TestOptionsInOneList: a change, what came of it and where, in one round trip,
// for the target that tmux takes by itself.
func TestOptionsInOneList(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	here := srv.OptionsAt(tmux.SessionOptions, nil)
	var b tmux.Batch
	before := tmux.ReadOption(&b, here, "status-interval")
	none := tmux.ReadOption(&b, here, "@none")
	tmux.Add(&b, here.Setting(tmux.SetOption{Name: "status-interval", Value: new("007")}))
	after := tmux.ReadOption(&b, here, "status-interval")
	hook := tmux.ReadHooks(&b, srv.HooksAt(tmux.GlobalWindowOptions, nil), "pane-died")
	tmux.Add(&b, srv.EnvironmentAt(tmux.Named("main")).Setting(tmux.SetEnvironment{Name: "X", Value: new("1;")}))
	vars := tmux.ReadEnvironment(&b, srv.EnvironmentAt(tmux.Named("main")))
	ok(t, b.Do(ctx, srv))
	equal(t, "before", []tmux.Option{{Name: "status-interval", Value: "15", Scope: tmux.GlobalSessionOptions, Inherited: true}}, *before)
	equal(t, "after", []tmux.Option{{Name: "status-interval", Value: "7", Scope: tmux.SessionOptions}}, *after)
	expect(t, *none == nil && len(*hook) == 0, "not set, and read as %+v and %+v", *none, *hook)
	if !slices.Contains(*vars, tmux.Variable{Name: "X", Value: "1;"}) {
		t.Errorf("X is not in %+v", *vars)
	}
	for _, name := range []string{"mode-keys", "pane-died", "#(x)", "status-interv"} {
		b = tmux.Batch{}
		tmux.Add(&b, here.Setting(tmux.SetOption{Name: name, Value: new("7")}))
		if err := b.Do(ctx, srv); !errors.Is(err, tmux.ErrArgument) && !errors.Is(err, tmux.ErrUnknownOption) {
			t.Errorf("%s was set: %v", name, err)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	marker := filepath.Join(t.TempDir(), "marker")
	session, pane := srv.Session("$0").Options(), srv.Pane("%0").Options()
	for _, test := range []struct {
		what string
		err  error
		kind error
	}{
		{"a user option that is not set", second(session.Local(ctx, "@nope")), tmux.ErrUnknownOption},
		{"the same, effective", second(session.Get(ctx, "@nope")), tmux.ErrUnknownOption},
		{"no option", session.Set(ctx, "no-such-option", "x"), tmux.ErrUnknownOption},
		{"no option, effective", second(session.Items(ctx, "no-such-option")), tmux.ErrUnknownOption},
		{"an abbreviation", session.Set(ctx, "status-le", "x"), tmux.ErrUnknownOption},
		{"a window's option of a session", session.Set(ctx, "mode-keys", "vi"), tmux.ErrArgument},
		{"a session's option of a pane", pane.Set(ctx, "status", "off"), tmux.ErrArgument},
		{"a window's option of a pane", pane.Set(ctx, "mode-keys", "vi"), tmux.ErrArgument},
		{"a server option of a session", second(session.Get(ctx, "buffer-limit")), tmux.ErrArgument},
		{"a hook", session.Set(ctx, "session-closed", "x"), tmux.ErrArgument},
		{"a hook, abbreviated", session.Set(ctx, "client-attac", "x"), tmux.ErrArgument},
		{"a command's hook", session.Set(ctx, "after-new-window[0]", "x"), tmux.ErrArgument},
		{"a value of the wrong type", session.Set(ctx, "status-interval", "x"), tmux.ErrBadValue},
		{"a choice that is none", session.Set(ctx, "status-keys", "x"), tmux.ErrBadValue},
		{"a flag that is none", session.Set(ctx, "mouse", "x"), tmux.ErrBadValue},
		{"an index of no array", session.Set(ctx, "status-left[1]", "x"), tmux.ErrBadValue},
		{"a job as the name", session.Set(ctx, "@#(touch "+marker+")", "x"), tmux.ErrArgument},
		{"a job as the name of a raw struct", second(srv.Do(ctx, tmux.SetOption{Global: true, Name: "#(touch " + marker + ")", Value: new("x")})), tmux.ErrUnknownOption},
		{"an empty name", session.Set(ctx, "", "x"), tmux.ErrArgument},
		{"an empty name, read", second(session.LocalItems(ctx, "")), tmux.ErrArgument},
		{"an empty name, effective", second(session.Items(ctx, "")), tmux.ErrArgument},
		{"a name of spaces", session.Set(ctx, "@a b", "x"), tmux.ErrArgument},
		{"a pane that is gone", srv.Pane("%9").Options().Set(ctx, "@x", "y"), tmux.ErrNotFound},
		{"read of a pane that is gone", second(srv.Pane("%9").Options().Local(ctx, "@x")), tmux.ErrNotFound},
		{"effective of a pane that is gone", second(srv.Pane("%9").Options().Items(ctx, "remain-on-exit")), tmux.ErrNotFound},
		{"effective of a window that is gone", second(srv.Window("@9").Options().Items(ctx, "mode-keys")), tmux.ErrNotFound},
		{"effective of a session that is gone", second(srv.Session("$9").Options().Items(ctx, "status")), tmux.ErrNotFound},
		{"all of a window that is gone", second(srv.Window("@9").Options().AllLocal(ctx)), tmux.ErrNotFound},
	} {
		isKind(t, test.what, test.err, test.kind)
	}
	absent(t, marker)
	equal(t, "mode-keys", "emacs", must[string](t)(srv.GlobalWindowOptions().Get(ctx, "mode-keys")))
}

func TestHooks(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	script := func(value string) string {
		t.Helper()
		s, err := srv.Script(ctx, tmux.SetOption{Global: true, Name: "@ran", Value: &value, Append: true}, tmux.SetOption{Global: true, Name: "@ran", Value: new(";"), Append: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ran := func() string {
		got, err := srv.GlobalSessionOptions().Get(ctx, "@ran")
		if err != nil && !errors.Is(err, tmux.ErrUnknownOption) {
			t.Fatal(err)
		}
		return got
	}
	global, session := srv.Hooks(), srv.Session("$0").Hooks()
	ok(t, global.Set(ctx, "after-new-window", script("one")))
	ok(t, do(ctx, srv, global.Setting(tmux.SetHook{Name: "after-new-window", Commands: new(script("it's \"two\" #{x}")), Append: true})))
	ok(t, session.Set(ctx, "session-renamed", script("renamed")))
	ok(t, srv.Window("@0").Hooks().Set(ctx, "window-renamed", "list-panes"))
	ok(t, srv.Pane("%0").Hooks().Set(ctx, "pane-exited", "list-panes"))
	tmuxtest.Run(t, srv, "new-window", "-d")
	if got, want := ran(), "one;it's \"two\" #{x};"; got != want {
		t.Errorf("after new-window @ran is %q, want %q", got, want)
	}
	all, err := global.All(ctx)
	ok(t, err)
	names := []string{}
	for _, h := range all {
		if h.Commands != "" && strings.HasPrefix(h.Name, "after-new-window") {
			names = append(names, h.Name+"["+h.Index+"]")
		}
	}
	equal(t, "hooks", []string{"after-new-window[0]", "after-new-window[1]"}, names)
	for what, hooks := range map[string]tmux.Hooks{"session-renamed": session, "window-renamed": srv.Window("@0").Hooks(), "pane-exited": srv.Pane("%0").Hooks()} {
		got := only[tmux.Hook](t)(hooks.Get(ctx, what))
		expect(t, got.Name == what && got.Commands != "", "%s: %+v", what, got)
		equal(t, "all", got, only[tmux.Hook](t)(hooks.All(ctx)))
	}
	// What is printed can be set again.
	ok(t, global.Set(ctx, "after-new-window", only[tmux.Hook](t)(global.Get(ctx, "after-new-window[1]")).Commands))
	ok(t, srv.GlobalSessionOptions().Unset(ctx, "@ran"))
	ok(t, do(ctx, srv, tmux.SetHook{Name: "after-new-window", Run: true}))
	if got, want := ran(), "it's \"two\" #{x};"; got != want {
		t.Errorf("run by hand @ran is %q, want %q", got, want)
	}
	ok(t, do(ctx, srv, global.Setting(tmux.SetHook{Name: "after-new-window", Unset: true})))
	equal(t, "after it was unset", 0, len(must[[]tmux.Hook](t)(global.Get(ctx, "after-new-window"))))
	for what, err := range map[string]error{
		"an option":             global.Set(ctx, "default-command", "x"),
		"an option abbreviated": global.Set(ctx, "default-comm", "x"),
		"a job":                 global.Set(ctx, "#(x)", "list-panes"),
		"a pane's of a session": session.Set(ctx, "pane-exited", "list-panes"),
		"a session's of a pane": srv.Pane("%0").Hooks().Set(ctx, "session-closed", "list-panes"),
	} {
		isKind(t, what, err, tmux.ErrArgument)
	}
	isKind(t, "an option read as a hook", second(global.Get(ctx, "status")), tmux.ErrArgument)
	isKind(t, "no such hook", global.Set(ctx, "no-such-hook", "list-panes"), tmux.ErrUnknownOption)
	isKind(t, "of a session that is gone", srv.Session("$9").Hooks().Set(ctx, "session-renamed", "list-panes"), tmux.ErrNotFound)
	isKind(t, "a command that is none", global.Set(ctx, "after-new-window", "no-such-command"), tmux.ErrUsage)
}

// Formats read options by name, and what is no option of the running version is
// looked up in the environment.
func TestOptionsSince(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "cat")
	v := must[tmux.Version](t)(srv.Version(tmuxtest.Context(t)))
	have := map[string]bool{}
	for _, scope := range []string{"-gs", "-g", "-gw"} {
		for line := range strings.Lines(tmuxtest.Run(t, srv, "show-options", scope)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, _, _ = strings.Cut(name, "[")
			have[name] = true
		}
	}
	names := tmux.OptionNames(v)
	for _, name := range names {
		expect(t, have[name] || v.Next, "tmux %s has no option %s", v, name)
	}
	for name := range have {
		if !slices.Contains(names, name) && !strings.HasPrefix(name, "@") {
			t.Errorf("the option %s of tmux %s is not known", name, v)
		}
	}
}
