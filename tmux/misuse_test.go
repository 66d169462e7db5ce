package tmux_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// Handles without a server: zero ones, and ones decoded from JSON. Every method that can
// fail reports that, and none panics.
func TestHandlesWithoutServer(t *testing.T) {
	t.Parallel()
	var decoded tmux.Pane
	check.OK(t, json.Unmarshal([]byte(`{"pane_id":"%0"}`), &decoded))
	var none *tmux.Server
	var zero tmux.Server
	handles := []any{
		tmux.SessionRef{ID: "$0"}, tmux.WindowRef{ID: "@0"}, tmux.PaneRef{ID: "%0"}, tmux.ClientRef{Name: "/dev/pts/0"}, tmux.BufferRef{Name: "b"},
		tmux.SessionRef{}, tmux.WindowRef{}, tmux.PaneRef{}, tmux.ClientRef{}, tmux.BufferRef{},
		decoded, tmux.Session{}, tmux.Options{}, tmux.Hooks{}, tmux.Environment{}, tmux.Channel{},
		none, &zero, none.Options(), none.Hooks(), none.Environment(), none.Channel("c"), none.Pane("%0"),
	}
	// These have nothing to ask without a server.
	quiet := map[string]bool{"Script": true}
	calls := 0
	for _, h := range handles {
		for _, m := range methodsOf(h) {
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s panics: %v", m.name, p)
					}
				}()
				err := m.call(t.Context())
				if _, name, _ := strings.Cut(m.name, "."); m.fails && !errors.Is(err, tmux.ErrArgument) && !(err == nil && quiet[name]) {
					t.Errorf("%s on a handle without a server: %v", m.name, err)
				}
				calls++
			}()
		}
	}
	check.That(t, calls >= 200, "only %d methods were called", calls)
	var b tmux.Batch
	tmux.Add(&b, tmux.KillServer{})
	check.Kind(t, "a batch without a server", b.Do(t.Context(), nil), tmux.ErrArgument)
	_, err := tmux.List[tmux.Pane](t.Context(), nil, tmux.ListPanes{})
	if check.Kind(t, "a list of no server", err, tmux.ErrArgument); err != nil {
		check.Contains(t, "error", err.Error(), "a nil Server")
	}
	_, err = tmux.List[tmux.Pane](t.Context(), &zero, tmux.ListPanes{})
	if check.Kind(t, "a list of a zero server", err, tmux.ErrArgument); err != nil && !strings.Contains(err.Error(), "tmux.New") {
		t.Errorf("%v does not name tmux.New", err)
	}
}

// A nil pointer to an id or a row, such as the ModalPane of a window without one, is no target,
// and nothing panics.
func TestNilTargets(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	window := check.Must[tmux.Window](t)(srv.Window("@0").Info(ctx))
	var pane *tmux.Pane
	for what, call := range map[string]func(to tmux.Target) error{
		"a command": func(to tmux.Target) error { return do(ctx, srv, tmux.SelectPane{Target: to}) },
		"a switch":  func(to tmux.Target) error { return srv.Client("c").Switch(ctx, to) },
		"a new window": func(to tmux.Target) error {
			return check.Second(srv.Session("$0").NewWindow(ctx, tmux.NewWindow{Target: to}))
		},
		"a second one": func(to tmux.Target) error {
			return check.Second(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Target: to}))
		},
		"an option": func(to tmux.Target) error { return check.Second(srv.OptionsAt(tmux.PaneOptions, to).Get(ctx, "@x")) },
		"a pane":    func(to tmux.Target) error { return check.Second(srv.PaneAt(ctx, to)) },
	} {
		check.Kind(t, what+" without a modal pane", call(window.ModalPane), tmux.ErrArgument)
		check.Kind(t, what+" without a row", call(pane), tmux.ErrArgument)
	}
	check.OK(t, do(ctx, srv, tmux.SelectPane{Target: &window}))
}

func TestRowsThatCannotBe(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	list := func(err error) string {
		t.Helper()
		check.Kind(t, "the list", err, tmux.ErrArgument)
		return fmt.Sprint(err)
	}
	type misspelt struct {
		ID tmux.PaneID `tmux:"pane_idd"`
	}
	type stranger struct {
		X string `tmux:"zzzzzzzzzzzz"`
	}
	type untagged struct{ ID tmux.PaneID }
	type pointed struct{ *tmux.Pane }
	for what, c := range map[string]struct {
		list func() error
		want string
	}{
		"misspelt":  {func() error { _, err := tmux.List[misspelt](ctx, srv, tmux.ListPanes{}); return err }, "misspelt.ID: tmux has no token pane_idd; did you mean pane_id, pane_pid or pane_dead?"},
		"stranger":  {func() error { _, err := tmux.List[stranger](ctx, srv, tmux.ListPanes{}); return err }, "add since= to the tag"},
		"untagged":  {func() error { _, err := tmux.List[untagged](ctx, srv, tmux.ListPanes{}); return err }, "untagged has no field with a tag"},
		"pointed":   {func() error { _, err := tmux.List[pointed](ctx, srv, tmux.ListPanes{}); return err }, "pointed.PaneRef cannot hold a token"},
		"no struct": {func() error { _, err := tmux.List[string](ctx, srv, tmux.ListPanes{}); return err }, "not a struct"},
	} {
		if msg := list(c.list()); !strings.Contains(msg, c.want) {
			t.Errorf("%s: %q does not say %q", what, msg, c.want)
		}
	}
	// What a format may name besides tokens, and a token of the future.
	type known struct {
		Note   string  `tmux:"@note"`
		Status string  `tmux:"status"`
		Keys   string  `tmux:"mode-keys"`
		Path   string  `tmux:"PATH"`
		Line   *int    `tmux:"copy_cursor_y"`
		Future *string `tmux:"pane_smell,since=9.0"`
		Theme  *string `tmux:"client_theme"` // since= is known of it
	}
	check.OK(t, srv.Pane("%0").Options().Set(ctx, "@note", "n"))
	row := check.Only[known](t)(tmux.List[known](ctx, srv, tmux.DisplayMessage{}))
	check.That(t, row.Note == "n" && row.Status == "on" && row.Keys != "" && row.Future == nil, "%+v", row)
}

// What this package sends creates a detached session, however it is sent. A script may be for a
// key, where tmux switches the client that pressed it.
func TestNewSessionsAreDetached(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	check.OK(t, do(ctx, srv, tmux.NewSession{Name: "a"}, &tmux.NewSession{Name: "b"}))
	var b tmux.Batch
	tmux.Add(&b, tmux.NewSession{Name: "c"})
	rows := tmux.AddRows[tmux.Session](&b, tmux.NewSession{Name: "d"})
	check.OK(t, b.Do(ctx, srv))
	check.Equal(t, "the rows", 1, len(*rows))
	check.Equal(t, "sessions", 5, len(check.Must[[]tmux.Session](t)(srv.Sessions(ctx))))
	check.Equal(t, "the script", "'new-session' '-s' 'e'", check.Must[string](t)(srv.Script(ctx, tmux.NewSession{Name: "e"})))
	// As far as tmux goes: a session that exists is attached to all the same.
	check.Kind(t, "Attach", do(ctx, srv, tmux.NewSession{Name: "a", Attach: true}), tmux.ErrNoTerminal)
}
