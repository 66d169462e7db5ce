package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// Two of ten panes print FAIL, one of them in parts.
func TestWatch(t *testing.T) {
	srv := tmuxtest.Server(t)
	session, err := srv.NewSession(t.Context(), tmux.NewSession{Width: 80, Height: 24, Command: []string{"exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	var panes []string
	for i := range 10 {
		says := "echo is ok"
		switch i {
		case 3:
			says = "printf 'FAIL: T'; sleep 0.1; echo estOne $n; seq 100"
		case 7:
			says = "echo FAIL: TestTwo $n"
		}
		window, err := session.NewWindow(t.Context(), tmux.NewWindow{Detached: true, Command: []string{"stty -echo; n=0; while read x; do n=$((n+1)); " + says + "; done"}})
		if err != nil {
			t.Fatal(err)
		}
		pane, err := window.ActivePane(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		panes = append(panes, string(pane.ID))
	}
	mails := filepath.Join(t.TempDir(), "mails")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	go func() {
		// What is printed before the watch begins is not new.
		for !strings.Contains(read(mails), "TestOne") || !strings.Contains(read(mails), "TestTwo") {
			for _, id := range panes {
				if srv.Pane(tmux.PaneID(id)).SendKeys(ctx, "Enter") != nil {
					return
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		stop()
	}()
	if err := watch(ctx, srv, "cat >>"+tmux.ShellQuote(mails), panes...); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(read(mails)) {
		whole := strings.HasPrefix(line, "pane "+panes[3]+": FAIL: TestOne ") || strings.HasPrefix(line, "pane "+panes[7]+": FAIL: TestTwo ")
		if !whole || seen[line] {
			t.Errorf("a mail %q, seen before: %t", line, seen[line])
		}
		seen[line] = true
	}
}

func read(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}

func TestWatchNothing(t *testing.T) {
	srv := tmuxtest.Server(t)
	if err := watch(t.Context(), srv, "cat", "%0"); !errors.Is(err, tmux.ErrNoServer) {
		t.Error(err)
	}
	if err := watch(t.Context(), srv, "cat", "zero"); !errors.Is(err, tmux.ErrArgument) {
		t.Error(err)
	}
}
