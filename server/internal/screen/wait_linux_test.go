package screen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/tmux/tmuxtest"
)

// TestAStateComesWithItsLines: a wait that ends because an agent is in a state has the
// lines that show it, even if they were drawn after the last look.
func TestAStateComesWithItsLines(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	command, dir := testagent.Claude(t)
	footer := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "footer"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	footer("esc to interrupt")
	tmuxtest.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", command)
	tmuxtest.WaitScreen(t, srv, "%0", "interrupt")
	ctx := tmuxtest.Context(t)
	r := &Reader{WaitMax: MaxWait, LookTime: 20 * time.Second, Agents: new(agents.Finder)}
	w, err := r.Wait(ctx, rows.Source{Tmux: srv}, Conditions{}, false, 60)
	if err != nil {
		t.Fatal(err)
	}
	w.anything, w.states, w.watch = false, []agents.State{agents.Idle}, srv.Watch(ctx, 50*time.Millisecond)
	defer w.watch.Close()
	p := &waitedPane{id: "%0", echo: new(Echo)}
	w.panes = []*waitedPane{p}
	if err := w.first(ctx, p, Begin{}); err != nil {
		t.Fatal(err)
	}
	footer("done")
	tmuxtest.Signal(t, srv, "%0", syscall.SIGUSR1)
	tmuxtest.WaitScreen(t, srv, "%0", "done")
	for deadline := time.Now().Add(time.Minute); p.outcome == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := w.readStates(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if p.outcome != outcomeState || !slices.ContainsFunc(textsOf(p.fresh.lines), func(line string) bool { return strings.TrimSpace(line) == "done" }) {
		t.Errorf("outcome %q with the lines %q", p.outcome, textsOf(p.fresh.lines))
	}
}
