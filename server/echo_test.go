package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// Programs that read lines, with a line that makes each print "wa" and "it" as one word
// after a while, and its prompt for the next line.
var readers = []struct{ name, start, prompt, line string }{
	{"bash", "exec env PS1='$ ' bash --norc --noprofile -i", "$ ", "sleep 0.4; echo wa''it"},
	{"zsh", "exec env PS1='%# ' zsh -f", "# ", "sleep 0.4; echo wa''it"},
	{"zsh", "exec env PS1='%# ' RPROMPT='right' zsh -f", "# ", "sleep 0.4; echo wa''it"},
	{"zsh", "exec env PS1='%~\n> ' zsh -f", "> ", "sleep 0.4; echo wa''it"},
	{"fish", "exec fish -C \"function fish_prompt; echo -n 'f> '; end\"", "f> ", "sleep 0.4; echo wa''it"},
	{"dash", "exec env PS1='$ ' dash", "$ ", "sleep 0.4; echo wa''it"},
	{"python3", "exec python3 -q -i", ">>> ", "import time; time.sleep(0.4); print('wa' + 'it')"},
	{"node", "exec node -i", "> ", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400); console.log('wa' + 'it')"},
	{"sqlite3", "exec sqlite3", "sqlite> ", "select 'wa' || 'it' from (with recursive n(i) as (select 1 union all select i + 1 from n limit 300000) select max(i) from n);"},
	{"gdb", "exec gdb -q -nx", "(gdb) ", `shell sleep 0.4; echo wa''it`},
	{"sh", `PS1= exec sh -c 'while printf "db=# "; read -r l; do sleep 0.4; echo "wa""it"; done'`, "db=# ", "select wait;"},
}

// readerPane is a pane in which a program waits for a line. What the program writes into its
// HOME as it ends, such as its history, goes with the server's directory.
func readerPane(t *testing.T, srv *tmux.Server, p *peer, name, start, prompt string) (pane string) {
	t.Helper()
	testtool.Path(t, name)
	home := filepath.Join(filepath.Dir(srv.SocketPath()), "home", "reader")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	quietFishIn(t, filepath.Join(home, ".local/share"))
	pane = p.window("export HOME=" + home + "; " + start)
	if got := ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "patterns", []string{prompt}, "since", "screen", "timeout", 60)); got.Outcome != "matched" {
		t.Fatalf("%s: %+v", name, got)
	}
	return pane
}

// TestOnlyWhatIsPrintedCounts: a pattern matches neither the prompt at which a line was
// typed, nor the line itself, nor what run_command shows of a command.
func TestOnlyWhatIsPrintedCounts(t *testing.T) {
	t.Parallel()
	for i, r := range readers {
		t.Run(fmt.Sprint(r.name, i), func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			pane := readerPane(t, srv, p, r.name, r.start, r.prompt)
			send := func(keys, pattern string) []string {
				t.Helper()
				got := ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", keys, "patterns", []string{pattern}, "timeout", 60)).Seen
				t.Logf("%s: %+v", keys, got)
				if got == nil || got.Outcome != "matched" {
					t.Fatalf("%s: %+v\n%s", keys, got, testserver.Run(t, srv, "capture-pane", "-p", "-t", pane))
				}
				return got.Tail
			}
			// The prompt that comes after the output.
			for range 2 {
				if tail := send(r.line, r.prompt); !strings.Contains(strings.Join(tail, "\n")+"\n", "wait\n") {
					t.Errorf("the prompt matched before the output: %q", tail)
				}
			}
			// A word that is typed and printed.
			typed := map[string]string{
				"python3": "print('marker')", "node": "console.log('marker')", "sqlite3": "select 'marker';", "gdb": "echo marker\\n",
			}[r.name]
			switch {
			case r.name == "sh":
				typed = "marker" // which it does not print
				got := ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", typed, "patterns", []string{typed}, "timeout", 1)).Seen
				if got.Outcome != "timeout" {
					t.Errorf("what was typed matched: %+v", got)
				}
				return
			case typed == "":
				typed = "sleep 0.3; echo marker"
			}
			if tail := send(typed, "marker"); !strings.Contains("\n"+strings.Join(tail, "\n")+"\n", "\nmarker\n") {
				t.Errorf("what was typed matched: %q", tail)
			}
		})
	}
}

