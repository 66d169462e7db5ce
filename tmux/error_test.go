package tmux_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// The same mistake is of the same kind on every tmux, whatever it writes.
func TestErrorKinds(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	has := func(f tmux.Feature) bool { return must[bool](t)(srv.Supports(ctx, f)) }
	ok(t, do(ctx, srv, tmux.SplitWindow{Target: tmux.PaneID("%0")}, tmux.NewWindow{Detached: true}))
	raw := func(name string, args ...string) tmux.Command { return tmux.Raw{Name: name, Args: args} }
	for _, test := range []struct {
		kind error
		cmd  tmux.Command
	}{
		{tmux.ErrNotFound, tmux.KillPane{Target: tmux.PaneID("%99")}},
		{tmux.ErrNotFound, tmux.KillWindow{Target: tmux.WindowID("@99")}},
		{tmux.ErrNotFound, tmux.KillSession{Target: tmux.SessionID("$99")}},
		{tmux.ErrNotFound, tmux.KillSession{Target: tmux.Named("nosuch")}},
		{tmux.ErrNotFound, tmux.SelectWindow{Target: srv.Session("$0").At(99)}},
		{tmux.ErrNotFound, tmux.SelectWindow{Target: srv.Session("$0").Linked("@99")}},
		{tmux.ErrNotFound, tmux.SelectPane{Target: tmux.TargetSpec("$0:0.9")}},
		{tmux.ErrNotFound, tmux.SelectPane{Target: tmux.TargetSpec("{marked}")}},
		{tmux.ErrNotFound, tmux.LastPane{Target: tmux.WindowID("@1")}},
		{tmux.ErrNotFound, tmux.LastWindow{}},
		{tmux.ErrNotFound, tmux.NextWindow{Alert: true}},
		{tmux.ErrNotFound, tmux.PreviousWindow{Alert: true}},
		{tmux.ErrNotFound, tmux.JoinPane{Source: tmux.PaneID("%99"), Target: tmux.PaneID("%0")}},
		{tmux.ErrNotFound, tmux.SwapWindow{Source: tmux.WindowID("@99"), Target: tmux.WindowID("@0")}},
		{tmux.ErrNotFound, tmux.UnlinkWindow{Target: tmux.WindowID("@99")}},
		{tmux.ErrNotFound, tmux.ListKeys{Table: "nosuch"}},
		{tmux.ErrNotFound, tmux.UnbindKey{Table: "nosuch", Key: "a"}},
		{tmux.ErrNotFound, tmux.HasSession{Target: tmux.Named("nosuch")}},
		{tmux.ErrNotFound, tmux.ListPanes{Target: tmux.PaneID("%99")}},
		{tmux.ErrNotFound, tmux.ClockMode{Target: tmux.PaneID("%99")}},
		{tmux.ErrNoClient, tmux.DetachClient{}},
		{tmux.ErrNoClient, tmux.DetachClient{Target: srv.Client("/dev/nosuch")}},
		{tmux.ErrNoClient, tmux.RefreshClient{Target: srv.Client("/dev/nosuch")}},
		{tmux.ErrNoClient, tmux.SwitchClient{Client: srv.Client("/dev/nosuch")}},
		{tmux.ErrNoClient, tmux.SwitchClient{Target: tmux.SessionID("$0")}},
		{tmux.ErrNoClient, tmux.SuspendClient{}},
		{tmux.ErrNoClient, tmux.LockClient{}},
		{tmux.ErrNoClient, tmux.CommandPrompt{}},
		{tmux.ErrNoClient, tmux.ConfirmBefore{Command: "kill-server"}},
		{tmux.ErrNoClient, tmux.DisplayPopup{}},
		{tmux.ErrNoClient, tmux.DisplayMenu{Title: "x"}.With(tmux.MenuItem{Name: "a", Key: "a", Command: "kill-server"})},
		{tmux.ErrExists, tmux.NewSession{Name: "main", Detached: true}},
		{tmux.ErrExists, tmux.NewWindow{Target: srv.Session("$0").At(0)}},
		{tmux.ErrExists, tmux.MoveWindow{Source: tmux.WindowID("@0"), Target: srv.Session("$0").At(1)}},
		{tmux.ErrExists, tmux.LinkWindow{Source: tmux.WindowID("@0"), Target: srv.Session("$0").At(1)}},
		{tmux.ErrExists, tmux.BreakPane{Source: tmux.PaneID("%0"), Target: srv.Session("$0").At(1)}},
		{tmux.ErrLastLink, tmux.UnlinkWindow{Target: tmux.WindowID("@0")}},
		{tmux.ErrRunning, tmux.RespawnPane{Target: tmux.PaneID("%0")}},
		{tmux.ErrRunning, tmux.RespawnWindow{Target: tmux.WindowID("@0")}},
		{tmux.ErrNoSpace, tmux.SplitWindow{Target: tmux.TargetSpec("$0:50.0"), Size: tmux.Cells(1)}},
		{tmux.ErrNoSpace, tmux.JoinPane{Source: tmux.PaneID("%0"), Target: tmux.TargetSpec("$0:50.0")}},
		{tmux.ErrUsage, raw("list-panes", "-Q")},
		{tmux.ErrUsage, raw("list-panes", "too", "many")},
		{tmux.ErrUsage, raw("rename-session")},
		{tmux.ErrUsage, raw("no-such-command")},
		{tmux.ErrAmbiguous, raw("list")},
		{tmux.ErrNoTerminal, tmux.AttachSession{Target: tmux.SessionID("$0")}},
		{tmux.ErrNoTerminal, tmux.NewSession{Name: "attached"}},
		{tmux.ErrArgument, tmux.BindKey{Key: "NoSuchKey", Command: []string{"kill-server"}}},
		{tmux.ErrArgument, tmux.UnbindKey{Key: "NoSuchKey"}},
		{tmux.ErrArgument, tmux.ListKeys{Key: "NoSuchKey"}},
		{tmux.ErrUsage, tmux.BindKey{Key: "a", Command: []string{"no-such-command"}}},
		{tmux.ErrArgument, tmux.ResizePane{Target: tmux.PaneID("%0"), Width: "wide"}},
		{tmux.ErrArgument, tmux.ResizePane{Target: tmux.PaneID("%0"), Height: tmux.Percent(-1)}},
		{tmux.ErrArgument, raw("resize-pane", "-t%0", "-D", "x")},
		{tmux.ErrArgument, tmux.ResizeWindow{Target: tmux.WindowID("@0"), Width: 1 << 20}},
		{tmux.ErrArgument, tmux.SplitWindow{Target: tmux.PaneID("%0"), Size: "large"}},
		{tmux.ErrArgument, tmux.JoinPane{Source: tmux.PaneID("%0"), Target: tmux.PaneID("%1"), Size: "large"}},
		{tmux.ErrArgument, tmux.NewSession{Detached: true, Width: 1 << 20}},
		{tmux.ErrArgument, tmux.NewSession{Detached: true, Group: tmux.SessionID("$0"), WindowName: "x"}},
		{tmux.ErrArgument, tmux.RenameSession{Target: tmux.SessionID("$0"), Name: ""}},
		{tmux.ErrArgument, tmux.RenameSession{Target: tmux.SessionID("$0"), Name: "\xff"}},
		{tmux.ErrArgument, tmux.RenameWindow{Target: tmux.WindowID("@0"), Name: "a\x00b"}},
		{tmux.ErrArgument, tmux.SelectLayout{Target: tmux.WindowID("@0"), Layout: "no-such-layout"}},
		{tmux.ErrArgument, tmux.SwapPane{Source: tmux.PaneID("nosuch"), Target: tmux.PaneID("%0")}},
		{tmux.ErrArgument, tmux.MoveWindow{Source: tmux.WindowID("@0"), Target: tmux.TargetSpec("$0:0.1")}},
		{tmux.ErrArgument, tmux.JoinPane{Source: tmux.PaneID("%0"), Target: tmux.PaneID("%0")}},
	} {
		if test.kind == tmux.ErrNoSpace {
			// A window of one line has no room for two panes.
			ok(t, do(ctx, srv, raw("new-window", "-d", "-t", "$0:50"), raw("resize-window", "-t", "$0:50", "-y", "1")))
		}
		isKind(t, shown(test.cmd), second(srv.Do(ctx, test.cmd)), test.kind)
		if test.kind == tmux.ErrNoSpace {
			ok(t, do(ctx, srv, raw("kill-window", "-t", "$0:50")))
		}
	}
	if has(tmux.CommandFeature(tmux.ServerAccess{})) {
		_, err := srv.Do(ctx, tmux.ServerAccess{Allow: true, Name: "nosuchuser"})
		isKind(t, "an unknown user", err, tmux.ErrNotFound)
	}
	if has(tmux.CommandFeature(tmux.ShowPromptHistory{})) {
		isKind(t, "an unknown prompt type", do(ctx, srv, tmux.ShowPromptHistory{Type: "nosuch"}), tmux.ErrArgument)
	}
}

