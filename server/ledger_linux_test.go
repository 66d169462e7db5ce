package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// prompts are shells whose prompts have one to three rows, with a clock or without.
var prompts = []struct{ name, start, prompt string }{
	{"bash", `exec env PS1='$ ' bash --norc --noprofile -i`, "$"},
	{"zsh", "exec env PS1='at %D{%S}\n# ' zsh -f", "#"},
	{"fish", `exec fish -C "function fish_prompt; echo -n 'f> '; end"`, "f>"},
	{"bash", `exec env PS1='top\n\w \t\n$ ' bash --norc --noprofile -i`, "$"},
	{"zsh", `exec env PS1='%# ' RPROMPT=right zsh -f`, "#"},
	{"dash", `exec env PS1='$ ' dash`, "$"},
	{"ksh", `exec env PS1='$ ' ksh`, "$"},
	{"mksh", `exec env PS1='# ' mksh`, "#"},
}

// atPrompts runs a test in each of these shells; by default in the first few.
func atPrompts(t *testing.T, few int, test func(t *testing.T, a agentIn)) {
	t.Helper()
	for i, sh := range prompts[:testtool.Size(few, len(prompts))] {
		t.Run(fmt.Sprint(sh.name, i), func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			test(t, agentIn{t, srv, p, readerPane(t, srv, p, sh.name, sh.start, sh.prompt), sh.name})
		})
	}
}

// agentIn is an agent that works in a pane with a shell.
type agentIn struct {
	t     *testing.T
	srv   *tmux.Server
	p     *peer
	pane  string
	shell string
}

// types types keys, and waits for what does not come.
func (a agentIn) types(keys any, more ...any) awaited {
	a.t.Helper()
	list := append([]any{"pane_id", a.pane, "keys", keys, "patterns", []string{"never there"}, "timeout", 60}, more...)
	got := ok[seen](a.p, "send_keys", args(a.t, list...)).Seen
	if got == nil {
		a.t.Fatalf("%q: nothing seen", keys)
	}
	return *got
}

// waits waits for what does not come, or for the patterns in more.
func (a agentIn) waits(timeout float64, more ...any) awaited {
	a.t.Helper()
	return ok[awaited](a.p, "wait_for_text", args(a.t, append([]any{"pane_id", a.pane, "patterns", []string{"never there"}, "timeout", timeout}, more...)...))
}

// cursor returns a cursor of the pane as it is.
func (a agentIn) cursor() string {
	a.t.Helper()
	return ok[followed](a.p, "capture_since", args(a.t, "pane_id", a.pane)).Cursor
}

// has reports what is wrong with an outcome.
func (a agentIn) has(what string, got awaited, outcome string) {
	a.t.Helper()
	if got.Outcome != outcome {
		a.t.Errorf("%s: %s after %v s, want %s: %+v\n%s", what, got.Outcome, got.Elapsed, outcome, got, testserver.Run(a.t, a.srv, "capture-pane", "-p", "-t", a.pane))
	}
}

// TestNothingIsLostAboveAPrompt: whatever a line does to the screen, what it has left there is
// new, and what it has not is said to be missed, though the prompt is in its row again and the
// rest looks as before.
func TestNothingIsLostAboveAPrompt(t *testing.T) {
	t.Parallel()
	atPrompts(t, 4, func(t *testing.T, a agentIn) {
		r := rand.New(rand.NewPCG(uint64(len(a.shell)), 84))
		last := ""
		for i := range testtool.Size(8, 60) {
			lines := 1 + r.IntN(3)
			var parts []string
			words := map[string]bool{}
			drawn := "" // last
			for n := range lines {
				word := fmt.Sprintf("RUN%d", n) // as before, or the same apart from digits
				switch r.IntN(3) {
				case 0:
					word = fmt.Sprintf("NEW%c%c", 'A'+i%26, 'A'+n)
				case 1:
					word = fmt.Sprintf("AT%d", i)
				}
				words[word], drawn = true, word
				parts = append(parts, "printf '%s\\n' "+word[:1]+"''"+word[1:])
			}
			switch r.IntN(5) {
			case 0, 1, 2:
				parts = append([]string{"clear"}, parts...)
			case 3:
				parts = append(parts, `printf '\033[1A\r%s\033[K\n' O''VER`)
				words["OVER"] = true
				delete(words, drawn) // nobody can have seen it
			}
			line := strings.Join(parts, "; ")
			if r.IntN(4) == 0 && last != "" {
				line = last // exactly what was there
			}
			cursor := a.cursor()
			if r.IntN(4) == 0 {
				ok[ran](a.p, "run_command", args(t, "pane_id", a.pane, "command", line))
				// What is typed before the prompt shows has no known prompt.
				testserver.Wait(t, a.srv, a.pane, "prompt", func() bool { return a.waits(0.05, "since", "now").AtPrompt })
			} else {
				a.has(line, a.types(line), "program_ended")
			}
			got := ok[followed](a.p, "capture_since", args(t, "cursor", cursor))
			screen := strings.Split(testserver.Run(t, a.srv, "capture-pane", "-p", "-t", a.pane), "\n")
			for word := range words {
				shown := slices.Contains(screen, word)
				if line != last && !slices.Contains(got.Lines, word) && (shown || !got.Missed) {
					t.Fatalf("%s: %s is not new; missed %t, on the screen %t\n%s\n%s", line, word, got.Missed, shown, strings.Join(got.Lines, "\n"), strings.Join(screen, "\n"))
				}
			}
			last = line
		}
		// The same once more, for a wait.
		for range 2 {
			ok[map[string]any](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "clear; echo one; echo o''k 7"))
			got := a.waits(60, "patterns", []string{"ok 7"})
			a.has("the same output again", got, "matched")
			a.waits(1) // for its end, if that was not seen
		}
		// C-l moves what was there to the history.
		for range 2 {
			if !slices.Contains([]string{"bash", "zsh", "fish"}, a.shell) {
				break // it is text without a line editor
			}
			a.has("C-l", a.types([]string{"C-l", "echo one; echo o''k 8", "Enter"}, "patterns", []string{"ok 8"}), "matched")
			a.waits(1)
		}
	})
}