// TestAnswersAreNotTakenForQuestions: the second question matches when it is asked, and no
// answer is typed before that.
func TestAnswersAreNotTakenForQuestions(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]string{
		"lines": `read -r a; sleep 0.4`,
		"keys":  `stty -icanon min 1; a=$(dd bs=1 count=1 2>/dev/null); stty icanon; sleep 0.4; printf ' noted\n'`,
		"blind": `stty -echo; read -r a; sleep 0.4; stty echo; echo`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p := served(t)
			early := filepath.Join(t.TempDir(), "early")
			ask := func(n int) string {
				// What was typed before it asks is counted.
				return fmt.Sprintf(`stty -icanon -echo min 0 time 0; dd bs=100 count=1 2>/dev/null >>%s; stty icanon echo; printf 'question %d [y/N] '; %s; `, early, n, read)
			}
			pane := p.window(ask(1) + ask(2) + ask(3) + "echo all answered; exec cat")
			got := ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "patterns", []string{"[y/N]"}, "since", "screen", "timeout", 60))
			for i := 2; got.Outcome == "matched" && i <= 3; i++ {
				got = *ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", "y", "enter", name != "keys", "patterns", []string{"[y/N]"}, "timeout", 60)).Seen
				if want := fmt.Sprintf("question %d [y/N]", i); !strings.Contains(strings.Join(got.Matched, "\n"), want) {
					t.Errorf("answer %d: %+v", i-1, got)
				}
			}
			ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", "y", "enter", name != "keys", "patterns", []string{"all answered"}, "timeout", 60))
			if b, err := os.ReadFile(early); err != nil || len(b) > 0 {
				t.Errorf("typed before it asked: %q %v", b, err)
			}
		})
	}
}

// Shells whose prompt is drawn again with another number, each second or more often.
var restless = []struct{ name, setup, start, prompt string }{
	{"zsh", "PS1='%# '; RPROMPT='$n'", "exec zsh", "# "},
	{"zsh", "PS1='$n %# '", "exec zsh", "# "},
	{"zsh", "PS1=$'at $n\\n❯ '", "exec zsh", "❯"},
	{"fish", "function fish_prompt; echo -n 'f> '; end; function fish_right_prompt; echo $n; end", "exec fish -C '. $ZDOTDIR/.zshrc'", "f> "},
}

