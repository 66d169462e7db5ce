package cells_test

import (
	"strconv"
	"testing"

	"tmuxmcp/internal/cells"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// A character takes as many columns here as in tmux.
func TestWidthsAreThoseOfTmux(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	if _, err := srv.NewSession(ctx, tmux.NewSession{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range "aé→✔…‐中日한カｶＡ！　😀🚀🟢☔⌚\u0301\u200d\u0e34𠀀㐀ﬁא" {
		if err := srv.GlobalSessionOptions().Set(ctx, "@c", "x"+string(r)+"x"); err != nil {
			t.Fatal(err)
		}
		w, err := srv.Display(ctx, "#{w:@c}")
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.Itoa(cells.Of(r) + 2); got != w {
			t.Errorf("%U %c: %s columns with an x before and after, in tmux %s", r, r, got, w)
		}
	}
}
