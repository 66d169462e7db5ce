package tmux_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func init() { children["inside"] = inside }

// inside writes into a file where this process says that it runs: the socket and the pane.
func inside() {
	// A process that outlives its parent is another's child a moment later.
	leader, _ := strconv.Atoi(os.Getenv("LEADER"))
	for leader != 0 {
		if p, err := procstat.Of(os.Getppid()); err == nil && p.Session != leader {
			break
		}
		time.Sleep(time.Millisecond)
	}
	socket, said := "", ""
	srv, err := tmux.FromEnv(tmux.Config{Binary: os.Getenv("TMUX_BINARY")})
	if err == nil {
		socket = srv.SocketPath()
	}
	if path := os.Getenv("SOCKET"); path != "" {
		srv, err = tmux.New(tmux.Config{Binary: os.Getenv("TMUX_BINARY"), SocketPath: path})
	}
	if err == nil {
		var pane tmux.PaneRef
		pane, err = srv.CurrentPane(context.Background())
		said = string(pane.ID)
	}
	if err != nil {
		said = err.Error()
	}
	out := os.Getenv("OUT")
	os.WriteFile(out+".new", []byte(socket+"|"+said), 0o600)
	os.Rename(out+".new", out)
}

func TestCurrentPane(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	self := check.Must[string](t)(os.Executable())
	testserver.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	nested := filepath.Join(filepath.Dir(srv.SocketPath()), "nested")
	in := "SOCKET=" + srv.SocketPath() + " "
	for what, c := range map[string]struct{ script, socket, want string }{
		"a pane":                           {`CHILD`, srv.SocketPath(), "PANE"},
		"a script in a pane":               {`sh -c 'CHILD; :'`, srv.SocketPath(), "PANE"},
		"without the variables":            {"env -u TMUX -u TMUX_PANE " + in + "CHILD", "", "PANE"},
		"without them, and no socket":      {"env -u TMUX -u TMUX_PANE CHILD", "", "not inside tmux: TMUX is not set"},
		"empty variables":                  {"TMUX= CHILD", "", "not inside tmux: TMUX is not set"},
		"a relative socket":                {"TMUX=s,1,0 CHILD", "", "not inside tmux: TMUX does not begin with the absolute path"},
		"the variable of another pane":     {"TMUX_PANE=%0 CHILD", srv.SocketPath(), "PANE"},
		"another session of processes":     {"setsid -w env CHILD", srv.SocketPath(), "PANE"},
		"the background, without a parent": {"LEADER=$$; export LEADER; (env CHILD &) ; exec sleep 1000", srv.SocketPath(), "PANE"},
		"a daemon":                         {"LEADER=$$; export LEADER; (setsid env CHILD &) ; exec sleep 1000", srv.SocketPath(), "no longer a descendant"},
		"run-shell":                        {srv.Binary() + ` run-shell 'CHILD'`, srv.SocketPath(), "outside its panes, as run-shell does"},
		"a pane of a nested tmux":          {"unset TMUX; " + srv.Binary() + " -f/dev/null -S " + nested + ` new-session -d '` + in + `CHILD'; exec sleep 1000`, nested, "in no pane of the tmux server on " + srv.SocketPath()},
		"a server that has ended":          {"TMUX=/nowhere/s,1,0 CHILD", "/nowhere/s", "no tmux server"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		child := strings.Join([]string{"OUT=" + out, "TMUX_TEST_CHILD=inside", "TMUX_BINARY=" + srv.Binary(), self}, " ")
		pane := check.Must[tmux.Window](t)(srv.Session("$0").NewWindow(ctx, tmux.NewWindow{Command: []string{strings.ReplaceAll(c.script, "CHILD", child)}}))
		id := check.Must[tmux.Pane](t)(pane.ActivePane(ctx)).ID
		var got []byte
		testserver.Wait(t, srv, string(id), "answer from "+what, func() (written bool) {
			testserver.Reap(t, srv)
			var err error
			got, err = os.ReadFile(out)
			return err == nil
		})
		socket, said, _ := strings.Cut(string(got), "|")
		if want := strings.ReplaceAll(c.want, "PANE", string(id)); socket != c.socket || !strings.Contains(said, want) || want == string(id) && said != want {
			t.Errorf("%s: in %s of %q, want %s of %q", what, said, socket, want, c.socket)
		}
	}
	_, err := srv.CurrentPane(ctx)
	check.Kind(t, "outside", err, tmux.ErrOutside)
	_, err = tmux.FromEnv(tmux.Config{Binary: srv.Binary(), SocketName: "work"})
	check.Kind(t, "a socket besides", err, tmux.ErrArgument)
	inEnv := check.Must[*tmux.Server](t)(tmux.FromEnv(tmux.Config{Binary: srv.Binary(), Env: []string{fmt.Sprintf("TMUX=%s,1,0", srv.SocketPath())}}))
	check.Equal(t, "socket", srv.SocketPath(), inEnv.SocketPath())
}

// TestSocketFromEnv: what is no valid variable says nothing.
func TestSocketFromEnv(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"/tmp/s,7,0": "/tmp/s 7", "/tmp/a,b,7,0": "/tmp/a,b 7", "/tmp/s": "/tmp/s 0",
		"": " 0", "s,7,0": " 0", ",7,0": " 0", "/tmp/s,-7,0": " 0",
	} {
		path, server := tmux.SocketFromEnv([]string{"A=b", "TMUX=" + value})
		check.Equal(t, value, want, fmt.Sprint(path, " ", server))
	}
}
