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
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/ledger"
	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/tmux/follow"
)

// TestAStateComesWithItsLines: a wait that ends because an agent is in a state has the
// lines that show it, even if they were drawn after the last look.
func TestAStateComesWithItsLines(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	command, dir := testagent.Claude(t)
	footer := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "footer"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	footer("esc to interrupt")
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", command)
	testserver.WaitScreen(t, srv, "%0", "interrupt")
	ctx := testserver.Context(t)
	r := &Reader{WaitMax: MaxWait, LookTime: 20 * time.Second, Agents: agents.NewFinder(agents.BuiltIn()), Ledger: new(ledger.Ledger)}
	w, err := r.Wait(ctx, rows.Source{Tmux: srv}, Conditions{}, false, 60)
	if err != nil {
		t.Fatal(err)
	}
	w.anything, w.states, w.watch = false, []agents.State{agents.Idle}, follow.New(ctx, srv, 50*time.Millisecond)
	defer w.watch.Close()
	p := &waitedPane{id: "%0", echo: new(Echo)}
	w.panes = []*waitedPane{p}
	if err := w.first(ctx, p, Begin{}); err != nil {
		t.Fatal(err)
	}
	footer("done")
	testserver.Signal(t, srv, "%0", syscall.SIGUSR1)
	testserver.WaitScreen(t, srv, "%0", "done")
	testtool.Eventually(t, "the state ends the wait", func() bool {
		if err := w.readStates(ctx); err != nil {
			t.Fatal(err)
		}
		return p.outcome != ""
	})
	if p.outcome != outcomeState || !slices.ContainsFunc(textsOf(p.fresh.lines), func(line string) bool { return strings.TrimSpace(line) == "done" }) {
		t.Errorf("outcome %q with the lines %q", p.outcome, textsOf(p.fresh.lines))
	}
}

// TestAnOldLookIsNoPrompt: the last line of a program is its output, though its shell is at
// the prompt by the time that it is asked whether it is, and the line looks like a prompt.
func TestAnOldLookIsNoPrompt(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "exec env PS1='ready: ' bash --norc --noprofile -i")
	testserver.WaitScreen(t, srv, "%0", "ready:")
	testserver.Run(t, srv, "send-keys", "-t", "%0", `sh -c 'stty -echo; printf "\r47 %%"; read x; printf "\r60 %%"; read x; stty echo; echo; echo all done'`, "Enter")
	ctx := testserver.Context(t)
	look := func(since *follow.Mark, shows string) *follow.Look {
		t.Helper()
		testserver.WaitScreen(t, srv, "%0", "\n"+shows)
		l, err := follow.LookAt(ctx, srv, srv.Pane("%0"), since)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	w := &Wait{reader: &Reader{Ledger: new(ledger.Ledger)}, src: rows.Source{Tmux: srv}, watch: follow.New(ctx, srv, 50*time.Millisecond), look: match.Search{Most: match.MaxTime}}
	defer w.watch.Close()
	p := &waitedPane{id: "%0", echo: new(Echo)}
	first := look(nil, "47 %")
	if err := w.processLook(ctx, p, first, time.Now(), first.Lines(), nil); err != nil {
		t.Fatal(err)
	}
	testserver.Run(t, srv, "send-keys", "-t", "%0", "Enter")
	testserver.WaitScreen(t, srv, "%0", "\n60 %")
	second := look(first.Mark(), "60 %")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "Enter")
	testserver.WaitScreen(t, srv, "%0", "all done\nready:")
	if err := w.processLook(ctx, p, second, time.Now(), second.New, second.NewRows); err != nil {
		t.Fatal(err)
	}
	if got := textsOf(p.fresh.lines); !slices.Contains(got, "60 %") {
		t.Errorf("the new lines are %q", got)
	}
}

// TestWhatIsNotPassedOnWipesNothing: a line that has been read, but of which tmux shows nothing
// yet, has not cleared the screen, though the prompt is where it was and a program runs. Here
// the terminal does not echo it at all.
func TestWhatIsNotPassedOnWipesNothing(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "exec env PS1='$ ' sh")
	testserver.WaitScreen(t, srv, "%0", "$")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "stty -echo; echo above", "Enter")
	testserver.WaitScreen(t, srv, "%0", "\nabove\n$")
	r := &Reader{Ledger: new(ledger.Ledger)}
	look := func(since *follow.Mark) *follow.Look {
		t.Helper()
		l, err := follow.LookAt(ctx, srv, srv.Pane("%0"), since)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	// types submits a line, and returns how the pane looked and a wait for it.
	types := func(line string, at time.Time) (*follow.Look, *waitedPane) {
		before := look(nil)
		r.Ledger.Typed(inLedger(srv, before), ledger.Line{Began: at, At: at, Submitted: at, AtPrompt: true, Prompt: "$ ", Last: line}, before.CursorIn())
		testserver.Run(t, srv, "send-keys", "-t", "%0", line, "Enter")
		testserver.Wait(t, srv, "%0", line, func() bool {
			return testserver.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_current_command}") == "sleep"
		})
		return before, &waitedPane{id: "%0", echo: new(Echo), ending: ending{since: at, row: before.CursorIn(), y: before.CursorY}}
	}
	wipes := func(p *waitedPane, l *follow.Look) bool {
		p.line, p.known = r.Ledger.Of(inLedger(srv, l))
		p.sees(*l.PID, l)
		return p.wipes(l)
	}
	notYet := time.Now().Add(time.Hour) // so that it has not been long
	before, p := types("sleep 1000", notYet)
	for range 3 {
		if wipes(p, look(before.Mark())) {
			t.Error("a wait takes the screen for cleared")
		}
	}
	line, _ := r.Ledger.Of(inLedger(srv, before))
	since := Bookmark{Mark: before.Mark(), prompt: true, at: notYet}
	if _, wiped, err := r.wiped(ctx, srv, srv.Pane("%0"), since, look(before.Mark()), line.SubmittedSince(notYet)); wiped || err != nil {
		t.Errorf("capture_since takes the screen for cleared: %t, %v", wiped, err)
	}

	testserver.Run(t, srv, "send-keys", "-t", "%0", "C-c")
	testserver.Wait(t, srv, "%0", "the prompt", func() bool { return look(nil).CursorX == 2 && !inForeground(*before.PID) })
	before, p = types("clear; sleep 1000", notYet)
	l := look(before.Mark())
	if first, second := wipes(p, l), wipes(p, look(l.Mark())); first || !second {
		t.Errorf("a screen that was cleared: %t at the first look, %t at the second", first, second)
	}
	line, _ = r.Ledger.Of(inLedger(srv, before))
	if _, wiped, err := r.wiped(ctx, srv, srv.Pane("%0"), Bookmark{Mark: before.Mark(), prompt: true, at: notYet}, l, line.SubmittedSince(notYet)[1:]); !wiped || err != nil {
		t.Errorf("capture_since does not see that the screen was cleared: %v", err)
	}
}
