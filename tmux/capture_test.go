package tmux_test

import (
	"errors"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// drawn is a pane that a shell script has drawn on; the script says "ready" in
// its title.
func drawn(t testing.TB, srv *tmux.Server, script string) tmux.PaneRef {
	t.Helper()
	pane := srv.Pane(tmux.PaneID(tmuxtest.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", script+`; exec sleep 1000`)))
	return pane
}

func waitDisplay(t testing.TB, pane tmux.PaneRef, format tmux.Format, want string) {
	t.Helper()
	tmuxtest.Wait(t, pane.Server(), string(pane.ID), string(format)+" "+want, func() bool {
		got, err := pane.Display(tmuxtest.Context(t), format)
		return err == nil && got == want
	})
}

func TestCaptureFlags(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	pane := drawn(t, srv, `stty -onlcr; printf 'one\r\n\033[31mred\033[0m  \r\n'; i=0; while [ $i -lt 90 ]; do printf x; i=$((i+1)); done; printf '\r\n\033]2;ready\033\\'`)
	waitDisplay(t, pane, "#{pane_title}", "ready")
	x90 := strings.Repeat("x", 80) + "\n" + strings.Repeat("x", 10) + "\n"
	two := new(tmux.Line(1))
	for _, test := range []struct {
		name string
		what tmux.CapturePane
		want string
	}{
		{"screen", tmux.CapturePane{}, "one\nred\n" + x90 + strings.Repeat("\n", 20)},
		{"two lines", tmux.CapturePane{End: two}, "one\nred\n"},
		{"from the second", tmux.CapturePane{Start: 1, End: two}, "red\n"},
		{"first line alone", tmux.CapturePane{End: new(tmux.Line(0))}, "one\n"},
		{"all history", tmux.CapturePane{Start: tmux.LineEdge, End: two}, "one\nred\n"},
		{"edges", tmux.CapturePane{Start: 3, End: new(tmux.LineEdge)}, strings.Repeat("x", 10) + "\n" + strings.Repeat("\n", 20)},
		{"escapes", tmux.CapturePane{Escapes: true, Start: 1, End: two}, "\x1b[31mred\x1b[39m\n"},
		{"octal", tmux.CapturePane{Escapes: true, Octal: true, Start: 1, End: two}, "\\033[31mred\\033[39m\n"},
	} {
		equal(t, test.name, test.want, string(must[[]byte](t)(pane.Capture(ctx, test.what))))
	}
	v := must[tmux.Version](t)(srv.Version(ctx))
	for _, test := range []struct {
		since string
		what  tmux.CapturePane
		want  string
	}{
		{"3.4", tmux.CapturePane{UsedCells: true, End: two}, "one\nred\n"},
		{"3.6", tmux.CapturePane{Mode: true, End: two}, "one\nred\n"},
		{"3.7", tmux.CapturePane{Numbers: true, End: two}, "0 one\n1 red\n"},
		{"3.7", tmux.CapturePane{Flags: true, Start: 2, End: new(tmux.Line(2))}, "W " + strings.Repeat("x", 80) + "\n"},
		{"3.7", tmux.CapturePane{Hyperlinks: true, End: two}, "\n"},
	} {
		since, _ := tmux.ParseVersion(test.since)
		got, err := pane.Capture(ctx, test.what)
		var old *tmux.UnsupportedError
		switch {
		case !v.Has(since):
			if !errors.As(err, &old) || old.Since != since || !strings.Contains(err.Error(), "capture-pane -") {
				t.Errorf("%+v on %v: %v", test.what, v, err)
			}
		case err != nil || string(got) != test.want:
			t.Errorf("%+v: %q, %v, want %q", test.what, got, err, test.want)
		}
	}
	contains(t, "with spaces", must[[]byte](t)(pane.Capture(ctx, tmux.CapturePane{KeepSpaces: true, End: two})), "red  ")
	joined := must[[]byte](t)(pane.Capture(ctx, tmux.CapturePane{Join: true, Start: 2, End: new(tmux.Line(3))}))
	equal(t, "joined", strings.Repeat("x", 90), strings.TrimRight(string(joined), " \n"))
	isKind(t, "the hidden screen where there is none", second(pane.Capture(ctx, tmux.CapturePane{Alternate: true})), tmux.ErrNotFound)
	must[[]byte](t)(pane.Capture(ctx, tmux.CapturePane{Buffer: "shot", End: two}))
	equal(t, "captured into a buffer", "one\nred\n", string(must[[]byte](t)(srv.Buffer("shot").Bytes(ctx))))
}

func TestCaptureAlternateAndHistory(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	pane := drawn(t, srv, `i=0; while [ $i -lt 40 ]; do echo line $i; i=$((i+1)); done; printf '\033[?1049hover\033]2;ready\033\\'`)
	waitDisplay(t, pane, "#{pane_title}", "ready")
	got, err := pane.Capture(ctx, tmux.CapturePane{Start: tmux.LineEdge})
	if err != nil || !strings.HasPrefix(string(got), "line 0\nline 1\n") || !strings.Contains(string(got), "over") {
		t.Errorf("history and screen: %q, %v", got, err)
	}
	if got, err = pane.Capture(ctx, tmux.CapturePane{Start: -2, End: new(tmux.Line(-1))}); err != nil || len(strings.Split(string(got), "\n")) != 3 {
		t.Errorf("the last two lines of the history: %q, %v", got, err)
	}
	if got, err = pane.Capture(ctx, tmux.CapturePane{Alternate: true}); err != nil || !strings.Contains(string(got), "line 39") || strings.Contains(string(got), "over") {
		t.Errorf("the hidden screen: %q, %v", got, err)
	}
	ok(t, do(ctx, srv, tmux.ClearHistory{Target: pane}))
	equal(t, "history_size", "0", must[string](t)(pane.Display(ctx, "#{history_size}")))
}

func TestPendingIsUnfinishedOutput(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	for _, test := range []struct{ printed, want string }{
		{`visible\033[12;3`, "\x1b[12;3"},
		{`\033]0;a\\b\n`, "\x1b]0;a\\b\n"},
		{`\033`, "\x1b"},
		{`\033P\377\001`, "\x1bP\xff\x01"},
	} {
		pane := drawn(t, srv, `stty -echo -opost; printf '`+test.printed+`'`)
		var got []byte
		tmuxtest.Wait(t, srv, string(pane.ID), "pending "+test.want, func() bool {
			var err error
			if got, err = pane.Pending(ctx); err != nil {
				t.Fatal(err)
			}
			return string(got) == test.want
		})
	}
	typed := drawn(t, srv, `stty -echo; printf ready`)
	tmuxtest.WaitScreen(t, srv, string(typed.ID), "ready")
	ok(t, typed.SendText(ctx, "not read"))
	equal(t, "input that no one has read", "", string(must[[]byte](t)(typed.Pending(ctx))))
}