// TestRedrawnPromptIsNoOutput: a prompt that is drawn again is neither awaited nor a reason
// to go on waiting; what comes after it is.
func TestRedrawnPromptIsNoOutput(t *testing.T) {
	t.Parallel()
	for i, r := range restless {
		t.Run(fmt.Sprint(r.name, i), func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			setup := "setopt promptsubst; n=10; TMOUT=1; TRAPALRM() { n=$((n + 1)); zle && zle reset-prompt }\n"
			if r.name == "fish" {
				setup = "set -g n 10; function tick --on-signal USR1; set -g n (math $n + 1); commandline -f repaint; end; sh -c 'while kill -USR1 $0 2>/dev/null; do sleep 0.2; done' $fish_pid &; disown\n"
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, ".zshrc"), []byte(setup+r.setup), 0o600); err != nil {
				t.Fatal(err)
			}
			pane := readerPane(t, srv, p, r.name, "export ZDOTDIR="+dir+"; "+r.start, r.prompt)
			type follow struct {
				Cursor string   `json:"cursor"`
				Lines  []string `json:"lines"`
				Missed bool     `json:"lines_missed"`
			}
			shows := func() string { return testserver.Run(t, srv, "capture-pane", "-p", "-t", pane) }
			redrawn := func() {
				t.Helper()
				before := shows()
				testserver.Wait(t, srv, pane, "prompt drawn again", func() bool { return shows() != before })
			}
			redrawn()
			cursor := ok[follow](p, "capture_since", args(t, "pane_id", pane)).Cursor
			redrawn()
			if got := ok[follow](p, "capture_since", args(t, "cursor", cursor)); len(got.Lines) > 0 || got.Missed {
				t.Errorf("capture_since returns %q, missed %t", got.Lines, got.Missed)
			}
			for _, since := range []string{"", cursor} {
				if got := ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "quiet", 1.5, "timeout", 10, "since", since)); got.Outcome != "quiet" || len(got.Tail) > 0 {
					t.Errorf("since %q: %+v", since, got)
				}
				if got := ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "timeout", 1.5, "since", since)); got.Outcome != "timeout" || got.SawNewOutput || got.LinesMissed {
					t.Errorf("since %q: %+v", since, got)
				}
			}
			if got := ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", "echo wa''it", "enter", false, "quiet", 1.5, "timeout", 10)).Seen; got.Outcome != "quiet" || got.SawNewOutput || !strings.Contains(strings.Join(got.Tail, "\n"), "wa''it") {
				t.Errorf("typed: %+v", got)
			}
			if got := ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", "Enter", "patterns", []string{r.prompt}, "timeout", 60)).Seen; got.Outcome != "matched" || !strings.Contains(strings.Join(got.Tail, "\n")+"\n", "wait\n") {
				t.Errorf("entered: %+v", got)
			}
			// A job in the background prints.
			ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", "sh -c 'until [ -e "+dir+"/go ]; do sleep 0.1; done; echo la\"\"te' &", "patterns", []string{r.prompt}, "timeout", 60))
			redrawn()
			redrawn()
			cursor = ok[follow](p, "capture_since", args(t, "pane_id", pane)).Cursor
			call, _ := p.wait("wait_for_text", args(t, "pane_id", pane, "timeout", 60))
			redrawn()
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := decode[awaited](p, "wait_for_text", p.await(call)); got.Outcome != "any_output" || !strings.Contains(strings.Join(got.Tail, "\n")+"\n", "late") {
				t.Errorf("late: %+v", got)
			}
			if got := ok[follow](p, "capture_since", args(t, "cursor", cursor)); !strings.Contains(strings.Join(got.Lines, "\n")+"\n", "late") {
				t.Errorf("capture_since returns %q", got.Lines)
			}
		})
	}
}

