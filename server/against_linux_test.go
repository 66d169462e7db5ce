package server_test

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// BenchmarkAgainst compares this build with another one, whose programs are in the directory
// AGAINST, in turns on the same tmux servers:
//
//	git worktree add /tmp/before COMMIT && (cd /tmp/before && go build -o /tmp/programs/ ./cmd/...)
//	AGAINST=/tmp/programs TMUX_TEST_BINARY=/opt/tmux-3.6a/bin/tmux go test ./server -run - -bench Against -benchtime 5x
//
// It reports this build's median in ms, and what part it is of the other's: of the time, of
// the processor time of tmux-mcp, and of that of tmux.
func BenchmarkAgainst(b *testing.B) {
	other := os.Getenv("AGAINST")
	if other == "" {
		b.Skip("AGAINST names no directory with the programs of another build")
	}
	calls := func(on func() *tmux.Server, tool, args string) func(*testing.B) {
		return func(b *testing.B) {
			srv := on()
			one, two := launch(b, srv), launchOf(b, filepath.Join(other, "tmux-mcp"), srv)
			against(b, serverPID(b, srv), one.calling("", tool, args, 1), one.pid, two.calling("", tool, args, 1), two.pid)
		}
	}
	with := func(panes int) func() *tmux.Server {
		return sync.OnceValue(func() *tmux.Server { return populated(b, panes) })
	}
	hundred := with(100)
	b.Run("list_panes/panes=100", calls(hundred, "list_panes", `{}`))
	b.Run("agent_status/panes=100", calls(hundred, "agent_status", `{}`))
	five := with(500)
	b.Run("list_panes/panes=500", calls(five, "list_panes", `{}`))
	b.Run("agent_status/panes=500", calls(five, "agent_status", `{}`))
	ten := sync.OnceValue(func() *tmux.Server {
		srv := populated(b, 90)
		for i := range 10 {
			command, _ := testagent.Claude(b)
			testserver.Run(b, srv, "new-window", "-d", command)
			testserver.WaitScreen(b, srv, fmt.Sprintf("%%%d", 90+i), "shortcuts")
		}
		return srv
	})
	b.Run("agent_status/panes=100/agents=10", calls(ten, "agent_status", `{}`))
	claude := func() *tmux.Server {
		srv := testserver.New(b)
		command, _ := testagent.Claude(b)
		testserver.Run(b, srv, "new-session", "-d", "-x", "80", "-y", "24", command)
		testserver.WaitScreen(b, srv, "%0", "shortcuts")
		return srv
	}
	b.Run("send_prompt", calls(claude, "send_prompt", `{"pane_id":"%0","prompt":"go"}`))
	b.Run("wait_for_agent", calls(claude, "wait_for_agent", `{"panes":["%0"]}`))
	for _, content := range []string{"full", "log", "quiet"} {
		srv := sync.OnceValue(func() *tmux.Server { return large(b, content) })
		b.Run("search_panes/text/"+content, calls(srv, "search_panes", `{"pattern":"no such text"}`))
		b.Run("search_panes/regex/"+content, calls(srv, "search_panes", `{"pattern":"no such [t]ext","regex":true}`))
		b.Run("search_panes/found/"+content, calls(srv, "search_panes", `{"pattern":"needle 7"}`))
	}

	shell := func() *tmux.Server {
		srv := testserver.New(b)
		testserver.Run(b, srv, "new-session", "-d", "-x", "80", "-y", "24", "exec env PS1='$ ' bash --norc --noprofile -i")
		testserver.WaitScreen(b, srv, "%0", "$")
		return srv
	}
	b.Run("capture_pane", calls(shell, "capture_pane", `{"pane_id":"%0"}`))
	b.Run("capture_since", calls(shell, "capture_since", `{"pane_id":"%0"}`))
	b.Run("send_keys", calls(shell, "send_keys", `{"pane_id":"%0","keys":"C-u"}`))
	b.Run("send_keys/line", calls(shell, "send_keys", `{"pane_id":"%0","keys":"true"}`))
	b.Run("run_command", calls(shell, "run_command", `{"pane_id":"%0","command":"true"}`))
	watched := func() *tmux.Server { // by somebody who does not type
		srv := shell()
		testserver.Arrive(b, srv, "0").Type("\x7f")
		time.Sleep(11 * time.Second) // until no answer mentions it
		return srv
	}
	b.Run("send_keys/watched", calls(watched, "send_keys", `{"pane_id":"%0","keys":"C-u"}`))
	b.Run("run_command/watched", calls(watched, "run_command", `{"pane_id":"%0","command":"true"}`))

	one := with(1)
	start := func(program string) turn {
		return turn{"", func() {
			a := launchOf(b, program, one())
			a.in.(io.Closer).Close()
		}}
	}
	b.Run("start", func(b *testing.B) {
		against(b, 0, start(built()), 0, start(filepath.Join(other, "tmux-mcp")), 0)
	})
	ours := b.TempDir()
	if out, err := exec.Command("go", "build", "-o", ours+"/", "../cmd/...").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	for _, words := range []string{"tmux-mcp --version", "tmux-mcp __complete --sa", "mcp-swap --version", "mcp-swap __complete use"} {
		f := strings.Fields(words)
		run := func(dir string) turn {
			return turn{"", func() {
				cmd := exec.Command(filepath.Join(dir, f[0]), f[1:]...)
				cmd.Env = []string{"HOME=" + ours, "PATH=" + os.Getenv("PATH")}
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%s: %v\n%s", words, err, out)
				}
			}}
		}
		b.Run(words, func(b *testing.B) { against(b, 0, run(ours), 0, run(other), 0) })
	}
	b.Run("resident", func(b *testing.B) {
		var kb, quiet [2][]int // at once, and when nothing was asked for a while
		for b.Loop() {
			var all [2][]*agent
			for i, program := range []string{built(), filepath.Join(other, "tmux-mcp")} {
				for range 5 {
					a := launchOf(b, program, one())
					a.write(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + request(2, "list_panes", `{}`))
					a.read()
					a.read()
					kb[i], all[i] = append(kb[i], residentKB(b, a.pid)), append(all[i], a)
				}
			}
			time.Sleep(1500 * time.Millisecond) // until they are at rest
			for i := range all {
				for _, a := range all[i] {
					quiet[i] = append(quiet[i], residentKB(b, a.pid))
					a.in.(io.Closer).Close()
				}
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(median(kb[0])), "kB")
		b.ReportMetric(float64(median(kb[0]))/float64(median(kb[1])), "of-kB")
		b.ReportMetric(float64(median(quiet[0])), "quiet-kB")
		b.ReportMetric(float64(median(quiet[0]))/float64(median(quiet[1])), "of-quiet-kB")
	})
}

