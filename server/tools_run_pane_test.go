package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

func (p *peer) expect(pane, command string, want ...string) {
	p.t.Helper()
	got := p.command(pane, command)
	if diff := cmp.Diff(append([]string{}, want...), got.Output); diff != "" || got.status() != "0" || got.LinesMissed {
		p.t.Errorf("%s: exit status %s, lines missed is %t; output (-want +have):\n%s", command, got.status(), got.LinesMissed, diff)
	}
}

func TestRunCommandNeverJoinsAHalfTypedLine(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell)
		p.expect("%0", "echo first", "first")
		touched := filepath.Join(filepath.Dir(srv.SocketPath()), "touched")
		for _, half := range [][]string{
			{"touch " + touched},
			{"touch " + touched + " -"},
			{"touch " + touched, "C-b", "C-b", "C-b"},
			{"touch " + touched, "C-a"},
			{"touch " + touched + "; echo 'open", "Enter"},
			{"touch " + touched + " ; echo 'open", "Enter", "x"},
			{"  "},
		} {
			if shell == "dash" || shell == "sh" {
				half = slicesWithout(half, "C-b", "C-a")
			}
			waitPrompt(t, srv, "%0")
			tmuxtest.Run(t, srv, "send-keys", append([]string{"-t", "%0"}, half...)...)
			tmuxtest.WaitScreen(t, srv, "%0", strings.TrimSpace(half[0]))
			p.expect("%0", "echo ran", "ran")
			if _, err := os.Stat(touched); err == nil {
				t.Fatalf("%q was run", half)
			}
			tmuxtest.Run(t, srv, "clear-history", "-t", "%0")
		}
	})
}

func slicesWithout(words []string, without ...string) (kept []string) {
	for _, w := range words {
		if !strings.Contains(strings.Join(without, " "), w) {
			kept = append(kept, w)
		}
	}
	return kept
}

func TestRunCommandTakesAnyPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shell, start string }{
		{"bash", `PS1='\u@\h\n\w> ' bash --norc --noprofile -i`},
		{"bash", `PS1='\[\e[31m\]two\[\e[m\]\nlines\n> ' bash --norc --noprofile -i`},
		{"bash", `PS1= bash --norc --noprofile -i`},
		{"bash", `PS1='prompt ' bash --norc --noprofile -i`},
		{"bash", `PS1='$ ' PROMPT_COMMAND='sleep 0.3' bash --norc --noprofile -i`},
		{"bash", `PS1='$ ' bash --norc --noprofile -i -o vi`},
		{"zsh", `PS1='%~ ❯ ' RPS1='%T right' zsh -f`},
		{"zsh", `PS1=$'two\nlines λ ' zsh -f -o vi`},
		{"dash", `PS1='
$ ' dash`},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			shellStart(t, c.shell)
			srv := tmuxtest.New(t)
			tmuxtest.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", c.start)
			p := serve(t, configFor(srv))
			for range 3 {
				p.expect("%0", "echo a; printf b", "a", "b")
			}
		})
	}
}

