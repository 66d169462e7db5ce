package tmux_test

import (
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func TestPasteOptions(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	pane := record(t, srv)
	check.OK(t, pane.Paste(ctx, []byte("a\nb"), tmux.PasteOptions{Returns: true}))
	check.Equal(t, "with returns", "a\rb", string(pane.next(t)))
	check.OK(t, pane.CopyMode(ctx))
	check.OK(t, pane.Paste(ctx, []byte("in mode"), tmux.PasteOptions{Bracket: true}))
	check.OK(t, pane.ExitMode(ctx))
	check.Equal(t, "into a pane in copy mode, without brackets asked for", "in mode", string(pane.next(t)))
	check.Equal(t, "left buffers", 0, len(check.Must[[]tmux.Buffer](t)(srv.Buffers(ctx, ""))))
}