// TestEndsAreReported: a program that this server began has ended, whether or not a look saw
// it run, and whoever ended it; this is said once.
func TestEndsAreReported(t *testing.T) {
	t.Parallel()
	atPrompts(t, 4, func(t *testing.T, a agentIn) {
		prompted := func() {
			t.Helper()
			testserver.Wait(t, a.srv, a.pane, "empty prompt", func() bool {
				return ok[awaited](a.p, "wait_for_text", args(t, "pane_id", a.pane, "since", "now", "quiet", 0.1, "timeout", 5)).AtPrompt
			})
		}
		for _, line := range []string{"sh -c 'echo boom; exit 3'", "nosuchcommand --dev", "true", "cd /", "clear"} {
			a.has(line, a.types(line), "program_ended")
			a.has("again, after "+line, a.waits(0.3), "timeout")
		}
		typed := func(what string, do func()) {
			t.Helper()
			do()
			time.Sleep(300 * time.Millisecond) // in which it ends, usually
			a.has(what, a.waits(60), "program_ended")
			a.has("again, after "+what, a.waits(0.3), "timeout")
		}
		typed("a paste", func() {
			ok[map[string]any](a.p, "paste_text", args(t, "pane_id", a.pane, "text", "sh -c 'exit 3'", "enter", true))
		})
		typed("a batch", func() {
			ok[map[string]any](a.p, "send_keys_batch", args(t, "operations", []any{map[string]any{"pane_id": a.pane, "keys": "true"}, map[string]any{"pane_id": a.pane, "keys": "false"}}))
		})
		typed("a detached job", func() {
			g := newGate(t)
			ok[ran](a.p, "run_command", args(t, "pane_id", a.pane, "command", "sh -c '"+g.wait()+"; exit 4'", "detach", true))
			g.open(t)
		})
		typed("killed from outside", func() {
			ok[map[string]any](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "/bin/sleep 1000"))
			killChild(t, a.srv, a.pane, "sleep")
		})
		// A program that ends by a key, however silent the pane is then.
		ok[seen](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "sh -c 'echo waits; read -r x'", "patterns", []string{"waits"}, "timeout", 60))
		a.has("Enter", a.types("Enter", "quiet", 30, "patterns", nil), "program_ended")
		// What the line has left in the background is waited for; what is half typed has begun nothing.
		g := newGate(t)
		call, _ := a.p.begin("tools/call", map[string]any{"name": "send_keys", "arguments": map[string]any{
			"pane_id": a.pane, "keys": "sh -c '" + g.wait() + "; echo rea''dy' &", "patterns": []string{"ready"}, "timeout": 60}})
		time.Sleep(700 * time.Millisecond) // in which it could be taken to have ended
		g.open(t)
		a.has("a job in the background", *decode[seen](a.p, "send_keys", a.p.await(call)).Seen, "matched")
		ok[map[string]any](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "Enter"))
		prompted()
		a.waits(0.5)
		a.has("half typed", a.types("echo half", "enter", false, "timeout", 0.7), "timeout")
		ok[map[string]any](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "C-c"))
		prompted()
		a.waits(0.5)
		a.has("an open quote", a.types(`echo "open`, "timeout", 0.7), "timeout")
		ok[map[string]any](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "C-c"))
		prompted()
		// A shell in the shell runs until it ends, and so do the commands in it.
		a.has("a shell", a.types("env PS1='in$ ' bash --norc", "timeout", 0.7), "timeout")
		a.has("a command in it", a.types("sh -c 'exit 1'"), "program_ended")
		a.has("its end", a.types("exit"), "program_ended")
	})
}