// TestRunCommandWaitsForAShellToStart: the first command of a new pane comes
// before its shell is ready.
func TestRunCommandWaitsForAShellToStart(t *testing.T) {
	t.Parallel()
	shellStart(t, "bash")
	srv := tmuxtest.New(t)
	rc := filepath.Join(t.TempDir(), "rc")
	if err := os.WriteFile(rc, []byte("sleep 0.6\nread -t 0.4 x\nPS1='$ '\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Run(t, srv, "new-session", "-d", "bash --rcfile "+rc+" -i")
	serve(t, configFor(srv)).expect("%0", "echo ready", "ready")
}

func TestRunCommandRefusesWhatIsNoPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, program, start, says string }{
		{"cat", "cat", "cat", "pane %0 runs cat"},
		{"less", "less", "seq 1 100 >n; less n", "pane %0 runs less"},
		{"vim", "vi", "vi -n", "pane %0 runs vi"},
		{"python", "python3", "python3 -q", "pane %0 runs python"},
		{"a program in a subshell", "bash", "(sleep 1000)", "pane %0 runs sleep"},
		{"a script", "bash", "echo 'read x; echo not-here' >s; bash s", "pane %0 runs a command or script of bash"},
		{"a shell's own read", "bash", "read x", "bash in pane %0 is busy: it shows no prompt"},
		{"a subshell", "bash", "(read x)", "pane %0 runs a command or script of bash"},
		{"a shell with a command", "bash", "bash -c 'read x; :'", "pane %0 runs a command or script of bash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testtool.Path(t, c.program)
			srv, p := shellPane(t, "bash")
			p.expect("%0", "echo", "")
			typeCommand(t, srv, "%0", "clear; "+c.start)
			tmuxtest.Wait(t, srv, "%0", c.name, func() bool {
				// What clear prints may come later than the program after it begins.
				name, row, _ := strings.Cut(tmuxtest.Run(t, srv, "display-message", "-p", "#{pane_current_command} #{cursor_y}"), " ")
				cleared := row == "0" || c.program != "cat" && c.program != "bash"
				return cleared && name != "clear" && (name != "bash" || c.program == "bash")
			})
			if c.program == "python3" {
				tmuxtest.WaitScreen(t, srv, "%0", ">>>")
			}
			before := tmuxtest.Run(t, srv, "capture-pane", "-p")
			p.fails("run_command", runArgs("%0", "echo not-here"), c.says, "send_keys types")
			if c.program == "vi" || c.program == "less" { // may just have drawn
				return
			}
			if after := tmuxtest.Run(t, srv, "capture-pane", "-p"); after != before {
				t.Errorf("something was typed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestRunCommandRefusesAPaneThatTakesNoKeys(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "sh", "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "copy-mode", "-t", "%0")
	p.fails("run_command", runArgs("%0", "echo a"), "pane %0 is in copy-mode", "exit_copy_mode")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", "true")
	tmuxtest.Wait(t, srv, "%0", "dead pane", func() bool {
		return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%1", "#{pane_dead}") == "1"
	})
	p.fails("run_command", runArgs("%1", "echo a"), "the program in pane %1 has ended", "respawn_pane")
	for args, says := range map[string]string{
		`{"command":"echo a"}`:                              "run_command needs a target",
		`{"command":"echo a","pane_id":"%9"}`:               "Pane not found: %9",
		`{"command":"echo a","session_name":"zz"}`:          "Object not found: session zz",
		`{"command":" \n ","pane_id":"%0"}`:                 "command must not be blank",
		`{"command":"a\u0000b","pane_id":"%0"}`:             "NUL",
		`{"command":"echo a","pane_id":"%0","timeout":0}`:   "timeout must be above 0",
		`{"command":"echo a","pane_id":"%0","max_lines":0}`: "max_lines must be at least 1",
	} {
		p.fails("run_command", args, says)
	}
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	tmuxtest.Run(t, srv, "copy-mode", "-q", "-t", "%0")
	serve(t, cfg).fails("run_command", runArgs("%0", "echo a"), "refusing to type into pane %0")
}

func TestRunCommandInAStrangeShell(t *testing.T) {
	t.Parallel()
	for i, shell := range []string{"bash", "zsh", "dash"} {
		for j, setup := range []string{
			"set -e", "set -u", "set -f", "set -C", "set -x", "set -v", "export PATH=/nowhere", "unset TMUX TMUX_PANE", "trap 'echo TRAPPED' INT EXIT",
			"printf() { echo WRONG; }; trap() { echo WRONG; }; set() { echo WRONG; }", "alias printf='echo WRONG'", "IFS=0123456789", "umask 777",
		} {
			if !testtool.Full && (i+j)%3 != 0 {
				continue
			}
			if shell != "bash" && strings.HasPrefix(setup, "printf()") { // functions by the names of special builtins
				setup = "printf() { echo WRONG; }"
			}
			t.Run(shell+" "+setup, func(t *testing.T) {
				t.Parallel()
				srv, p := shellPane(t, shell)
				p.expect("%0", "echo a", "a")
				typeCommand(t, srv, "%0", setup+"; echo set")
				tmuxtest.WaitScreen(t, srv, "%0", "\nset")
				got := p.command("%0", "echo b; (exit 7)")
				out := strings.Join(got.Output, "\n")
				if setup == "set -x" || setup == "set -v" { // shows what the command does, and nothing of ours
					if !strings.Contains(out, "\nb") && !strings.HasPrefix(out, "b") || strings.Contains(out, "/tmux-mcp-") && !strings.Contains(out, "/command:") || strings.Contains(out, "6337") || strings.Contains(out, "set --") {
						t.Errorf("output:\n%s", out)
					}
				} else if out != "b" {
					t.Errorf("output: %q", got.Output)
				}
				if got.status() != "7" || got.LinesMissed {
					t.Errorf("exit status %s, lines missed is %t", got.status(), got.LinesMissed)
				}
				p.command("%0", "false") // the shell is still there
			})
		}
	}
}

func TestRunCommandTakesBinaryNoise(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		_, p := shellPane(t, shell)
		noise := filepath.Join(t.TempDir(), "noise")
		var bytes []byte
		for i := range 256 * 64 {
			bytes = append(bytes, byte(i*7+i/256))
		}
		// The beginnings of sequences, left open.
		bytes = append(bytes, "\x1b]0;title\x1bP1$r\x1b[12\xe2"...)
		if err := os.WriteFile(noise, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		got := p.command("%0", "cat "+noise+"; false")
		if got.status() != "1" || len(got.Output) < 10 || !got.LinesMissed {
			t.Errorf("exit status %s, %d lines of output", got.status(), len(got.Output))
		}
		got = p.command("%0", "cat "+noise+"; printf '\\030\\033[r\\033[999;1H\\nend\\n'") // CAN ends the sequence, and the noise may have moved the cursor up
		if n := len(got.Output); n == 0 || got.Output[n-1] != "end" {
			t.Errorf("after noise the output does not end in its end: %q", got.Output[max(0, n-2):])
		}
		// What the terminal answered to the noise is on the line now.
		p.expect("%0", "echo clean", "clean")
	})
}

func TestRunCommandInANarrowPane(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	tmuxtest.Run(t, srv, "resize-window", "-x", "12", "-y", "4")
	p.expect("%0", "echo a line that is longer than the pane is wide; seq 1 30",
		append([]string{"a line that is longer than the pane is wide"}, numbers(1, 30)...)...)
}

func TestRunCommandKeepsTheLastLines(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	got := p.command("%0", "seq 1 10; printf 11", `"max_lines":3`)
	if fmt.Sprint(got.Output) != "[9 10 11]" || !got.Truncated || got.TruncatedBy != 8 {
		t.Errorf("%+v", got)
	}
	if got = p.command("%0", "seq 1 3", `"max_lines":"3"`); got.Truncated || len(got.Output) != 3 {
		t.Errorf("%+v", got)
	}
	const lines = 200_000
	cfg := configFor(srv)
	cfg.Results = server.ResultsText
	asText := serve(t, cfg)
	asText.reads = true
	if text := asText.tool("run_command", runArgs("%0", fmt.Sprintf("seq 1 %d", lines))).text(); !strings.Contains(text, fmt.Sprintf(" of %d lines", lines)) || strings.Contains(text, "left out") {
		t.Errorf("%.200s", text)
	}
	got = p.command("%0", fmt.Sprintf("seq 1 %d", lines))
	n := len(got.Output)
	if !got.Truncated || got.LinesMissed || got.TruncatedBy+n != lines || got.Output[n-1] != fmt.Sprint(lines) {
		t.Errorf("%d lines of output and %d truncated, of %d; missed is %t", n, got.TruncatedBy, lines, got.LinesMissed)
	}
}

func TestRunCommandReadsTheTerminal(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	c, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{
		"pane_id": "%0", "command": `printf 'name? '; read x; echo "<$x>"`}})
	// The command itself stands on the screen too, but not at the start of a line.
	tmuxtest.WaitScreen(t, srv, "%0", "\nname?")
	typeLine(t, srv, "%0", "someone")
	if res := p.toolResult("run_command", p.await(c)); !strings.Contains(res.text(), `["name? someone","<someone>"]`) {
		t.Errorf("%s", res.text())
	}
}

