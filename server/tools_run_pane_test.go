package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

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
		// The first command comes before the shell is ready.
		{"bash", `cd; printf 'sleep 0.6\nread -t 0.4 x\nPS1="$ "\n' >rc; exec bash --rcfile rc -i`},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			shellStart(t, c.shell)
			srv := testserver.New(t)
			testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", c.start)
			p := serve(t, configFor(srv))
			for range 3 {
				p.expect("%0", "echo a; printf b", "a", "b")
			}
		})
	}
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
		{"a pipeline that begins with a builtin", "bash", "echo | sleep 1000", "bash in pane %0 is busy: it shows no prompt"},
		{"a shell with a command", "bash", "bash -c 'read x; :'", "pane %0 runs a command or script of bash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testtool.Path(t, c.program)
			srv, p := shellPane(t, "bash")
			p.expect("%0", "echo", "")
			typeCommand(t, srv, "%0", "clear; "+c.start)
			testserver.Wait(t, srv, "%0", c.name, func() bool {
				// What clear prints may come later than the program after it begins.
				name, row, _ := strings.Cut(testserver.Run(t, srv, "display-message", "-p", "#{pane_current_command} #{cursor_y}"), " ")
				cleared := row == "0" || c.program != "cat" && c.program != "bash"
				return cleared && name != "clear" && (name != "bash" || c.program == "bash")
			})
			if c.program == "python3" {
				testserver.WaitScreen(t, srv, "%0", ">>>")
			}
			before := testserver.Run(t, srv, "capture-pane", "-p")
			p.fails("run_command", runArgs("%0", "echo not-here"), c.says, "send_keys types")
			if c.program == "vi" || c.program == "less" { // may just have drawn
				return
			}
			if after := testserver.Run(t, srv, "capture-pane", "-p"); after != before {
				t.Errorf("something was typed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestRunCommandInAStrangeShell(t *testing.T) {
	t.Parallel()
	for i, shell := range []string{"bash", "zsh", "dash"} {
		for j, setup := range []string{
			"set -e", "set -u", "set -f", "set -C", "set -x", "set -v", "export PATH=/nowhere", "unset TMUX TMUX_PANE", "trap 'echo TRAPPED' INT EXIT",
			"printf() { echo WRONG; }; trap() { echo WRONG; }; set() { echo WRONG; }", "alias printf='echo WRONG'", "builtin() { echo WRONG; }", "IFS=0123456789", "umask 777",
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
				testserver.WaitScreen(t, srv, "%0", "\nset")
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

// TestRunCommandWhateverNamesMean: an alias or a function for every name that a shell allows
// changes neither what a command prints nor its exit status, and the shell lives on.
func TestRunCommandWhateverNamesMean(t *testing.T) {
	t.Parallel()
	reserved := strings.Fields("if then elif else fi case in esac for select while until do done time function coproc repeat foreach end nocorrect " +
		"[[ ]] { } ! >/dev/null /dev/null /dev/stdout /dev/tty")
	names := strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z S _ 0 1 2 7 . .. : [ ] - -- + % , @ ~ ^ ? always " +
		"alias unalias autoload bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo emulate enable " +
		"exec exit export false fc fg functions getopts hash hist history jobs kill let limit local logout mapfile noglob popd print printf pushd pwd " +
		"read readarray readonly rehash return sched set setopt shift shopt sleep source stop suspend test times trap true type typeset ulimit umask " +
		"unfunction unhash unset unsetopt vared wait whence which zle zmodload zparseopts zstyle -n -p -rs -s -u")
	// Where it is possible, what defines the names is used last.
	names = append(names, "builtin", "command", "alias", "abbr", "eval")
	each := func(format string, names ...string) (text string) {
		for _, name := range names {
			text += strings.ReplaceAll(format, "NAME", "'"+name+"'")
		}
		return text
	}
	functions := "for n in" + each(" NAME", names...) + `; do (eval "$n() { :; }") && eval "$n() { /bin/echo WRONG; }"; done 2>/dev/null`
	// The line that is typed uses a function named ., and ksh93 has no command left once a
	// function of that name is removed.
	without := func(left string) string { return strings.Replace(functions, " '"+left+"' ", " ", 2) }
	eachShell(t, len(shells), func(t *testing.T, shell string) {
		setups := map[string]string{
			"aliases that end the shell": each(`\alias NAME=exit 2>/dev/null || \:`+"\n", append(reserved, names...)...),
			"aliases for something else": each(`\alias NAME=pwd 2>/dev/null || \:`+"\n", append(reserved, names...)...),
			"functions":                  functions,
		}
		switch shell {
		case "bash":
			setups["functions"] = without(".")
			setups["functions, in POSIX mode"] = "set -o posix; " + functions
			setups["errexit and aliases"] = "set -e; " + each(`\alias NAME=false 2>/dev/null || \:`+"\n", append(reserved, names...)...)
		case "zsh":
			setups["functions"] = without(".")
			setups["global aliases"] = each(`\builtin \alias -g \-- NAME=pwd 2>/dev/null || \:`+"\n", append(reserved, names...)...)
		case "ksh":
			setups["functions"] = without("command")
		case "fish":
			setups = map[string]string{
				"abbreviations": each("abbr -a -- NAME exit 2>/dev/null\n", names...),
				"functions":     "function fish_prompt; /bin/echo -n '> '; end\n" + each("function NAME; /bin/echo WRONG; end 2>/dev/null\n", names...),
			}
		}
		for name, setup := range setups {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				srv, p := shellPane(t, shell)
				pid := format(t, srv, "%0", "#{pane_pid}")
				file := filepath.Join(t.TempDir(), "names")
				if err := os.WriteFile(file, []byte(setup+"\n/bin/echo names are defined\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				waitPrompt(t, srv, "%0")
				typeCommand(t, srv, "%0", ". "+file)
				testserver.WaitScreen(t, srv, "%0", "names are defined")
				for _, hide := range []string{"true", "false"} {
					got := p.command("%0", `/bin/echo ran; /bin/sh -c "exit 7"`, `"suppress_history":`+hide)
					if fmt.Sprint(got.Output) != "[ran]" || got.status() != "7" || got.LinesMissed || format(t, srv, "%0", "#{pane_pid}") != pid {
						t.Errorf("exit status %s, output %q, lines missed is %t; the screen:\n%s", got.status(), got.Output, got.LinesMissed, testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"))
					}
				}
			})
		}
	})
}

func TestRunCommandKeepsOutOfHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"bash", "bash ignorespace", "bash ignoredups:erasedups", "zsh", "fish"} {
		t.Run(c, func(t *testing.T) {
			t.Parallel()
			shell, control, _ := strings.Cut(c, " ")
			shellStart(t, shell)
			srv := testserver.New(t)
			quietFish(t, srv)
			home := filepath.Join(filepath.Dir(srv.SocketPath()), "home")
			file := filepath.Join(home, "history")
			start := map[string]string{
				"bash": "HISTFILE=" + file + " HISTCONTROL=" + control + " PS1='$ ' bash --norc --noprofile -i",
				"zsh":  "zsh -i",
				"fish": "fish",
			}[shell]
			if err := os.WriteFile(filepath.Join(home, ".zshrc"), []byte("HISTFILE="+file+"\nSAVEHIST=100\nHISTSIZE=100\nsetopt HIST_IGNORE_SPACE\nPS1='$ '\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if shell == "fish" {
				file = filepath.Join(home, ".local/share/fish/fish_history")
			}
			testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "exec env "+start)
			p := serve(t, configFor(srv))
			waitPrompt(t, srv, "%0")
			typeCommand(t, srv, "%0", "echo first")
			p.expect("%0", "echo secret-1", "secret-1")
			p.expect("%0", "echo secret-2\necho more", "secret-2", "more")
			if got := p.command("%0", "echo 'kept'  1", `"suppress_history":false`); got.status() != "0" {
				t.Errorf("%+v", got)
			}
			typeCommand(t, srv, "%0", "echo typed")
			testserver.WaitScreen(t, srv, "%0", "\ntyped")
			typeCommand(t, srv, "%0", "exit")
			var history string
			testtool.Eventually(t, "the shell has written its history", func() bool {
				b, _ := os.ReadFile(file)
				history = string(b)
				return strings.Contains(history, "echo typed")
			})
			if strings.Contains(history, "secret") || !strings.Contains(history, "echo first") || strings.Contains(history, "tmux-mcp") {
				t.Errorf("the history is:\n%s", history)
			}
			if kept := strings.Contains(history, "echo 'kept'  1\n"); kept != (shell != "fish") {
				t.Errorf("the command that was not to be suppressed is there: %t; the history is:\n%s", kept, history)
			}
		})
	}
}

// TestRunCommandErasesNothing: what a shell's hook prints between the typed line and the
// command stays on the screen. The script cannot know what is in the row above its cursor.
func TestRunCommandErasesNothing(t *testing.T) {
	t.Parallel()
	for shell, hook := range map[string]string{
		"bash": `PS0='hooked\n'`,
		"zsh":  "preexec() { echo hooked; }",
		"fish": "function hook --on-event fish_preexec; echo hooked; end",
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, shell)
			type follow struct {
				Cursor string   `json:"cursor"`
				Lines  []string `json:"lines"`
				Missed bool     `json:"lines_missed"`
			}
			p.expect("%0", "echo a", "a")
			cursor := ok[follow](p, "capture_since", args(t, "pane_id", "%0")).Cursor
			typeCommand(t, srv, "%0", hook)
			for range 3 {
				p.expect("%0", "echo a", "a")
			}
			got, hooked := ok[follow](p, "capture_since", args(t, "cursor", cursor)), 0
			for _, line := range got.Lines {
				if line == "hooked" {
					hooked++
				}
			}
			if hooked != 3 || got.Missed {
				t.Errorf("the hook printed 3 lines, %d are new, missed %t:\n%s", hooked, got.Missed, strings.Join(got.Lines, "\n"))
			}
		})
	}
}

