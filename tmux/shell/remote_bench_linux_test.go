package shell_test

import (
	"fmt"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

// BenchmarkRemote runs a command in a shell of this machine and then in a remote one, in turns. It
// reports how many times as long that takes and, for relays that delay what they pass on, how many
// round trips.
func BenchmarkRemote(b *testing.B) {
	local := benchPane(b, "exec bash --norc --noprofile")
	for _, trip := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond} {
		b.Run(fmt.Sprint(trip), func(b *testing.B) {
			far := benchPane(b, relay{Program: "bash --norc --noprofile", Delay: trip / 2}.line(b))
			runner := new(shell.Runner)
			b.Cleanup(runner.Close)
			run := func(pane tmux.PaneRef, o shell.Options) (took time.Duration) {
				began := time.Now()
				if res, err := runner.Run(testserver.Context(b), pane, "echo out", o); err != nil || res.Output != "out\n" {
					b.Fatalf("%+v, %v", res, err)
				}
				return time.Since(began)
			}
			var here, there time.Duration
			for b.Loop() {
				here += run(local, shell.Options{})
				there += run(far, shell.Options{Remote: "bash"})
			}
			b.ReportMetric(float64(there)/float64(here), "times-local")
			if trip > 0 {
				b.ReportMetric(float64(there)/float64(b.N)/float64(trip), "round-trips")
			}
		})
	}
}

func benchPane(b *testing.B, command string) tmux.PaneRef {
	b.Helper()
	srv := testserver.New(b)
	testserver.Run(b, srv, "new-session", "-d", "-x", "100", "-y", "40", command)
	return srv.Pane("%0")
}