func TestRunCommandShowsTheUserWhatItDoes(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	p.command("%0", "echo one\necho 'two\x07'")
	screen := tmuxtest.Run(t, srv, "capture-pane", "-p")
	if !strings.Contains(screen, "\n+ echo one\n+ echo 'two '\none\ntwo\n") {
		t.Errorf("the screen is:\n%s", screen)
	}
}

func TestRunCommandsOfOnePaneQueue(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", shellStart(t, "sh"))
	file := filepath.Join(t.TempDir(), "log")
	ok[rows](p, "list_panes", `{}`)
	p.schema("run_command")
	var wg sync.WaitGroup
	for i := range 8 {
		pane := []string{"%0", "%1"}[i%2]
		c, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{
			"pane_id": pane, "command": fmt.Sprintf("echo in%s >>%s; sleep 0.05; echo out%s >>%s; echo %d", pane, file, pane, file, i)}})
		wg.Go(func() {
			if res := p.toolResult("run_command", p.await(c)); !strings.Contains(res.text(), fmt.Sprintf(`"output":["%d"]`, i)) {
				t.Errorf("command %d: %s", i, res.text())
			}
		})
	}
	wg.Wait()
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, pane := range []string{"%0", "%1"} {
		var seen []string
		for line := range strings.Lines(string(log)) {
			if strings.HasSuffix(line, pane+"\n") {
				seen = append(seen, strings.TrimSuffix(line, pane+"\n"))
			}
		}
		if want := strings.Fields(strings.Repeat("in out ", 4)); !cmp.Equal(seen, want) {
			t.Errorf("in pane %s the commands ran %v, want one after the other", pane, seen)
		}
	}
}