// TestRunCommandLeavesNothing behind, after a timeout, a cancellation and a refusal.
func TestRunCommandLeavesNothing(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	tmp := filepath.Dir(srv.SocketPath()) // removed when the tmux server in it has ended
	p := start(t, srv, []string{"XDG_RUNTIME_DIR=" + tmp, "TMUX_MCP_WAIT_MAX_SECONDS=1"})
	p.handshake("{}")
	p.expect("%0", "echo", "")
	left := ""
	t.Cleanup(func() {
		if left != "" {
			t.Log("left:", left)
		}
	})
	nothingIsLeft := func() {
		t.Helper()
		testtool.Eventually(t, "nothing is left", func() bool {
			left = format(t, srv, "%0", "#{?pane_pipe,pipe,}") + testserver.Run(t, srv, "list-buffers")
			jobs, err := filepath.Glob(filepath.Join(tmp, "tmux-mcp/j*"))
			for _, j := range jobs { // what ended after nobody waited for it is kept for get_job
				if status, _ := os.ReadFile(filepath.Join(j, "status")); strings.TrimSpace(string(status)) == "" {
					left += " " + j
				}
			}
			return err == nil && left == ""
		})
	}
	g := newGate(t)
	got := p.command("%0", "echo begun; "+g.wait()+"; echo ended", `"timeout":0.8`)
	if !got.TimedOut || got.ExitStatus != nil || fmt.Sprint(got.Output) != "[begun]" || got.EffectiveFor != 0.8 || got.Elapsed < 0.8 {
		t.Errorf("%+v", got)
	}
	p.fails("run_command", runArgs("%0", "echo not-here", `"timeout":0.1`), "pane %0 runs ")
	g.open(t)
	testserver.WaitScreen(t, srv, "%0", "\nended")
	nothingIsLeft()
	if got := p.job(got.JobID); got.status() != "0" || fmt.Sprint(got.Output) != "[begun ended]" || got.LinesMissed {
		t.Errorf("its job is %+v", got)
	}
	p.expect("%0", "clear")
	if got := p.command("%0", "sleep 2", `"timeout":3600`); !got.TimedOut || got.EffectiveFor != 1 {
		t.Errorf("%+v", got)
	}
	waitPrompt(t, srv, "%0")

	g = newGate(t)
	_, id := p.running("%0", "echo begun; "+g.wait()+"; echo ended")
	testserver.WaitScreen(t, srv, "%0", "\nbegun")
	queued, queuedID := p.running("%0", "echo not-here")
	for _, id := range []string{queuedID, id} {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	}
	p.request("ping", struct{}{}) // they were read
	g.open(t)
	nothingIsLeft()
	testserver.WaitScreen(t, srv, "%0", "\nended")
	p.expect("%0", "echo usable", "usable")
	if len(queued) > 0 {
		t.Errorf("a cancelled call in the queue was answered: %s", (<-queued).Result)
	}

	// What asks is not answered.
	typeCommand(t, srv, "%0", `printf 'name? '; read x; echo "<$x>"`)
	testserver.WaitScreen(t, srv, "%0", "\nname?")
	p.fails("run_command", runArgs("%0", "echo not-here", `"timeout":0.3`), "bash in pane %0 is busy: it shows no prompt")
	typeLine(t, srv, "%0", "me")
	testserver.WaitScreen(t, srv, "%0", "<me>")
	p.expect("%0", "echo usable", "usable")
	if screen := testserver.Run(t, srv, "capture-pane", "-p"); strings.Contains(screen, "not-here") || strings.Contains(screen, "No such file") {
		t.Errorf("the screen is:\n%s", screen)
	}
	nothingIsLeft()
}

