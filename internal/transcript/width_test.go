package transcript

import (
	"strconv"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// A character takes as many columns in a transcript as in tmux.
func TestWidthsAreThoseOfTmux(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	if _, err := srv.NewSession(ctx, tmux.NewSession{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range "aé→✔…‐中日한カｶＡ！　😀🚀🟢☔⌚\u0301\u200d\u0e34𠀀㐀ﬁא" {
		must(t, srv.GlobalSessionOptions().Set(ctx, "@c", "x"+string(r)+"x"))
		w, err := srv.Display(ctx, "#{w:@c}")
		must(t, err)
		if got := strconv.Itoa(widthOf(r) + 2); got != w {
			t.Errorf("%U %c: %s columns with an x before and after, in tmux %s", r, r, got, w)
		}
	}
}
