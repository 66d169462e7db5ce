package tmux_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// lists are the lists of a server, by how many they have; -1 if there is none.
func lists(t testing.TB, srv *tmux.Server) (lengths []int, errs []error) {
	ctx := tmuxtest.Context(t)
	sessions, err1 := srv.Sessions(ctx)
	windows, err2 := srv.Windows(ctx)
	panes, err3 := srv.Panes(ctx)
	clients, err4 := srv.Clients(ctx)
	for _, list := range []any{sessions, windows, panes, clients} {
		if v := reflect.ValueOf(list); v.IsNil() {
			lengths = append(lengths, -1)
		} else {
			lengths = append(lengths, v.Len())
		}
	}
	return lengths, []error{err1, err2, err3, err4}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	srv, ctx := tmuxtest.New(t), tmuxtest.Context(t)
	_, errs := lists(t, srv)
	errs = append(errs, do(ctx, srv, tmux.ListSessions{}), second(srv.Display(ctx, "#{pid}")), second(srv.Pane("%0").Display(ctx, "x")))
	for _, err := range errs {
		isKind(t, "without a server", err, tmux.ErrNoServer)
		expect(t, strings.Contains(fmt.Sprint(err), srv.SocketPath()), "%v does not name the socket", err)
	}
	if v := must[tmux.Version](t)(srv.Version(ctx)); v.Compare(tmux.MinVersion) < 0 {
		t.Errorf("version without a server: %v", v)
	}
	ok(t, srv.Kill(ctx))
}

func TestServerWithoutSessions(t *testing.T) {
	t.Parallel()
	srv, ctx := tmuxtest.New(t), tmuxtest.Context(t)
	ok(t, do(ctx, srv, tmux.StartServer{}, tmux.Raw{Name: "set-option", Args: []string{"-s", "exit-empty", "off"}}))
	if info := must[tmux.ServerInfo](t)(srv.Info(ctx)); info.PID == 0 || info.SocketPath != srv.SocketPath() {
		t.Errorf("server: %+v", info)
	}
	lengths, errs := lists(t, srv)
	equal(t, "sessions, windows, panes and clients", []int{0, 0, 0, 0}, lengths)
	ok(t, errors.Join(errs...))
	equal(t, "a format", srv.SocketPath()+" ", must[string](t)(srv.Display(ctx, "#{socket_path} #{session_name}")))
	isKind(t, "a pane", second(srv.Pane("%0").Info(ctx)), tmux.ErrNotFound)
	// There is no default target: an error of its own, and an ErrNotFound.
	err := do(ctx, srv, tmux.ListPanes{All: true})
	isKind(t, "panes", err, tmux.ErrNoSession)
	isKind(t, "panes", err, tmux.ErrNotFound)
	type command struct {
		Name  string `tmux:"command_list_name"`
		Alias string `tmux:"command_list_alias"`
		Usage string `tmux:"command_list_usage"`
	}
	if cmds := must[[]command](t)(tmux.List[command](ctx, srv, tmux.ListCommands{})); len(cmds) < 80 || cmds[0].Name != "attach-session" || cmds[0].Alias != "attach" || cmds[0].Usage == "" {
		t.Errorf("commands %+v", cmds)
	}
	// A wait is not taken for one on a server that is about to end.
	ok(t, srv.Channel("c").Signal(ctx))
	ok(t, waitFor(t, srv, "c", time.Minute))
}

func TestCommandHasOneTarget(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	p0 := srv.Pane("%0")
	p1 := must[tmux.Pane](t)(p0.Split(ctx, tmux.SplitWindow{Detached: true}))
	out, err := p1.Command(ctx, "split-window", "-d", "-P", "-F", "#{pane_id}", "-l", "5")
	if err != nil || string(out) != "%2\n" {
		t.Fatalf("%q, %v", out, err)
	}
	for _, args := range [][]string{{"-t", "%0"}, {"-t%0"}, {"-dt", "%0"}, {"-dt%0"}, {"-d", "-l", "5", "-t", "%0"}, {"-l5", "-t%0"}, {"-hdt%0"}} {
		isKind(t, strings.Join(args, " "), second(p1.Command(ctx, "split-window", args...)), tmux.ErrArgument)
	}
	// What looks like a target and is a value, or a word after the flags.
	for _, args := range [][]string{{"-c", "-t"}, {"-dl5", "--", "-t"}, {"-d", "echo", "-t"}, {"-ct"}, {"-eA=-t"}} {
		if _, err := p1.Command(ctx, "split-window", append([]string{"-l", "1", "-d"}, args...)...); errors.Is(err, tmux.ErrArgument) {
			t.Errorf("%q: %v", args, err)
		}
		must[tmux.Window](t)(srv.Window(p1.WindowID).SelectLayout(ctx, tmux.EvenVertical))
	}
	isKind(t, "a command without target", second(p1.Command(ctx, "kill-server")), tmux.ErrArgument)
	isKind(t, "an alias with a target", second(p1.Command(ctx, "killp", "-at", "%0")), tmux.ErrArgument)
	must[[]byte](t)(p1.Command(ctx, "killp"))
	isKind(t, "after killp", second(p1.Info(ctx)), tmux.ErrNotFound)
}