func shown(cmd tmux.Command) string {
	text := cmd.CommandName()
	v := reflect.ValueOf(cmd)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			text += fmt.Sprintf(" %s=%v", v.Type().Field(i).Name, f)
		}
	}
	return text
}

// A name in the text of an error may read like another error.
func TestErrorKindsIgnoreNames(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	for _, name := range []string{"x in use", "no server running on x", "ambiguous x", "unknown flag", "not a terminal"} {
		isKind(t, name, second(srv.Do(ctx, tmux.KillSession{Target: tmux.Named(name)})), tmux.ErrNotFound)
		if _, err := srv.Do(ctx, tmux.DeleteBuffer{Buffer: name}); !errors.Is(err, tmux.ErrNotFound) && err != nil {
			t.Errorf("%q: %v", name, err)
		}
		isKind(t, name, second(srv.Do(ctx, tmux.ShowBuffer{Buffer: name})), tmux.ErrNotFound)
	}
}

// TestServerEndsDuringAList: a server that is asked to end sends its waiting clients
// no error.
func TestServerEndsDuringAList(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d")
	ended := make(chan error)
	go func() {
		ended <- do(tmuxtest.Context(t), srv, tmux.WaitFor{Signal: true, Channel: "begun"}, tmux.Raw{Name: "run-shell", Args: []string{"sleep 60"}}, tmux.DisplayMessage{Print: true, Message: "over"})
	}()
	ok(t, srv.Channel("begun").Wait(tmuxtest.Context(t)))
	ok(t, do(tmuxtest.Context(t), srv, tmux.Raw{Name: "kill-server"}))
	isKind(t, "the list that it was working on", <-ended, tmux.ErrServerGone)
}

// No kind is missing, and each comes before those that it is one of.
func TestKindsAreComplete(t *testing.T) {
	t.Parallel()
	file := must[*ast.File](t)(parser.ParseFile(token.NewFileSet(), "error.go", nil, 0))
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Err") {
			declared += len(spec.Names)
		}
		return true
	})
	kinds := tmux.Kinds()
	expect(t, declared == len(kinds) && declared != 0, "%d kinds are declared, Kinds has %d", declared, len(kinds))
	for i, kind := range kinds {
		if first := slices.IndexFunc(kinds, func(k error) bool { return errors.Is(kind, k) }); first != i {
			t.Errorf("%v is also %v, which comes before it", kind, kinds[first])
		}
	}
}
