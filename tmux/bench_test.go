package tmux_test

import (
	"fmt"
	"os/exec"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// BenchmarkTransports runs the same commands through the bare tmux program and
// each transport, on servers with 1, 50 and 500 panes.
func BenchmarkTransports(b *testing.B) {
	for _, panes := range []int{1, 50, 500} {
		base := started(b)
		grow(b, base, panes)
		for _, cmd := range []struct {
			name  string
			cmd   tmux.Command
			words []string
		}{
			{"display-message", tmux.DisplayMessage{Print: true, Message: "#{pane_id}"}, []string{"display-message", "-p", "#{pane_id}"}},
			{"list-panes", tmux.ListPanes{All: true, Format: "#{pane_id}"}, []string{"list-panes", "-a", "-F", "#{pane_id}"}},
		} {
			b.Run(fmt.Sprintf("%s/panes=%d/bare", cmd.name, panes), func(b *testing.B) {
				args := append([]string{"-u", "-S", base.SocketPath()}, cmd.words...)
				for b.Loop() {
					if out, err := exec.Command(base.Binary(), args...).Output(); err != nil || len(out) == 0 {
						b.Fatal(err)
					}
				}
			})
			for _, way := range []tmux.Transport{tmux.TransportExec, tmux.TransportNative} {
				srv, err := tmux.New(tmux.Config{Binary: base.Binary(), SocketPath: base.SocketPath(), Transport: way})
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/panes=%d/%s", cmd.name, panes, way), func(b *testing.B) {
					ctx := b.Context()
					for b.Loop() {
						if out, err := srv.Do(ctx, cmd.cmd); err != nil || len(out[0]) == 0 {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// grow gives the server panes, in windows of one pane each. The program in them
// costs nothing.
func grow(tb testing.TB, srv *tmux.Server, panes int) {
	tb.Helper()
	var cmds []tmux.Command
	for range panes - 1 {
		cmds = append(cmds, tmux.Raw{Name: "new-window", Args: []string{"-d", "sleep 10000"}})
	}
	if _, err := srv.Do(tmuxtest.Context(tb), cmds...); err != nil {
		tb.Fatal(err)
	}
}