// TestEndsInShellsInShells: what a shell runs in, such as su or another shell, is not what a
// line in it has left in the background.
func TestEndsInShellsInShells(t *testing.T) {
	t.Parallel()
	atPrompts(t, 2, func(t *testing.T, a agentIn) {
		for _, prompt := range []string{"one", "two"} { // nobody reports that they run
			ok[map[string]any](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "env TERM=vt100 sh -c \"PS1='"+prompt+"\\$ ' bash --norc; exit 0\""))
			testserver.Wait(t, a.srv, a.pane, prompt+"$", func() bool {
				return strings.HasSuffix(strings.TrimSpace(testserver.Run(t, a.srv, "capture-pane", "-p", "-t", a.pane)), prompt+"$")
			})
			time.Sleep(100 * time.Millisecond) // the clock of processes is coarse
		}
		a.has("a command in both", a.types("sh -c 'exit 1'", "timeout", 10), "program_ended")
		a.has("the end of one", a.types("exit", "timeout", 10), "program_ended")
		a.has("a command in the other", a.types("sh -c 'exit 1'", "timeout", 10), "program_ended")
		a.has("its end", a.types("exit", "timeout", 10), "program_ended")
	})
}

// killChild kills the programs of a name below a pane's shell once there is one.
func killChild(t *testing.T, srv *tmux.Server, pane, name string) {
	t.Helper()
	shell := testserver.Run(t, srv, "display-message", "-p", "-t", pane, "#{pane_pid}")
	testserver.Wait(t, srv, pane, "a program to kill", func() bool {
		children, _ := os.ReadFile(filepath.Join("/proc", shell, "task", shell, "children"))
		for child := range strings.FieldsSeq(string(children)) {
			comm, _ := os.ReadFile(filepath.Join("/proc", child, "comm"))
			if strings.TrimSpace(string(comm)) == name {
				var pid int
				fmt.Sscan(child, &pid)
				return syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
		return false
	})
}

// TestEndsOfOthersAreNot: a wait is not for a program whose end was reported, nor for one that
// the prompt or the user starts; and it does not match what run_command has returned.
func TestEndsOfOthersAreNot(t *testing.T) {
	t.Parallel()
	for i, sh := range []struct{ name, start, prompt string }{
		{"bash", `exec env PS1='$ ' PROMPT_COMMAND='sleep 0.2' bash --norc --noprofile -i`, "$"},
		{"bash", `exec env PS1='top \w\n$ ' bash --norc --noprofile -i`, "$"},
		{"zsh", `exec env PS1='%# ' zsh -f`, "#"},
		{"fish", `exec fish -C "function fish_prompt; sleep 0.2; echo -n 'f> '; end"`, "f>"},
	}[:testtool.Size(3, 4)] {
		t.Run(fmt.Sprint(sh.name, i), func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			a := agentIn{t, srv, p, readerPane(t, srv, p, sh.name, sh.start, sh.prompt), sh.name}
			late := func(what string, between func()) {
				t.Helper()
				g := newGate(t)
				p.expect(a.pane, "sh -c '"+g.wait()+"; echo started' & echo started", "started")
				call, _ := p.wait("wait_for_text", args(t, "pane_id", a.pane, "patterns", []string{"started"}, "timeout", 60))
				between()
				time.Sleep(700 * time.Millisecond) // in which an end could be seen
				g.open(t)
				a.has(what, decode[awaited](p, "wait_for_text", p.await(call)), "matched")
				ok[map[string]any](p, "send_keys", args(t, "pane_id", a.pane, "keys", "Enter"))
				a.waits(0.5)
			}
			late("a slow prompt", func() {})
			// The same line again, in a row of its own.
			g := newGate(t)
			p.expect(a.pane, "sh -c '"+g.wait()+"; echo; echo once' & echo once", "once")
			call, _ := p.wait("wait_for_text", args(t, "pane_id", a.pane, "patterns", []string{"^once$"}, "regex", true, "timeout", 5))
			g.open(t)
			a.has("the same line again", decode[awaited](p, "wait_for_text", p.await(call)), "matched")
			ok[map[string]any](p, "send_keys", args(t, "pane_id", a.pane, "keys", "Enter"))
			a.waits(0.5)
			late("a resize", func() { testserver.Run(t, srv, "resize-window", "-t", a.pane, "-x", "70") })
			late("the user", func() { typeLine(t, srv, a.pane, "sleep 0.2") })
			job := ok[ran](p, "run_command", args(t, "pane_id", a.pane, "command", "echo printed", "detach", true)).JobID
			if got := p.job(job, `"timeout":60`); got.status() != "0" {
				t.Errorf("the job: %+v", got)
			}
			a.has("after get_job", a.waits(0.5, "patterns", []string{"printed"}), "timeout")
			p.expect(a.pane, "echo once; echo twice", "once", "twice")
			a.has("what was returned", a.waits(0.5, "patterns", []string{"once", "twice"}), "timeout")
			p.expect(a.pane, "echo once; echo twice", "once", "twice")
			got := ok[awaited](p, "wait_for_text", args(t, "pane_id", a.pane, "timeout", 0.5))
			a.has("any output", got, "timeout")
			if !got.AtPrompt {
				t.Errorf("the shell is not said to be at its prompt: %+v", got)
			}
		})
	}
}

// TestAResizeIsNoOutput: a shell draws its prompt again in a pane of another size.
func TestAResizeIsNoOutput(t *testing.T) {
	t.Parallel()
	atPrompts(t, 5, func(t *testing.T, a agentIn) {
		a.types("echo first")
		for _, width := range []string{"60", "90", "79"} {
			call, _ := a.p.wait("wait_for_text", args(t, "pane_id", a.pane, "timeout", 0.8))
			testserver.Run(t, a.srv, "resize-window", "-t", a.pane, "-x", width)
			a.has("a width of "+width, decode[awaited](a.p, "wait_for_text", a.p.await(call)), "timeout")
		}
	})
}

// TestLinesForAProgramClearNothing: a program may show nothing of a line that is typed into it,
// and leave the cursor where it was. Only a line at a prompt must move on.
func TestLinesForAProgramClearNothing(t *testing.T) {
	t.Parallel()
	atPrompts(t, 2, func(t *testing.T, a agentIn) {
		a.types("echo before")
		cursor := a.cursor()
		ok[seen](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "printf '\\033[?1049h'; stty -echo; echo asks; read x; read x; read x; stty echo; printf '\\033[?1049l'", "patterns", []string{"^asks"}, "regex", true, "timeout", 60))
		for range 2 {
			ok[map[string]any](a.p, "send_keys", args(t, "pane_id", a.pane, "keys", "secret"))
		}
		a.has("the last", a.types("secret"), "program_ended")
		if got := ok[followed](a.p, "capture_since", args(t, "cursor", cursor)); got.Missed || slices.Contains(got.Lines, "before") {
			t.Errorf("%+v", got)
		}
	})
}

