package tmux_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// noticing returns a context that collects notices.
func noticing(t *testing.T) (ctx context.Context, notices *strings.Builder) {
	notices = new(strings.Builder)
	return tmux.WithNotices(testserver.Context(t), func(text string) { notices.WriteString(text + "\n") }), notices
}

// From tmux 3.4 on, the errors of a configuration are printed to the client that started
// the server, or to the next one that sources a list.
func TestErrorsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			base := testserver.New(t)
			config := filepath.Join(t.TempDir(), "tmux.conf")
			check.OK(t, os.WriteFile(config, []byte("set -g no-such-option on\nsource-file /no/such|file\nset -g @right 1\n"), 0o600))
			start := func() *tmux.Server {
				return testserver.Handle(t, tmux.Config{Binary: base.Binary(), SocketPath: base.SocketPath(), ConfigFile: config, Transport: way})
			}
			srv := start()
			ctx, notices := noticing(t)
			made := check.Must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Name: "work"}))
			check.Equal(t, "name", "work", made.Name)
			for _, cmd := range []tmux.Command{tmux.Raw{Name: "list-panes", Args: []string{"-Q"}}, tmux.Raw{Name: "no-such-command"}} {
				check.Kind(t, "after it", do(ctx, srv, cmd), tmux.ErrUsage)
			}
			check.Equal(t, "panes", 1, len(check.Must[[]tmux.Pane](t)(srv.Panes(ctx))))
			if v := check.Must[tmux.Version](t)(srv.Version(ctx)); v.Compare(tmux.Version{Major: 3, Minor: 4}) >= 0 {
				check.Contains(t, "notices", notices.String(), "invalid option: no-such-option")
			}
		})
	}
}

// What hooks print, and how they fail, changes no result.
func TestHooksOfTheUser(t *testing.T) {
	t.Parallel()
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		for name, hook := range map[string]string{
			"fails":        "kill-pane -t %99",
			"is gone":      "run-shell /opt/no-such-program",
			"prints":       "display-message -p '%1|2|3|#{hook_flag_F}'",
			"prints lines": "run-shell 'echo a; echo; echo b'",
		} {
			t.Run(string(way)+" "+name, func(t *testing.T) {
				t.Parallel()
				srv := testserver.By(t, testserver.Started(t), way)
				ctx, notices := noticing(t)
				for _, command := range []string{
					"new-session", "new-window", "split-window", "kill-pane", "rename-window", "rename-session", "resize-pane", "select-layout",
					"select-window", "select-pane", "list-panes", "list-windows", "list-sessions", "set-option", "send-keys", "copy-mode", "display-message",
				} {
					if name == "prints lines" && (strings.HasPrefix(command, "list-") || command == "display-message") {
						continue // an empty line may be a row that tmux 3.7 has cut off
					}
					check.OK(t, do(ctx, srv, tmux.Raw{Name: "set-hook", Args: []string{"-g", "after-" + command, hook}}))
				}
				notices.Reset()
				session := check.Must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Name: "work"}))
				window := check.Must[tmux.Window](t)(session.NewWindow(ctx, tmux.NewWindow{Name: "logs"}))
				check.Equal(t, "window", "logs", window.Name)
				pane := check.Must[tmux.Pane](t)(check.Must[tmux.Pane](t)(window.ActivePane(ctx)).Split(ctx, tmux.SplitWindow{}))
				check.OK(t, window.Rename(ctx, "build"))
				check.OK(t, pane.SendKeys(ctx, "x"))
				check.OK(t, pane.Select(ctx, tmux.SelectPane{}))
				check.OK(t, srv.GlobalSessionOptions().Set(ctx, "@a", "b"))
				check.Equal(t, "name", "build", check.Must[tmux.Window](t)(window.Info(ctx)).Name)
				check.Equal(t, "displayed", "build", check.Must[string](t)(pane.Display(ctx, "#{window_name}")))
				var b tmux.Batch
				tmux.Add(&b, tmux.Require{Target: pane, Condition: "1"})
				shown := tmux.AddMessage(&b, tmux.DisplayMessage{Target: pane, Message: "<#{window_name}>\n"})
				tmux.Add(&b, tmux.SelectWindow{Target: window})
				rows := tmux.AddRows[tmux.Pane](&b, tmux.ListPanes{Target: window})
				check.OK(t, b.Do(ctx, srv))
				check.Equal(t, "shown", "<build>\n", *shown)
				check.Equal(t, "rows", 2, len(*rows))
				check.OK(t, pane.Kill(ctx))
				check.Equal(t, "panes", 1, len(check.Must[[]tmux.Pane](t)(window.Panes(ctx))))
				check.Kind(t, "taken", check.Second(srv.NewSession(ctx, tmux.NewSession{Name: "work"})), tmux.ErrExists)
				err := do(ctx, srv, tmux.RenameWindow{Target: window, Name: "again"}, tmux.KillPane{Target: tmux.PaneID("%77")})
				var e *tmux.Error
				if !errors.As(err, &e) || e.Command != "kill-pane" || e.Object != (tmux.Object{Kind: "pane", Name: "%77"}) {
					t.Errorf("got %#v", err)
				}
				v := check.Must[tmux.Version](t)(srv.Version(ctx))
				if expect := map[string]string{"fails": "can't find pane: %99", "is gone": "127", "prints": "2|3", "prints lines": "a\n"}[name]; name == "fails" || name == "prints" || v.Compare(tmux.Version{Major: 3, Minor: 5}) >= 0 {
					check.Contains(t, "notices", notices.String(), expect)
				}
			})
		}
	}
}
