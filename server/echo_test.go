package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux/tmuxtest"
)

// Programs that read lines, with a line that makes each print "wa" and "it" as one word after a while,
// and what it shows when it waits for the next.
var readers = []struct{ name, start, prompt, line string }{
	{"bash", "exec env PS1='$ ' bash --norc --noprofile -i", "$ ", "sleep 0.4; echo wa''it"},
	{"zsh", "exec env PS1='%# ' zsh -f", "# ", "sleep 0.4; echo wa''it"},
	{"zsh", "exec env PS1='%# ' RPROMPT='right' zsh -f", "# ", "sleep 0.4; echo wa''it"},
	{"zsh", "exec env PS1='%~\n> ' zsh -f", "> ", "sleep 0.4; echo wa''it"},
	{"fish", "exec fish -C \"function fish_prompt; echo -n 'f> '; end\"", "f> ", "sleep 0.4; echo wa''it"},
	{"dash", "exec env PS1='$ ' dash", "$ ", "sleep 0.4; echo wa''it"},
	{"python3", "exec python3 -q -i", ">>> ", "import time; time.sleep(0.4); print('wa' + 'it')"},
	{"node", "exec node -i", "> ", "e = Date.now() + 400; while (Date.now() < e); console.log('wa' + 'it')"},
	{"sqlite3", "exec sqlite3", "sqlite> ", "select 'wa' || 'it' from (with recursive n(i) as (select 1 union all select i + 1 from n limit 300000) select max(i) from n);"},
	{"gdb", "exec gdb -q -nx", "(gdb) ", `shell sleep 0.4; echo wa''it`},
	{"sh", `PS1= exec sh -c 'while printf "db=# "; read -r l; do sleep 0.4; echo "wa""it"; done'`, "db=# ", "select wait;"},
}