// against compares two builds in turns. The process ids are those whose processor time is
// compared; 0 for none.
func against(b *testing.B, tmux int, one turn, onePID int, two turn, twoPID int) {
	b.Helper()
	var wall, own, theirs [2][]time.Duration
	processor := func(pid int) time.Duration {
		if pid == 0 {
			return 0
		}
		return spent(b, pid)
	}
	one.do()
	two.do()
	for b.Loop() {
		for i, of := range []turn{one, two} {
			pid := []int{onePID, twoPID}[i]
			const times = 10
			ownBefore, theirsBefore := processor(pid), processor(tmux)
			for range times {
				start := time.Now()
				of.do()
				wall[i] = append(wall[i], time.Since(start))
			}
			own[i] = append(own[i], (processor(pid)-ownBefore)/times)
			theirs[i] = append(theirs[i], (processor(tmux)-theirsBefore)/times)
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, figure := range [][2][]time.Duration{wall, own, theirs} {
		name := []string{"time", "own", "tmux"}[i]
		ours, others := median(figure[0]), median(figure[1])
		if others > 0 {
			b.ReportMetric(float64(ours.Nanoseconds())/1e6, name+"-ms")
			b.ReportMetric(float64(ours)/float64(others), "of-"+name)
		}
	}
}

func median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

// large returns a server with 500 panes of 200x50. They are full of text, show a log with
// short lines, or nothing but one line.
func large(b *testing.B, content string) *tmux.Server {
	b.Helper()
	dir := b.TempDir()
	row := func(width int) string {
		return (strings.Repeat("The quick brown fox jumps over the lazy dog. ", 5))[:width]
	}
	var text string
	for i := range 50 {
		switch content {
		case "full":
			text += "\n" + row(200)
		case "log":
			text += "\n" + row(20+i*37%80)
		}
	}
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte(strings.TrimPrefix(text, "\n")+"\rneedle "), 0o600); err != nil {
		b.Fatal(err)
	}
	srv := testserver.New(b)
	testserver.Run(b, srv, "new-session", "-d", "-s", "bench", "-x", "200", "-y", "50", "exec cat")
	var cmds []tmux.Command
	for i := range 500 {
		cmds = append(cmds, tmux.Raw{Name: "new-window", Args: []string{"-d", fmt.Sprintf("cat %s; printf '%%s end' %d; exec sleep 10000", file, i)}})
	}
	if _, err := srv.Do(testserver.Context(b), cmds...); err != nil {
		b.Fatal(err)
	}
	testserver.WaitScreen(b, srv, "%500", "end")
	return srv
}