func TestRunCommandTypesIntoOnePaneOnly(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	tmuxtest.Run(t, srv, "set-option", "-w", "synchronize-panes", "on")
	p.expect("%0", "echo a", "a")
	if screen := tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%1"); strings.TrimSpace(screen) != "" {
		t.Errorf("another pane got:\n%s", screen)
	}
}

func TestRunCommandKeepsOutOfHistory(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			shellStart(t, shell)
			srv := tmuxtest.New(t)
			quietFish(t, srv)
			home := filepath.Join(filepath.Dir(srv.SocketPath()), "home")
			file := filepath.Join(home, "history")
			start := map[string]string{
				"bash": "HISTFILE=" + file + " HISTCONTROL=ignorespace PS1='$ ' bash --norc --noprofile -i",
				"zsh":  "zsh -i",
				"fish": "fish",
			}[shell]
			if err := os.WriteFile(filepath.Join(home, ".zshrc"), []byte("HISTFILE="+file+"\nSAVEHIST=100\nHISTSIZE=100\nsetopt HIST_IGNORE_SPACE\nPS1='$ '\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if shell == "fish" {
				file = filepath.Join(home, ".local/share/fish/fish_history")
			}
			tmuxtest.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "exec env "+start)
			p := serve(t, configFor(srv))
			p.expect("%0", "echo secret-1", "secret-1")
			p.expect("%0", "echo secret-2\necho more", "secret-2", "more")
			if got := p.command("%0", "echo 'kept'  1", `"suppress_history":false`); got.status() != "0" {
				t.Errorf("%+v", got)
			}
			typeCommand(t, srv, "%0", "echo typed")
			tmuxtest.WaitScreen(t, srv, "%0", "\ntyped")
			typeCommand(t, srv, "%0", "exit")
			var history string
			eventually(t, "the shell has written its history", func() bool {
				b, _ := os.ReadFile(file)
				history = string(b)
				return strings.Contains(history, "echo typed")
			})
			if strings.Contains(history, "secret") || strings.Contains(history, "tmux-mcp") {
				t.Errorf("the history is:\n%s", history)
			}
			if kept := strings.Contains(history, "echo 'kept'  1\n"); kept != (shell != "fish") {
				t.Errorf("the command that was not to be suppressed is there: %t; the history is:\n%s", kept, history)
			}
		})
	}
}

func TestRunCommandPublishesItsHistoryDefault(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	for _, suppress := range []bool{true, false} {
		cfg := configFor(srv)
		cfg.SuppressHistory = suppress
		p := serve(t, cfg)
		list := string(p.request("tools/list", map[string]any{}).Result)
		if want := fmt.Sprintf(`"suppress_history":{"type":"boolean","default":%t,"description":"keep it`, suppress); strings.Count(list, want) != 1 {
			t.Errorf("with %t the tools do not publish %s once", suppress, want)
		}
		if strings.Count(list, `"suppress_history":{"type":"boolean","description":"a space`) != 2 {
			t.Errorf("with %t send_keys and its batch do not list it", suppress)
		}
	}
}