// TestRunCommandWhileOutputIsHeld: C-s holds back what a shell echoes, so it does not begin
// the command. The error names C-q.
func TestRunCommandWhileOutputIsHeld(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "ksh", "mksh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, shell)
			p.expect("%0", "echo first", "first")
			waitPrompt(t, srv, "%0")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "C-s")
			p.fails("run_command", runArgs("%0", "echo not-here", `"timeout":120`), "did not begin it", "C-s", "C-q")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "C-q")
			p.expect("%0", "echo usable", "usable")
		})
	}
}

// TestWhatEndsACommand: its pane, its shell, its pipe or the tmux server goes away
// meanwhile. What was printed before is returned, by the waiting call and for a job.
func TestWhatEndsACommand(t *testing.T) {
	t.Parallel()
	const gone, lost = `"exit_status":null,"timed_out":false,"pane_gone":true`, "lost none false"
	for name, c := range map[string]struct {
		then      string   // what the command does
		tmux      []string // what is done to the pane
		call, job string   // what the call says, and the job's state, status and whether lines are missed; empty is not tried
	}{
		"the pane is killed":      {"sleep 300", []string{"kill-pane", "-t", "%0"}, gone, lost},
		"the pane is respawned":   {"sleep 300", []string{"respawn-pane", "-k", "-t", "%0", "cat"}, "", lost},
		"the server is killed":    {"sleep 300", []string{"kill-server"}, gone, ""},
		"the shell is killed":     {"kill -9 $$; sleep 300", nil, gone, lost},
		"the subshell is killed":  {"sh -c 'kill -9 $PPID'; sleep 300", nil, "", "ended 137 false"},
		"all of it is killed":     {"kill -9 0; sleep 300", nil, "", lost},
		"the pipe is another's":   {"echo unseen; exit 3", []string{"pipe-pane", "-t", "%0", "cat >/dev/null"}, `"exit_status":3`, "ended 3 true"},
		"the pipe is just closed": {"echo unseen; exit 3", []string{"pipe-pane", "-t", "%0"}, "", "ended 3 true"},
	} {
		for _, detach := range []bool{false, true} {
			if c.call == "" && !detach || c.job == "" && detach {
				continue
			}
			t.Run(fmt.Sprintf("%s, detach=%t", name, detach), func(t *testing.T) {
				t.Parallel()
				srv, _ := shellPane(t, "bash", "remain-on-exit", "on")
				// In a directory where no other server cleans up.
				p := start(t, srv, []string{"XDG_RUNTIME_DIR=" + filepath.Dir(srv.SocketPath())})
				p.handshake("{}")
				testserver.Run(t, srv, "new-window", "-d", "cat")
				pid, _ := strconv.Atoi(format(t, srv, "%0", "#{pid}"))
				g := newGate(t)
				call, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{
					"pane_id": "%0", "command": "echo begun; " + g.wait() + "; " + c.then, "detach": detach}})
				var id string
				testtool.Eventually(t, "what it printed is recorded", func() bool {
					if jobs := ok[rows](p, "list_jobs", `{}`); len(jobs.Result) > 0 {
						id = fmt.Sprint(jobs.Result[0]["job_id"])
					}
					return id != "" && fmt.Sprint(p.job(id).Output) == "[begun]"
				})
				if c.tmux != nil {
					testserver.Run(t, srv, c.tmux[0], c.tmux[1:]...)
				}
				g.open(t)
				if !detach {
					text := p.toolResult("run_command", p.await(call)).text()
					missed := strings.Contains(text, `"lines_missed":true`)
					if !strings.Contains(text, c.call) || !strings.Contains(text, `"output":["begun"]`) || missed != (c.call != gone) {
						t.Errorf("%s", text)
					}
				} else {
					got := p.job(id, `"timeout":120`)
					missed := got.LinesMissed && c.job != lost // of what is lost it is not known
					if said := fmt.Sprint(got.State, " ", got.status(), " ", missed); said != c.job || got.Output[0] != "begun" {
						t.Errorf("want %s: %+v", c.job, got)
					}
					if cancelled := p.tool("cancel_job", `{"job_id":"`+id+`"}`); c.job == lost && !strings.Contains(cancelled.text(), `"state":"lost"`) {
						t.Errorf("to cancel it answers %s", cancelled.text())
					}
				}
				switch {
				case name == "the pipe is another's":
					if format(t, srv, "%0", "#{pane_pipe}") != "1" {
						t.Error("the other pipe was closed")
					}
				case name == "the shell is killed":
					testtool.Eventually(t, "what read the pane is gone", func() bool {
						testserver.Reap(t, srv)
						return len(children(t, pid)) == 1 // the cat
					})
				}
			})
		}
	}
	t.Run("a shell in the shell", func(t *testing.T) {
		t.Parallel()
		srv, p := shellPane(t, "bash")
		p.expect("%0", "echo", "")
		typeCommand(t, srv, "%0", "PS1='inner$ ' bash --norc --noprofile")
		testserver.WaitScreen(t, srv, "%0", "inner$ ")
		p.expect("%0", "echo a", "a")
		p.fails("run_command", runArgs("%0", "kill -9 $$; sleep 20"), "the shell in pane %0 ended before the command did")
		pipeCloses(t, srv, "%0")
	})
}
