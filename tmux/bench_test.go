package tmux_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// A benchmark here does several things in turns, so that all of them see the same machine,
// and reports the median of each; go run ./tools/docs bench makes a table of them. A
// turn is a few calls in a row: a single one would mostly measure how the machine recovers
// from the one before.

// turn is one of these things.
type turn struct {
	name string
	do   func() error
}

// byTurns reports each median in microseconds and, from the second thing on, its ratio to
// the first.
func byTurns(b *testing.B, turns ...turn) {
	b.Helper()
	took := make([][]time.Duration, len(turns))
	for b.Loop() {
		for i, t := range turns {
			for n, began := 0, time.Now(); n == 0 || n < 10 && time.Since(began) < 10*time.Millisecond; n++ {
				start := time.Now()
				err := t.do()
				took[i] = append(took[i], time.Since(start))
				if err != nil {
					b.Fatalf("%s: %v", t.name, err)
				}
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, t := range turns {
		slices.Sort(took[i])
		median := took[i][len(took[i])/2]
		b.ReportMetric(float64(median.Nanoseconds())/1e3, t.name+"-µs")
		if i > 0 {
			b.ReportMetric(float64(median)/float64(took[0][len(took[0])/2]), t.name+"/"+turns[0].name)
		}
	}
}

// BenchmarkTransports runs the same commands with each transport and with the bare tmux
// program.
func BenchmarkTransports(b *testing.B) {
	for _, panes := range []int{1, 50, 500} {
		base := testserver.Started(b)
		grow(b, base, panes)
		native, viaExec := testserver.By(b, base, tmux.TransportNative), testserver.By(b, base, tmux.TransportExec)
		for _, c := range []struct {
			name  string
			lines int
			cmds  []tmux.Command
			// bare are the words of the same commands.
			bare []string
		}{
			{"display-message", 1, []tmux.Command{tmux.DisplayMessage{Print: true, Message: "#{pane_id}"}}, []string{"display-message", "-p", "#{pane_id}"}},
			{"list-panes", panes, []tmux.Command{tmux.ListPanes{All: true, Format: "#{pane_id}"}}, []string{"list-panes", "-a", "-F", "#{pane_id}"}},
			{"capture-all", 24 * panes, captures(panes), nil},
			{"search-all", 1, []tmux.Command{
				tmux.ListPanes{All: true, Format: "#{pane_id}", Filter: tmux.MatchContent("no such text", tmux.MatchOptions{})}, tmux.DisplayMessage{Print: true, Message: "done"},
			}, nil},
		} {
			through := func(srv *tmux.Server) func() error {
				return func() error {
					outs, err := srv.Do(context.Background(), c.cmds...)
					if n := bytes.Count(bytes.Join(outs, nil), []byte("\n")); err == nil && n < min(c.lines, panes) {
						err = fmt.Errorf("%d lines", n)
					}
					return err
				}
			}
			turns := []turn{{"native", through(native)}, {"exec", through(viaExec)}}
			if c.bare != nil {
				args := append([]string{"-u", "-S", base.SocketPath()}, c.bare...)
				turns = append(turns, turn{"bare", func() error {
					cmd := exec.Command(base.Binary(), args...)
					cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
					return cmd.Run()
				}})
			}
			b.Run(fmt.Sprintf("%s/panes=%d", c.name, panes), func(b *testing.B) { byTurns(b, turns...) })
		}
	}
}

// captures capture the first so many panes.
func captures(panes int) []tmux.Command {
	var cmds []tmux.Command
	for i := range panes {
		cmds = append(cmds, tmux.CapturePane{Target: tmux.PaneID(fmt.Sprint("%", i)), Print: true})
	}
	return cmds
}

// grow adds panes to the server, in windows of one pane each. Their program costs nothing.
func grow(tb testing.TB, srv *tmux.Server, panes int) {
	tb.Helper()
	var cmds []tmux.Command
	for range panes - 1 {
		cmds = append(cmds, tmux.Raw{Name: "new-window", Args: []string{"-d", "exec sleep 10000"}})
	}
	check.OK(tb, do(testserver.Context(tb), srv, cmds...))
}