// leftovers are what a call might leave behind on the machine and in tmux.
func leftovers(t testing.TB, tmp string, show func(format string) string, buffers func() string) string {
	t.Helper()
	// What ended after nobody waited for it is kept for get_job.
	all, err := filepath.Glob(filepath.Join(tmp, "tmux-mcp-*/*"))
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(f string) bool { return filepath.Base(f) == "turns" }) // the locks
	var files []string
	for _, f := range all {
		if status, err := os.ReadFile(filepath.Join(f, "status")); err != nil || strings.TrimSpace(string(status)) == "" {
			files = append(files, f)
		}
	}
	return strings.TrimSpace(strings.Join(files, " ") + " " + show("#{?pane_pipe,pipe,}") + " " + buffers())
}

func TestRunCommandAfterItsTimeout(t *testing.T) {
	tmp, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) }) // after the tmux server in it has ended
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	srv, p := shellPane(t, "bash")
	left := func() string {
		return leftovers(t, tmp, func(f string) string { return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", f) },
			func() string { return tmuxtest.Run(t, srv, "list-buffers") })
	}
	done := filepath.Join(t.TempDir(), "done")
	p.expect("%0", "echo", "")
	got := p.command("%0", "echo begun; sleep 2; echo >"+done, `"timeout":0.8`)
	if !got.TimedOut || got.ExitStatus != nil || fmt.Sprint(got.Output) != "[begun]" || got.EffectiveFor != 0.8 || got.Elapsed < 0.8 || got.Elapsed > 60 {
		t.Errorf("%+v", got)
	}
	p.fails("run_command", runArgs("%0", "echo not-here", `"timeout":0.1`), "pane %0 runs sleep")
	eventually(t, "the command went on", func() bool { _, err := os.Stat(done); return err == nil })
	eventually(t, "nothing but its result is left when it has ended", func() bool { return left() == "" })
	if got := ok[ran](p, "get_job", `{"job_id":"`+got.JobID+`"}`); got.status() != "0" || fmt.Sprint(got.Output) != "[begun]" || got.LinesMissed {
		t.Errorf("its job is %+v", got)
	}
	p.expect("%0", "echo usable", "usable")
	if screen := tmuxtest.Run(t, srv, "capture-pane", "-p"); strings.Contains(screen, "not-here") || strings.Contains(screen, "No such file") {
		t.Errorf("the screen is:\n%s", screen)
	}

	cfg := configFor(srv)
	cfg.WaitMax = 800 * time.Millisecond
	got = serve(t, cfg).command("%0", "sleep 2", `"timeout":3600`)
	if !got.TimedOut || got.EffectiveFor != 0.8 {
		t.Errorf("%+v", got)
	}

	// What asks is not answered.
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", shellStart(t, "dash"))
	p.expect("%1", "echo", "")
	typeCommand(t, srv, "%1", `printf 'name? '; read x; echo "<$x>"`)
	tmuxtest.WaitScreen(t, srv, "%1", "\nname?")
	p.fails("run_command", runArgs("%1", "echo not-here", `"timeout":0.3`), "dash in pane %1 is busy: it shows no prompt")
	typeLine(t, srv, "%1", "me")
	tmuxtest.WaitScreen(t, srv, "%1", "<me>")
	p.expect("%1", "echo usable", "usable")
	eventually(t, "nothing is left in the end", func() bool { return left() == "" })
}

func TestRunCommandLeavesNothingWhenCancelled(t *testing.T) {
	tmp, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) }) // after the tmux server in it has ended
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	srv, p := shellPane(t, "bash")
	p.expect("%0", "echo", "")
	_, id := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"pane_id": "%0", "command": "echo begun; sleep 0.5; echo ended"}})
	tmuxtest.WaitScreen(t, srv, "%0", "\nbegun")
	queued, queuedID := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"pane_id": "%0", "command": "echo not-here"}})
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, queuedID)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	left := ""
	defer func() { t.Logf("left in the end: %q", left) }()
	eventually(t, "nothing is left", func() bool {
		left = leftovers(t, tmp, func(f string) string { return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", f) },
			func() string { return tmuxtest.Run(t, srv, "list-buffers") })
		return left == ""
	})
	tmuxtest.WaitScreen(t, srv, "%0", "\nended")
	p.expect("%0", "echo usable", "usable")
	select {
	case r := <-queued:
		t.Errorf("a cancelled call in the queue was answered: %s", r.Result)
	default:
	}
	if screen := tmuxtest.Run(t, srv, "capture-pane", "-p"); strings.Contains(screen, "not-here") {
		t.Errorf("a cancelled call in the queue ran:\n%s", screen)
	}
}

