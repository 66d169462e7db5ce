package tmux_test

import (
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func TestPasteOptions(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), testserver.Context(t)
	pane := record(t, srv)
	ok(t, pane.Paste(ctx, []byte("a\nb"), tmux.PasteOptions{Returns: true}))
	equal(t, "with returns", "a\rb", string(pane.next(t)))
	ok(t, pane.CopyMode(ctx))
	ok(t, pane.Paste(ctx, []byte("in mode"), tmux.PasteOptions{Bracket: true}))
	ok(t, pane.ExitMode(ctx))
	equal(t, "into a pane in copy mode, without brackets asked for", "in mode", string(pane.next(t)))
	equal(t, "left buffers", 0, len(must[[]tmux.Buffer](t)(srv.Buffers(ctx, ""))))
}
