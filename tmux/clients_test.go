package tmux_test

import (
	"os"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// attached returns a server with a session "main" and a client attached to it, in a pane of
// another server; screen returns what that client shows.
func attached(t testing.TB) (srv *tmux.Server, client tmux.Client, outer tmux.PaneRef) {
	t.Helper()
	srv = testserver.Started(t)
	host, ctx := testserver.Started(t), testserver.Context(t)
	outer = host.Pane("%0")
	attach := []string{"env", "-u", "TMUX", "-u", "TMUX_PANE", srv.Binary(), "-u", "-S", srv.SocketPath(), "-f", os.DevNull, "attach-session", "-t", "main"}
	check.Must[tmux.Pane](t)(outer.Respawn(ctx, tmux.RespawnPane{Kill: true, Command: attach}))
	testserver.Wait(t, host, "%0", "attached client", func() bool {
		all := check.Must[[]tmux.Client](t)(srv.Clients(ctx))
		if len(all) == 1 {
			client = all[0]
		}
		return len(all) == 1
	})
	return srv, client, outer
}

func TestClients(t *testing.T) {
	t.Parallel()
	srv, c, outer := attached(t)
	ctx := testserver.Context(t)
	host := outer.Server()
	main := check.Must[tmux.Session](t)(srv.SessionNamed(ctx, "main"))
	other := check.Must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Name: "other"}))
	if got := check.Must[tmux.Client](t)(c.Info(ctx)); got.Name != c.Name || !strings.HasPrefix(c.Name, "/dev/") {
		t.Errorf("client %+v", got)
	}
	check.Equal(t, "clients of main", 1, len(check.Must[[]tmux.Client](t)(main.Clients(ctx))))
	check.OK(t, c.Switch(ctx, other))
	check.Equal(t, "clients of other", 1, len(check.Must[[]tmux.Client](t)(other.Clients(ctx))))
	// The client is -c, beside a target of another kind, and -t elsewhere.
	check.Must[[]byte](t)(c.Command(ctx, "switch-client", "-t", string(main.ID)))
	check.Kind(t, "a second client", check.Second(c.Command(ctx, "switch-client", "-lc", "other")), tmux.ErrArgument)
	check.Kind(t, "a second client", check.Second(c.Command(ctx, "refresh-client", "-t", "other")), tmux.ErrArgument)
	check.Must[[]byte](t)(c.Command(ctx, "refresh-client", "-S"))
	check.OK(t, do(ctx, srv, tmux.RefreshClient{Target: c}))

	// Text in a title and a prompt is shown as it was given.
	check.OK(t, do(ctx, srv, tmux.DisplayPopup{Client: c, Title: "", CloseOnExit: true, Dir: "/", Command: []string{"true"}}))
	if check.Must[bool](t)(srv.Supports(ctx, tmux.FeatureOf(tmux.ShowPromptHistory{}, ""))) {
		check.OK(t, do(ctx, srv, tmux.CommandPrompt{Client: c, Background: true, Prompts: "(ask me)", Template: "rename-session '%%'"}))
		testserver.WaitScreen(t, host, "%0", "(ask me)")
		check.OK(t, do(ctx, host, tmux.SendKeys{Target: outer, Keys: []string{"renamed", "Enter"}}))
		testserver.Wait(t, host, "%0", "session renamed by the prompt", func() bool {
			return check.Must[tmux.Session](t)(main.Info(ctx)).Name == "renamed"
		})
		if history := check.Must[[][]byte](t)(srv.Do(ctx, tmux.ShowPromptHistory{Type: "command"})); !strings.Contains(string(history[0]), "1: renamed\n") {
			t.Errorf("history %q", history)
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := srv.Do(ctx, tmux.DisplayMenu{Client: c, Title: "of #{pane_id} }", X: "0", Y: "5"}.With(
			tmux.MenuItem{Name: "first #{session_id}", Key: "a", Command: "set-option -g @chosen first"},
			tmux.MenuItem{},
			tmux.MenuItem{Name: "second", Key: "b", Command: "set-option -g @chosen second"}))
		done <- err
	}()
	screen := testserver.WaitScreen(t, host, "%0", "second")
	if !strings.Contains(screen, "of #{pane_id} }") || !strings.Contains(screen, "first "+string(main.ID)) {
		t.Errorf("menu:\n%s", screen)
	}
	check.OK(t, do(ctx, host, tmux.SendKeys{Target: outer, Keys: []string{"b"}}))
	check.OK(t, <-done)
	testserver.Wait(t, host, "%0", "choice", func() bool {
		return testserver.Run(t, srv, "display-message", "-p", "#{@chosen}") == "second"
	})

	check.OK(t, c.Detach(ctx))
	testserver.Wait(t, host, "%0", "detached client", func() bool { return len(check.Must[[]tmux.Client](t)(srv.Clients(ctx))) == 0 })
	check.Kind(t, "Info of a client that is gone", check.Second(c.Info(ctx)), tmux.ErrNotFound)
}