// TestEchoOfLineEditors: what editors make of a typed line is not output: they scroll it
// sideways, suggest how it goes on, and expand what is in the history.
func TestEchoOfLineEditors(t *testing.T) {
	t.Parallel()
	inputrc := filepath.Join(t.TempDir(), "inputrc")
	if err := os.WriteFile(inputrc, []byte("set horizontal-scroll-mode on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := strings.Repeat("x", 90)
	long, bash := "sleep 0.4; : "+x+"; echo marker", "exec env PS1='$ ' bash --norc --noprofile -i"
	expansions := [][3]string{
		{"sleep 0.4; echo marker", "marker", "marker"},
		{"!!", "marker", "marker"},
		{"sleep 0.4; echo !$", "marker", "marker"},
		{"^marker^marked", "marked", "marked"},
		{"echo 'wow!ok'", "wow", "wow!ok"},
		{"echo hi!", "hi", "hi!"},
	}
	for i, r := range []struct {
		name, start, prompt string
		lines               [][3]string // what is typed, without Enter before …; what is awaited; and matched, "" for nothing
	}{
		{"mksh", "exec env PS1='# ' mksh -o vi", "# ", [][3]string{{long, "marker", "marker"}, {"true\n" + long, "marker", "marker"}}},
		{"fish", "exec env TERM=dumb fish -C \"function fish_prompt; echo -n 'f> '; end\"", "f> ", [][3]string{{long, "marker", "marker"}}},
		{"fish", "exec fish -C \"function fish_prompt; echo -n 'f> '; end; abbr -a gco 'sleep 0.5; echo marker'\"", "f> ", [][3]string{{"gco", "marker", "marker"}}},
		{"gdb", "export TERM=dumb; exec gdb -q -nx", "(gdb) ", [][3]string{{"shell sleep 0.4; : " + x + "; echo marker", "marker", "marker"}}},
		{"zsh", "exec env TERM=dumb PS1='%# ' zsh -f", "# ", [][3]string{{"true\n" + long, "marker", "marker"}, {"echo " + x + " | wc -c; sleep 0.4; echo '<marker>'", "marker", "<marker>"}, {"echo '" + x + "' | tail -c 60; echo done", "xxx", strings.Repeat("x", 59)}}},
		{"bash", "export INPUTRC=" + inputrc + "; " + bash, "$ ", [][3]string{{"sleep 0.4; : " + x + x + "; echo marker", "marker", "marker"}, {"true\n" + long, "marker", "marker"}, {"clear; sleep 0.4; : " + x + "; echo gone", "gone", "gone"}}},
		{"mksh", "exec env LC_ALL=C.UTF-8 PS1='# ' mksh", "# ", [][3]string{{long, "marker", "marker"}, {"true\n" + long, "marker", "marker"}, {"sleep 0.4; : " + strings.Repeat("語", 40) + "; echo marker", "marker", "marker"}}},
		{"zsh", "exec env TERM=dumb PS1='%# ' zsh -f", "# ", [][3]string{{long, "marker", "marker"}}},
		{"zsh", "exec env PS1='%# ' RPROMPT=right zsh -f -o singlelinezle", "# ", [][3]string{{long, "marker", "marker"}}},
		{"bash", "export INPUTRC=" + inputrc + "; " + bash, "$ ", [][3]string{{long, "marker", "marker"}}},
		{"bash", "export TERM=dumb; " + bash, "$ ", [][3]string{{long, "marker", "marker"}}},
		{"python3", "export INPUTRC=" + inputrc + " PYTHON_BASIC_REPL=1; exec python3 -q -i", ">>> ", [][3]string{
			{"import time; time.sleep(0.4); '" + x + "'; print('marker')", "marker", "marker"},
		}},
		{"ksh", "exec env PS1='$ ' ksh", "$ ", [][3]string{{long, "marker", "marker"}}},
		{"fish", "exec fish -C \"function fish_prompt; echo -n 'f> '; end\"", "f> ", [][3]string{
			{"sleep 0.5; echo marker", "marker", "marker"},
			{"sleep 0.5; echo m", "arker", ""},
			{"sleep 0.5; echo marker", "marker", "marker"},
			{"sleep 0.5; ec…", "marker", ""},
		}},
		{"bash", bash, "$ ", append(expansions, [3]string{"!nope", "event not found", "bash: !nope: event not found"})},
		{"zsh", "exec env PS1='%# ' zsh -f", "# ", append(expansions, [3]string{"!nope", "event not found", "zsh: event not found: nope"})},
		{"bash", bash + " -O histverify", "$ ", [][3]string{{"sleep 0.4; echo marker", "marker", "marker"}, {"!!", "marker", ""}, {"", "marker", "marker"}}},
	} {
		t.Run(fmt.Sprint(r.name, i), func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			pane := readerPane(t, srv, p, r.name, r.start, r.prompt)
			for _, line := range r.lines {
				timeout := 60.0
				if line[2] == "" {
					timeout = 1.5
				}
				keys, open := strings.CutSuffix(line[0], "…")
				if keys == "" {
					keys = "Enter"
				}
				got := ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", keys, "enter", !open && keys != "Enter", "patterns", []string{line[1]}, "timeout", timeout)).Seen
				if want := line[2]; want == "" && got.Found || want != "" && strings.Join(got.Matched, "\n") != want {
					t.Errorf("%q: %+v\n%s", line[0], got, testserver.Run(t, srv, "capture-pane", "-p", "-t", pane))
				}
				// For the next, the program is at its prompt.
				ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "patterns", []string{strings.TrimSpace(r.prompt)}, "quiet", 0.5, "timeout", 10))
			}
		})
	}
}
