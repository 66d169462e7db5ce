package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// The same mistake is of the same kind on every tmux, however it words it;
// testdata/objects/errors.txtar has those that are not sent unchanged.
func TestErrorKinds(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	raw := func(name string, args ...string) tmux.Command { return tmux.Raw{Name: name, Args: args} }
	check.OK(t, do(ctx, srv, tmux.SplitWindow{Target: tmux.PaneID("%0")}, tmux.NewWindow{Detached: true},
		raw("new-window", "-d", "-t", "$0:50"), raw("resize-window", "-t", "$0:50", "-y", "1")))
	// What tmux itself says.
	kinds := map[string]error{}
	for _, kind := range tmux.Kinds() {
		kinds[kind.Error()] = kind
	}
	for line := range strings.Lines(string(check.Must[[]byte](t)(os.ReadFile("testdata/errors.txt")))) {
		kind, command, isRow := strings.Cut(strings.TrimSpace(line), ": ")
		if !isRow || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(command)
		check.Kind(t, command, do(ctx, srv, raw(words[0], words[1:]...)), kinds[kind])
	}
	menu := tmux.DisplayMenu{Title: "x"}.With(tmux.MenuItem{Name: "a", Key: "a", Command: "kill-server"})
	check.Kind(t, "a menu", do(ctx, srv, menu), tmux.ErrNoClient)
	swap := tmux.SwapPane{Source: tmux.PaneID("nosuch"), Target: tmux.PaneID("%0")}
	check.Kind(t, "no id of a pane", do(ctx, srv, swap), tmux.ErrArgument)
}

// What is not one word is quoted where it was not found.
func TestObjectsAreQuoted(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	for name, want := range map[string]string{"": `""`, "a b": `"a b"`, "a\nb": `"a\nb"`, "nosuch": "nosuch", "ü": "ü"} {
		_, err := srv.SessionNamed(ctx, name)
		check.Equal(t, "error", "list-sessions: session "+want+": not found", fmt.Sprint(err))
	}
}

// A script that tmux cannot parse is reported with the position, and one that continues
// after an error with that error.
func TestSourceSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	for script, want := range map[string][2]string{
		"display-message -p a\nfoo bar\n":                                            {"source-file: -:2: unknown command: foo", "-:2: unknown command: foo\n"},
		"display-message -p a\nif-shell true {\n":                                    {"source-file: -:3: syntax error", "-:3: syntax error\n"},
		"display-message -p a\nrename-window -t =x: b\ndisplay-message -p -- '-:'\n": {"source-file: can't find session: x", "a\n-:\n"},
	} {
		out, err := srv.Source(ctx, []byte(script))
		check.Equal(t, script, want, [2]string{fmt.Sprint(err), string(out)})
	}
}

// TestServerEndsDuringAList: a server that is told to exit sends its waiting clients no
// error.
func TestServerEndsDuringAList(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d")
	ended := make(chan error)
	working := job(t)
	go func() {
		ended <- do(testserver.Context(t), srv, tmux.WaitFor{Signal: true, Channel: "begun"},
			tmux.Raw{Name: "run-shell", Args: []string{working}}, tmux.DisplayMessage{Print: true, Message: "over"})
	}()
	check.OK(t, srv.Channel("begun").Wait(testserver.Context(t)))
	check.OK(t, srv.Kill(testserver.Context(t))) // though tmux 3.3a stays as long as the job runs
	check.Kind(t, "the list that it was working on", <-ended, tmux.ErrServerGone)
}

// No kind is missing, and each comes before the kinds that it also is.
func TestKindsAreComplete(t *testing.T) {
	t.Parallel()
	declared := 0
	for _, v := range packageDoc(t, ".").Vars {
		for _, name := range v.Names {
			if strings.HasPrefix(name, "Err") {
				declared++
			}
		}
	}
	kinds := tmux.Kinds()
	check.That(t, declared == len(kinds) && declared != 0, "%d kinds are declared, Kinds has %d", declared, len(kinds))
	for i, kind := range kinds {
		if first := slices.IndexFunc(kinds, func(k error) bool { return errors.Is(kind, k) }); first != i {
			t.Errorf("%v is also %v, which comes before it", kind, kinds[first])
		}
	}
}