// TestEndsBesideABackgroundJob: what an answered line has left in the background does not hold
// up the waits for later ones.
func TestEndsBesideABackgroundJob(t *testing.T) {
	t.Parallel()
	atPrompts(t, 3, func(t *testing.T, a agentIn) {
		a.has("a server", a.types("sh -c 'echo serv''ing; exec sleep 1000' &", "patterns", []string{"^serving|[$>#] serving"}, "regex", true), "matched")
		time.Sleep(100 * time.Millisecond) // the clock of processes is coarse
		for _, line := range []string{"sh -c 'exit 3'", "false", "nosuchcommand"} {
			a.has(line, a.types(line, "timeout", 10), "program_ended")
		}
		a.has("a running one", a.types("sleep 1000", "timeout", 0.7), "timeout")
		a.has("C-c", a.types("C-c", "enter", false, "timeout", 10), "program_ended")
	})
}

// TestAShellGoesOnByItself: after a program, the line may go on with what the shell itself does.
func TestAShellGoesOnByItself(t *testing.T) {
	t.Parallel()
	for _, sh := range prompts[:testtool.Size(2, 3)] {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			a := agentIn{t, srv, p, readerPane(t, srv, p, sh.name, sh.start, sh.prompt), sh.name}
			a.has("read after sleep", a.types("sleep 0.3; read x; echo go''ne", "timeout", 1.5), "timeout")
			a.has("its end", a.types("answer"), "program_ended")
		})
	}
}

// TestAJobThatPrintsAtThePrompt: the prompt is where it was, above what a job has printed.
func TestAJobThatPrintsAtThePrompt(t *testing.T) {
	t.Parallel()
	atPrompts(t, 4, func(t *testing.T, a agentIn) {
		g := newGate(t)
		call, _ := a.p.begin("tools/call", map[string]any{"name": "send_keys", "arguments": map[string]any{
			"pane_id": a.pane, "keys": "sh -c '" + g.wait() + "; echo printed' &", "patterns": []string{"never there"}, "timeout": 15}})
		time.Sleep(700 * time.Millisecond) // in which the prompt comes
		g.open(t)
		got := *decode[seen](a.p, "send_keys", a.p.await(call)).Seen
		if a.has("the job", got, "program_ended"); !got.AtPrompt {
			t.Errorf("%+v", got)
		}
	})
}
