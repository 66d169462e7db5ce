package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
	"tmuxmcp/tmux/shell"
)

// README.md shows the body of [Example], but connects to the reader's tmux server and
// returns the error where Example prints it.
func TestReadmeShowsTheExample(t *testing.T) {
	t.Parallel()
	readme, source := check.Must[[]byte](t)(os.ReadFile("../README.md")), check.Must[[]byte](t)(os.ReadFile("example_test.go"))
	_, body, _ := strings.Cut(string(source), "\nfunc Example() {\n\t")
	body, _, _ = strings.Cut(body, "\t// Output:")
	body = strings.NewReplacer(
		"srv, done := throwaway()\n", "srv, err := tmux.New(tmux.Config{})\nif err != nil {\n\treturn err\n}\n",
		"defer done()\n", "",
		"\tfmt.Println(err)\n\treturn\n", "\treturn err\n",
	).Replace(strings.ReplaceAll(body, "\n\t", "\n"))
	check.Contains(t, "README.md", readme, "```go\n"+body+"```\n")
}

// followAndRun is what README.md shows of the packages follow and shell.
func followAndRun(ctx context.Context, srv *tmux.Server) error {
	for event, err := range follow.Panes(ctx, srv, "%1", "%2") {
		if err != nil {
			return err
		}
		for _, line := range event.Lines {
			fmt.Println(event.Pane, line)
		}
	}

	res, err := shell.Run(ctx, srv.Pane("%3"), "make test")
	if res != nil { // the command has begun
		fmt.Print(res.Output)
	}
	return err // not nil if the command has failed
}

func TestReadmeFollowsAndRuns(t *testing.T) {
	readme, source := check.Must[[]byte](t)(os.ReadFile("../README.md")), check.Must[[]byte](t)(os.ReadFile("readme_test.go"))
	_, body, _ := strings.Cut(string(source), "\nfunc followAndRun(ctx context.Context, srv *tmux.Server) error {\n\t")
	body, _, _ = strings.Cut(body, "\n}\n")
	check.Contains(t, "README.md", readme, "```go\n"+strings.ReplaceAll(body, "\n\t", "\n")+"\n```\n")

	srv, ctx := testserver.Started(t), testserver.Context(t)
	check.OK(t, do(ctx, srv, tmux.SetOption{Global: true, Name: "remain-on-exit", Value: ptr("on")}))
	window := func(command string) tmux.Command {
		return tmux.NewWindow{Detached: true, Dir: t.TempDir(), Command: []string{command}}
	}
	check.OK(t, do(ctx, srv, window("echo one"), window("echo two"), window("exec sleep 1000")))
	check.Kind(t, "no shell", followAndRun(ctx, srv), shell.ErrNoShell)
	_, err := srv.Pane("%3").Respawn(ctx, tmux.RespawnPane{Kill: true, Dir: t.TempDir(), Command: []string{"PS1='$ ' exec sh"}})
	check.OK(t, err)
	var exit *shell.ExitError
	if err := followAndRun(ctx, srv); !errors.As(err, &exit) {
		t.Errorf("without a makefile: %v", err)
	}
}