func TestRunCommandIsInterrupted(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell)
		c, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"pane_id": "%0", "command": "sh -c 'echo begun; exec sleep 20'"}})
		tmuxtest.WaitScreen(t, srv, "%0", "\nbegun")
		tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "C-c")
		want := `"exit_status":130`
		if shell == "ksh" { // what its own subshells say
			want = `"exit_status":2,`
		}
		if res := p.toolResult("run_command", p.await(c)); !strings.Contains(res.text(), want) {
			t.Errorf("%s", res.text())
		}
		p.expect("%0", "echo usable", "usable")
	})
}

func TestRunCommandEndsWithItsPane(t *testing.T) {
	t.Parallel()
	t.Run("the shell is killed by the command", func(t *testing.T) {
		t.Parallel()
		_, p := shellPane(t, "bash")
		p.expect("%0", "echo first", "first")
		if got := p.command("%0", "kill -KILL $$"); !got.PaneGone {
			t.Errorf("%+v", got)
		}
	})
	begin := func(p *peer, command string) <-chan reply {
		c, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"pane_id": "%0", "command": command}})
		return c
	}
	gone := func(t *testing.T, p *peer, c <-chan reply) {
		t.Helper()
		res := p.toolResult("run_command", p.await(c))
		if !strings.Contains(res.text(), `"exit_status":null`) || !strings.Contains(res.text(), `"pane_gone":true`) || !strings.Contains(res.text(), `"output":["begun"]`) {
			t.Errorf("%s", res.text())
		}
	}
	t.Run("the pane is killed", func(t *testing.T) {
		t.Parallel()
		srv, p := shellPane(t, "bash")
		tmuxtest.Run(t, srv, "new-window", "-d", "cat")
		c := begin(p, "echo begun; sleep 20")
		tmuxtest.WaitScreen(t, srv, "%0", "\nbegun")
		tmuxtest.Run(t, srv, "kill-pane", "-t", "%0")
		gone(t, p, c)
	})
	t.Run("the server is killed", func(t *testing.T) {
		t.Parallel()
		srv, p := shellPane(t, "bash")
		c := begin(p, "echo begun; sleep 20")
		tmuxtest.WaitScreen(t, srv, "%0", "\nbegun")
		tmuxtest.Run(t, srv, "kill-server")
		gone(t, p, c)
	})
	t.Run("the shell is killed and the pane remains", func(t *testing.T) {
		t.Parallel()
		srv, p := shellPane(t, "bash", "remain-on-exit", "on")
		gate := filepath.Join(t.TempDir(), "gate")
		c := begin(p, "echo begun; until [ -e "+gate+" ]; do sleep 0.05; done; kill -9 $$; sleep 20")
		tmuxtest.WaitScreen(t, srv, "%0", "\nbegun") // tmux may lose what it has not read of a pane that ends
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		gone(t, p, c)
		pid, _ := strconv.Atoi(tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}"))
		eventually(t, "what read the pane is gone", func() bool { return len(children(t, pid)) == 0 })
	})
	t.Run("a shell in the shell is killed", func(t *testing.T) {
		t.Parallel()
		srv, p := shellPane(t, "bash")
		p.expect("%0", "echo", "")
		typeCommand(t, srv, "%0", "PS1='inner$ ' bash --norc --noprofile")
		tmuxtest.WaitScreen(t, srv, "%0", "inner$ ")
		p.expect("%0", "echo a", "a")
		p.fails("run_command", runArgs("%0", "kill -9 $$; sleep 20"), "the shell in pane %0 ended before the command did")
		tmuxtest.Wait(t, srv, "%0", "pipe that is closed", func() bool {
			return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_pipe}") == "0"
		})
	})
}

