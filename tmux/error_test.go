package tmux_test

import (
	"errors"
	"fmt"
	"os"
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
	raw := func(name string, args ...string) tmux.Command { return tmux.Raw{Name: name, Args: args} }
	ok(t, do(ctx, srv, tmux.SplitWindow{Target: tmux.PaneID("%0")}, tmux.NewWindow{Detached: true},
		raw("new-window", "-d", "-t", "$0:50"), raw("resize-window", "-t", "$0:50", "-y", "1")))
	// What tmux itself says.
	kinds := map[string]error{}
	for _, kind := range tmux.Kinds() {
		kinds[kind.Error()] = kind
	}
	for line := range strings.Lines(string(must[[]byte](t)(os.ReadFile("testdata/errors.txt")))) {
		kind, command, isRow := strings.Cut(strings.TrimSpace(line), ": ")
		if !isRow || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(command)
		isKind(t, command, do(ctx, srv, raw(words[0], words[1:]...)), kinds[kind])
	}
	// What is refused before it is sent, or may be sent in another form.
	for _, test := range []struct {
		kind error
		cmd  tmux.Command
	}{
		{tmux.ErrNotFound, tmux.KillSession{Target: tmux.Named("nosuch")}},
		{tmux.ErrNotFound, tmux.SelectWindow{Target: srv.Session("$0").At(99)}},
		{tmux.ErrNotFound, tmux.SelectWindow{Target: srv.Session("$0").Linked("@99")}},
		{tmux.ErrNotFound, tmux.UnlinkWindow{Target: tmux.WindowID("@99")}},
		{tmux.ErrNotFound, tmux.ListKeys{Table: "nosuch"}},
		{tmux.ErrNotFound, tmux.UnbindKey{Table: "nosuch", Key: "a"}},
		{tmux.ErrNoClient, tmux.DetachClient{}},
		{tmux.ErrNoClient, tmux.CommandPrompt{}},
		{tmux.ErrNoClient, tmux.DisplayPopup{}},
		{tmux.ErrNoClient, tmux.DisplayMenu{Title: "x"}.With(tmux.MenuItem{Name: "a", Key: "a", Command: "kill-server"})},
		{tmux.ErrLastLink, tmux.UnlinkWindow{Target: tmux.WindowID("@0")}},
		{tmux.ErrArgument, tmux.BindKey{Key: "NoSuchKey", Command: []string{"kill-server"}}},
		{tmux.ErrArgument, tmux.ListKeys{Key: "NoSuchKey"}},
		{tmux.ErrUsage, tmux.BindKey{Key: "a", Command: []string{"no-such-command"}}},
		{tmux.ErrArgument, tmux.ResizePane{Target: tmux.PaneID("%0"), Width: "wide"}},
		{tmux.ErrArgument, tmux.ResizePane{Target: tmux.PaneID("%0"), Height: tmux.Percent(-1)}},
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
	} {
		isKind(t, fmt.Sprintf("%s %+v", test.cmd.CommandName(), test.cmd), do(ctx, srv, test.cmd), test.kind)
	}
	if has(tmux.CommandFeature(tmux.ServerAccess{})) {
		isKind(t, "an unknown user", second(srv.Do(ctx, tmux.ServerAccess{Allow: true, Name: "nosuchuser"})), tmux.ErrNotFound)
	}
	if has(tmux.CommandFeature(tmux.ShowPromptHistory{})) {
		isKind(t, "an unknown prompt type", do(ctx, srv, tmux.ShowPromptHistory{Type: "nosuch"}), tmux.ErrArgument)
	}
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
	working := job(t)
	go func() {
		ended <- do(tmuxtest.Context(t), srv, tmux.WaitFor{Signal: true, Channel: "begun"},
			tmux.Raw{Name: "run-shell", Args: []string{working}}, tmux.DisplayMessage{Print: true, Message: "over"})
	}()
	ok(t, srv.Channel("begun").Wait(tmuxtest.Context(t)))
	ok(t, srv.Kill(tmuxtest.Context(t))) // though tmux 3.3a stays as long as the job runs
	isKind(t, "the list that it was working on", <-ended, tmux.ErrServerGone)
}

// No kind is missing, and each comes before those that it is one of.
func TestKindsAreComplete(t *testing.T) {
	t.Parallel()
	declared := 0
	for _, v := range packageDoc(t).Vars {
		for _, name := range v.Names {
			if strings.HasPrefix(name, "Err") {
				declared++
			}
		}
	}
	kinds := tmux.Kinds()
	expect(t, declared == len(kinds) && declared != 0, "%d kinds are declared, Kinds has %d", declared, len(kinds))
	for i, kind := range kinds {
		if first := slices.IndexFunc(kinds, func(k error) bool { return errors.Is(kind, k) }); first != i {
			t.Errorf("%v is also %v, which comes before it", kind, kinds[first])
		}
	}
}