// readerPane is a pane in which a program waits for a line.
func readerPane(t *testing.T, p *peer, name, start, prompt string) (pane string) {
	t.Helper()
	testtool.Path(t, name)
	home := filepath.Join(t.TempDir(), "home")
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

// TestOnlyWhatIsPrintedCounts: a pattern matches neither the prompt at which a line was typed, nor the
// line itself, nor what run_command shows of a command.
func TestOnlyWhatIsPrintedCounts(t *testing.T) {
	t.Parallel()
	for i, r := range readers {
		t.Run(fmt.Sprint(r.name, i), func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			pane := readerPane(t, p, r.name, r.start, r.prompt)
			send := func(keys, pattern string) []string {
				t.Helper()
				got := ok[seen](p, "send_keys", args(t, "pane_id", pane, "keys", keys, "patterns", []string{pattern}, "timeout", 60)).Seen
				t.Logf("%s: %+v", keys, got)
				if got == nil || got.Outcome != "matched" {
					t.Fatalf("%s: %+v\n%s", keys, got, tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", pane))
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

// TestAnswersAreNotTakenForQuestions: the second question matches when it is asked, and no answer is
// typed before.
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

// TestWhateverTypesIsNotOutput: also what another tool has typed before the wait.
func TestWhateverTypesIsNotOutput(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	buffer := ok[struct {
		Name string `json:"buffer_name"`
	}](p, "load_buffer", `{"content":"marker\n"}`)
	for tool, arguments := range map[string]map[string]any{
		"send_keys":       {"keys": "marker"},
		"paste_text":      {"text": "marker", "enter": true},
		"paste_buffer":    {"buffer_name": buffer.Name},
		"send_keys_batch": {"operations": []any{map[string]any{"keys": "marker"}}},
	} {
		pane := p.window(`printf 'ready: '; read -r l; sleep 0.5; echo "got $l"; exec cat`)
		tmuxtest.WaitScreen(t, srv, pane, "ready:")
		if ops, batch := arguments["operations"].([]any); batch {
			ops[0].(map[string]any)["pane_id"] = pane
		} else {
			arguments["pane_id"] = pane
		}
		if res := p.tool(tool, asJSON(t, arguments)); res.IsError {
			t.Fatalf("%s: %s", tool, res.text())
		}
		if got := ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "patterns", []string{"marker"}, "timeout", 60)); got.Outcome != "matched" || got.Matched[0] != "got marker" {
			t.Errorf("%s: %+v", tool, got)
		}
	}
}

// TestAWizardInOneCall: each step of a batch waits for what it asks next, and a step that is not asked
// for stops it: no answer is typed before its question.
func TestAWizardInOneCall(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	early := filepath.Join(t.TempDir(), "early")
	ask := func(what string) string {
		return fmt.Sprintf(`sleep 0.3; stty -icanon -echo min 0 time 0; dd bs=100 count=1 2>/dev/null >>%s; stty icanon echo; printf '%s: '; read -r a; `, early, what)
	}
	pane := p.window(ask("begin") + ask("Name") + ask("Color") + `echo "all set: $a"; ` + ask("Again") + "exec cat")
	ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "patterns", []string{"begin: "}, "since", "screen", "timeout", 60))
	step := func(keys string, patterns ...string) map[string]any {
		return map[string]any{"pane_id": pane, "keys": keys, "patterns": patterns}
	}
	type batch struct {
		batchOfKeys
		Seen *awaited `json:"seen"`
	}
	b := ok[batch](p, "send_keys_batch", args(t, "operations", []any{step("yes", "Name:"), step("Name: Color:", "Color:"), step("blue", "all set")}, "timeout", 60))
	if b.Succeeded != 3 || b.Seen == nil || b.Seen.Matched[0] != "all set: blue" {
		t.Errorf("%+v", b)
	}
	ok[awaited](p, "wait_for_text", args(t, "pane_id", pane, "patterns", []string{"Again:"}, "since", "screen", "timeout", 60))
	b = ok[batch](p, "send_keys_batch", args(t, "operations", []any{step("one", "Never:"), step("two", "Never:")}, "timeout", 2))
	if b.Succeeded != 0 || b.StoppedAt == nil || *b.StoppedAt != 0 || b.Results[0].Error == nil || *b.Results[0].Error != "typed, and none of its patterns came: timeout" || b.Seen == nil {
		t.Errorf("%+v", b)
	}
	if screen := tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", pane); strings.Contains(screen, "two") {
		t.Errorf("typed after the step that failed:\n%s", screen)
	}
	if b, err := os.ReadFile(early); err != nil || len(b) > 0 {
		t.Errorf("typed before it asked: %q %v", b, err)
	}
}

// TestAPasteIsSubmitted: a program that knows pastes holds one until Enter.
func TestAPasteIsSubmitted(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	p.expect("%0", "echo first", "first")
	tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "bind 'set enable-bracketed-paste on'", "Enter")
	waitPrompt(t, srv, "%0")
	got := ok[seen](p, "paste_text", args(t, "pane_id", "%0", "text", "echo one\necho two", "enter", true, "patterns", []string{"two"}, "timeout", 60)).Seen
	if got.Outcome != "matched" || got.Matched[0] != "two" {
		t.Errorf("%+v", got)
	}
}

// TestWhatIsTypedShowsOnce: a program that repeats a line has printed it, also if it is the same; a
// line that is wrapped is one; several lines show one by one; keys bring a line back.
func TestWhatIsTypedShowsOnce(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	p.expect("%0", "echo first", "first")
	send := func(want string, more ...any) {
		t.Helper()
		got := ok[seen](p, "send_keys", args(t, append(more, "pane_id", "%0", "timeout", 60)...)).Seen
		if got == nil || got.Outcome != "matched" || len(got.Matched) == 0 || got.Matched[len(got.Matched)-1] != want {
			t.Errorf("%v: %+v\n%s", more, got, tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%0"))
		}
	}
	ok[seen](p, "send_keys", `{"pane_id":"%0","keys":"cat"}`)
	runs(t, srv, "%0", "cat") // what is typed while the shell still reads, it may get otherwise
	send("the same line", "keys", "the same line", "patterns", []string{"same"})
	send("$", "keys", "C-c", "enter", false, "patterns", []string{"$ "})
	long := strings.Repeat("x", 200)
	send(long, "keys", "sleep 0.3; echo "+long, "patterns", []string{"x"})
	waitPrompt(t, srv, "%0")
	send(long, "keys", []string{"Up", "Enter"}, "patterns", []string{"xx"})
	waitPrompt(t, srv, "%0")
	send("3", "keys", "for i in 1 2 3\ndo sleep 0.1\necho $i\ndone", "patterns", []string{"3"})
	waitPrompt(t, srv, "%0")
	send("secret?", "keys", `read -r -s -p 'secret''?' x; echo; echo "<$x>"`, "patterns", []string{"secret?"})
	send("<secret?>", "keys", "secret?", "patterns", []string{"secret?"})
}

// TestTheScreenIsDrawn: a screen is shown once the program that was started has drawn it, and what a
// program draws over is shown once, after what it printed.
func TestTheScreenIsDrawn(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	p.expect("%0", "echo first", "first")
	send := func(keys string, more ...any) *awaited {
		t.Helper()
		return ok[seen](p, "send_keys", args(t, append(more, "pane_id", "%0", "keys", keys)...)).Seen
	}
	asText := serveText(t, srv)
	if text := asText.tool("send_keys", `{"pane_id":"%0","keys":"clear; printf drawn; read -r x","patterns":["drawn"],"show":"screen","timeout":60}`).text(); !strings.Contains(text, ", terminal cursor 5,0, cursor ") || !strings.HasSuffix(text, "]\ndrawn") {
		t.Error(text)
	}
	send("C-c", "patterns", []string{"$ "})
	if got := send("sleep 1; printf drawn; sleep 1000", "show", "screen", "timeout", 60); !strings.Contains(strings.Join(got.Tail, "\n"), "\ndrawn") {
		t.Errorf("shown before it was drawn: %+v", got)
	}
	send("C-c", "enter", false, "patterns", []string{"$ "})
	if got := send("sleep 1000", "show", "screen", "timeout", 1); got.Outcome != "timeout" || got.SawNewOutput {
		t.Errorf("nothing was drawn: %+v", got)
	}
	send("C-c", "enter", false, "patterns", []string{"$ "})
	got := send(`echo 'an error'; for i in $(seq 60); do printf '\r%d %%' $i; sleep 0.02; done; echo; echo all done`, "patterns", []string{"^all done"}, "regex", true, "timeout", 60)
	want := []string{"an error", "60 %", "all done"}
	if len(got.Tail) < 4 || !slices.Equal(got.Tail[1:4], want) {
		t.Errorf("%q, want the line that was typed, %q and a prompt", got.Tail, want)
	}
}