func TestRunCommandLeavesAPipeAlone(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell, "history-limit", "100")
		p.command("%0", "true")
		log := filepath.Join(t.TempDir(), "log")
		tmuxtest.Run(t, srv, "pipe-pane", "-t", "%0", "exec cat >"+log)
		p.expect("%0", "echo a; printf 'b\\n\\n'", "a", "b", "")
		p.expect("%0", "printf 'a long line: %060d'  7", "a long line: "+strings.Repeat("0", 59)+"7")
		p.expect("%0", "true")
		if got := p.command("%0", "false"); got.status() != "1" {
			t.Errorf("%+v", got)
		}
		got := p.command("%0", "seq 1 500")
		if n := len(got.Output); !got.LinesMissed || n < 50 || got.Output[n-1] != "500" || got.status() != "0" {
			t.Errorf("more than the history holds: %+v", got)
		}
		gate := filepath.Join(t.TempDir(), "gate")
		got = p.command("%0", "sh -c 'echo begun; until [ -e "+gate+" ]; do sleep 0.05; done'", `"detach":true`)
		tmuxtest.WaitScreen(t, srv, "%0", "\nbegun")
		if got = ok[ran](p, "get_job", `{"job_id":"`+got.JobID+`","timeout":0.01}`); !got.TimedOut || fmt.Sprint(got.Output) != "[begun]" {
			t.Errorf("%+v", got)
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got = ok[ran](p, "get_job", `{"job_id":"`+got.JobID+`","timeout":20}`); got.status() != "0" || fmt.Sprint(got.Output) != "[begun]" {
			t.Errorf("%+v", got)
		}
		if tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_pipe}") != "1" {
			t.Error("the pipe was closed")
		}
		eventually(t, "the pipe works", func() bool { b, _ := os.ReadFile(log); return strings.Contains(string(b), "500") })
		if shell == "fish" {
			return // has no set -x
		}
		typeCommand(t, srv, "%0", "set -x; echo set")
		tmuxtest.WaitScreen(t, srv, "%0", "\nset")
		if out := strings.Join(p.command("%0", "echo b").Output, "\n"); strings.Contains(out, "/tmux-mcp-") && !strings.Contains(out, "/command:") || !strings.Contains(out, "echo b\nb") {
			t.Errorf("what set -x shows of our own is in the output:\n%s", out)
		}
	})
}

func TestRunCommandWhenItsPipeIsTaken(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	gate := filepath.Join(t.TempDir(), "gate")
	c, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{
		"pane_id": "%0", "command": "echo begun; until [ -e " + gate + " ]; do sleep 0.05; done; echo ended; exit 4"}})
	tmuxtest.WaitScreen(t, srv, "%0", "\nbegun")
	tmuxtest.Run(t, srv, "pipe-pane", "-t", "%0", "cat >/dev/null")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	res := p.toolResult("run_command", p.await(c))
	if !strings.Contains(res.text(), `"exit_status":4`) || !strings.Contains(res.text(), `"lines_missed":true`) || !strings.Contains(res.text(), `"output":["begun"]`) {
		t.Errorf("%s", res.text())
	}
	if tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_pipe}") != "1" {
		t.Error("the other pipe was closed")
	}
}

// TestRunCommandSaysWhatMayDiffer: what the pane shows is not missed, and anything else is, in
// both forms of results.
func TestRunCommandSaysWhatMayDiffer(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	cfg := configFor(srv)
	cfg.Results = server.ResultsText
	asText := serve(t, cfg)
	asText.reads = true
	for _, c := range []struct {
		command string
		want    []string
		missed  bool
	}{
		{`printf 'a\nb\nc\n\033[3A\033[Lnew\n\033[3B'`, []string{"new", "a", "b", "c"}, false},
		{`clear; echo after`, []string{"after"}, false},
		{`seq 100; printf '\0337\033[24;1HPROGRESS\0338'; echo`, append(numbers(1, 100), "PROGRESS"), false},
		{`seq 50; printf '\033[H\033[2J\033[3J'; echo after`, append(numbers(1, 50), "after"), true},
	} {
		waitPrompt(t, srv, "%0")
		got := p.command("%0", c.command)
		if diff := cmp.Diff(c.want, got.Output); diff != "" || got.LinesMissed != c.missed {
			t.Errorf("%s: lines missed is %t; output (-want +have):\n%s", c.command, got.LinesMissed, diff)
		}
		waitPrompt(t, srv, "%0")
		const sentence = "output may be incomplete, or look different in the pane"
		if text := asText.tool("run_command", runArgs("%0", c.command)).text(); strings.Contains(text, sentence) != c.missed {
			t.Errorf("%s: %s", c.command, text)
		}
	}
	// A resize is seen at the end.
	got := p.command("%0", srv.Binary()+" -S "+srv.SocketPath()+" resize-window -t %0 -x 100 -y 30; echo wider")
	if fmt.Sprint(got.Output) != "[wider]" || !got.LinesMissed {
		t.Errorf("%+v", got)
	}
	waitPrompt(t, srv, "%0")
	if got = p.command("%0", "echo x"); got.LinesMissed {
		t.Errorf("%+v", got)
	}
	// The terminal gets its second size a quarter of a second later.
	for _, width := range []string{"90", "91"} {
		tmuxtest.Run(t, srv, "resize-window", "-t", "%0", "-x", width, "-y", "30")
	}
	if got = p.command("%0", "stty size"); fmt.Sprint(got.Output) != "[30 91]" || got.LinesMissed {
		t.Errorf("after a resize: %+v", got)
	}
	waitPrompt(t, srv, "%0")
	// A mode that was on before: rows that scroll.
	p.command("%0", `printf '\0337\033[1;20r\0338'`)
	waitPrompt(t, srv, "%0")
	if got = p.command("%0", "echo x"); !got.LinesMissed {
		t.Errorf("rows that scroll: %+v", got)
	}
}

