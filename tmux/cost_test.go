package tmux_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// BenchmarkDo is a call by the exec transport beside its floor: the same argument vector run with
// os/exec alone. The two take turns, so that both see the same machine; "share"
// is what the call takes over the floor, in percent of it, by medians.
func BenchmarkDo(b *testing.B) {
	base, ctx := started(b), tmuxtest.Context(b)
	type row struct {
		ID      tmux.PaneID `tmux:"pane_id"`
		Command string      `tmux:"pane_current_command"`
	}
	argv := []string{"-u", "-S", base.SocketPath(), "-f", "/dev/null", "list-panes", "-a", "-F", "#{q:pane_id}|#{q:pane_current_command}|"}
	env := []string{"PATH=" + os.Getenv("PATH"), "TERM=screen", "LANG=C.UTF-8"}
	srv, err := tmux.New(tmux.Config{Binary: base.Binary(), SocketPath: base.SocketPath(), ConfigFile: os.DevNull, Env: env, Transport: tmux.TransportExec})
	if err != nil {
		b.Fatal(err)
	}
	must[tmux.Version](b)(srv.Version(ctx))
	var ours, floor []time.Duration
	for b.Loop() {
		start := time.Now()
		rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
		ours = append(ours, time.Since(start))
		if err != nil || len(rows) != 1 {
			b.Fatal(rows, err)
		}
		start = time.Now()
		cmd := exec.CommandContext(ctx, srv.Binary(), argv...)
		cmd.Env = env
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err = cmd.Run()
		floor = append(floor, time.Since(start))
		if err != nil || !bytes.HasPrefix(stdout.Bytes(), []byte(`\%0|`)) {
			b.Fatal(stdout.String(), stderr.String(), err)
		}
	}
	o, f := median(ours), median(floor)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(o.Microseconds()), "µs/call")
	b.ReportMetric(float64(f.Microseconds()), "µs/exec")
	b.ReportMetric(100*float64(o-f)/float64(f), "%share")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
