package procstat_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// BenchmarkPrograms compares what it takes to know the command and the directory of the
// programs in 100 panes: the processor time of tmux if it is asked for them, and the time to
// read here what tmux reads, one after the other and several at once. tmux has the terminals,
// and asks them for their foreground; here the state of a process is needed to know it.
func BenchmarkPrograms(b *testing.B) {
	srv := testserver.New(b)
	testserver.Run(b, srv, "new-session", "-d", "exec sleep 10000")
	var more []tmux.Command
	for range 99 {
		more = append(more, tmux.Raw{Name: "new-window", Args: []string{"-d", "exec sleep 10000"}})
	}
	ctx := testserver.Context(b)
	_, err := srv.Do(ctx, more...)
	process, err2 := srv.Process(ctx)
	panes, err3 := tmux.List[struct {
		PID int `tmux:"pane_pid"`
	}](ctx, srv, tmux.ListPanes{All: true})
	if err != nil || err2 != nil || err3 != nil {
		b.Fatal(err, err2, err3)
	}
	read := func(i int) {
		p, err := procstat.Of(panes[i].PID)
		var room [4096]byte
		_, err2 := procstat.Begins(p.Foreground, "cmdline", room[:])
		_, err3 := os.Readlink(procstat.File(p.Foreground, "cwd"))
		if err != nil || err2 != nil || err3 != nil {
			b.Error(err, err2, err3)
		}
	}
	spent := func(format string) time.Duration {
		processor := func() int {
			text, err := os.ReadFile(procstat.File(process.PID, "schedstat"))
			if err != nil {
				b.Fatal(err)
			}
			ns, _ := strconv.Atoi(strings.Fields(string(text))[0])
			return ns
		}
		before := processor()
		if _, err := srv.Do(ctx, tmux.Raw{Name: "list-panes", Args: []string{"-a", "-F", format}}); err != nil {
			b.Fatal(err)
		}
		return time.Duration(processor() - before)
	}
	var asked, one, several time.Duration
	n := 0
	for b.Loop() {
		asked += spent("#{pane_current_command} #{pane_current_path}") - spent(" ")
		start := time.Now()
		for i := range panes {
			read(i)
		}
		one += time.Since(start)
		start = time.Now()
		procstat.ForEach(len(panes), read)
		several += time.Since(start)
		n += len(panes)
	}
	b.ReportMetric(0, "ns/op")
	for name, took := range map[string]time.Duration{"tmux": asked, "here": one, "here-at-once": several} {
		b.ReportMetric(float64(took.Microseconds())/float64(n), fmt.Sprint(name, "-µs/pane"))
	}
}