// TestRunCommandShowsTheBeginOfALongLine, and the lines around it.
func TestRunCommandShowsTheBeginOfALongLine(t *testing.T) {
	t.Parallel()
	srv, whole := shellPane(t, "bash")
	cfg := configFor(srv)
	cfg.MaxResult = 30_000
	p := serve(t, cfg)
	cfg.Results = server.ResultsText
	asText := serve(t, cfg)
	asText.reads = true
	const command = "echo first; printf begin; head -c 100000 /dev/zero | tr '\\0' x; echo; echo last"
	got := p.command("%0", command)
	if len(got.Output) != 3 || got.Output[0] != "first" || got.Output[2] != "last" || !strings.HasPrefix(got.Output[1], "beginxxx") ||
		!strings.HasSuffix(got.Output[1], "xxx… (100005 bytes)") || len(got.Output[1]) > 2100 || got.JobID == "" {
		t.Errorf("%.3000s", fmt.Sprint(got))
	}
	waitPrompt(t, srv, "%0")
	text := asText.tool("run_command", runArgs("%0", command)).text()
	if !strings.Contains(text, "\nfirst\nbeginxxx") || !strings.HasSuffix(strings.TrimSpace(text), "xxx… (100005 bytes)\nlast") || len(text) > 3000 {
		t.Errorf("%.3000s", text)
	}
	// As JSON it is in the result twice, whatever the room; and escapes take some.
	for _, most := range []int{1000, 10_000} {
		cfg.Results, cfg.MaxResult = server.ResultsJSON, most
		small := serve(t, cfg)
		for _, n := range []int{most / 4, most / 2, 2 * most} {
			for _, char := range []string{"x", `"`} {
				got := small.command("%0", fmt.Sprintf("echo first; head -c %d /dev/zero | tr '\\0' '%s'", n, char))
				shown := strings.Join(got.Output, "\n")
				if whole := len(shown) == len("first\n")+n; got.status() != "0" || !strings.Contains(shown, char) || got.Truncated == whole || got.Truncated && got.JobID == "" {
					t.Errorf("of %d %q with %d bytes for a result: %d bytes, truncated is %t, job %q", n, char, most, len(shown), got.Truncated, got.JobID)
				}
			}
		}
	}
	// In a batch of many there is less room than a result needs besides.
	detached := p.command("%0", "echo some output; head -c 500 /dev/zero | tr '\\0' y", `"detach":true`)
	cfg.Results, cfg.MaxResult = server.ResultsText, 1000
	tight := serve(t, cfg)
	tight.reads = true
	get := `{"tool":"get_job","arguments":{"job_id":"` + detached.JobID + `"}}`
	if text := tight.tool("call_readonly_tools_batch", `{"operations":[`+strings.Repeat(get+",", 11)+get+`]}`).text(); !strings.Contains(text, "12 of 12 succeeded") {
		t.Errorf("%.3000s", text)
	}
	// It is whole where there is room.
	if got = whole.command("%0", command); len(got.Output) != 3 || len(got.Output[1]) != 100_005 || got.JobID != "" {
		t.Errorf("%.3000s", fmt.Sprint(got))
	}
}
