package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

func TestPipePaneWritesToExactlyThatFile(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	dir := t.TempDir()
	var want []string
	for _, name := range append(slices.Clone(literalTexts), "#Session", "##{x}", "issue #42", "100%done", "two\nlines", "tab\there", `back\slash`, "`id`", "$(id)") {
		path := filepath.Join(dir, name)
		got := ok[map[string]any](p, "pipe_pane", args(t, "pane_id", "%0", "output_path", path))
		shown := strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(path)
		if strings.ContainsAny(shown, `,[]"`) { // it could be taken for more than a path
			shown = `"` + strings.ReplaceAll(shown, `"`, `\u0022`) + `"`
		}
		if got["result"] != "Piping to "+shown+" (pane %0)" || got["pane_id"] != "%0" {
			t.Errorf("%q: pipe_pane answers %v", path, got)
		}
		testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", "typed")
		fileHas(t, srv, path, "typed")
		want = append(want, name)
	}
	var have []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		have = append(have, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("files are %q, want %q", have, want)
	}
}

// TestClearPaneAtAPrompt: clear_pane leaves a shell its line, and run_command has a shell whose
// terminal was reset draw it.
func TestClearPaneAtAPrompt(t *testing.T) {
	t.Parallel()
	eachShell(t, len(shells), func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell)
		show := func() string {
			return strings.TrimRight(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"), "\n")
		}
		cursor := func() string { return format(t, srv, "%0", "#{cursor_x} #{history_size}") }
		p.expect("%0", "seq 1 100", numbers(1, 100)...)
		waitPrompt(t, srv, "%0")
		clear := func() {
			t.Helper()
			before, column := show(), format(t, srv, "%0", "#{cursor_x}")
			line := before[strings.LastIndex(before, "\n")+1:]
			p.tool("clear_pane", `{"pane_id":"%0"}`)
			if after := show(); after != line || cursor() != column+" 0" {
				t.Errorf("the line is %q, cursor and history are %s; they were %q, %s", after, cursor(), line, column)
			}
		}
		clear()
		p.expect("%0", "echo cleared", "cleared")
		waitPrompt(t, srv, "%0")
		testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", "echo ha''lf typ''ed")
		testserver.Wait(t, srv, "%0", "line", func() bool { return strings.HasSuffix(show(), " echo ha''lf typ''ed") })
		clear()
		testserver.Run(t, srv, "send-keys", "-t", "%0", "Enter")
		testserver.WaitScreen(t, srv, "%0", "half typed")
		for name, reset := range map[string]func(){
			"send-keys -R":  func() { testserver.Run(t, srv, "send-keys", "-R", "-t", "%0") },
			"clear-history": func() { testserver.Run(t, srv, "clear-history", "-t", "%0") },
			"a program": func() {
				if err := os.WriteFile(format(t, srv, "%0", "#{pane_tty}"), []byte("\033c"), 0); err != nil {
					t.Fatal(err)
				}
			},
		} {
			waitPrompt(t, srv, "%0")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", "echo dropped by "+name)
			testserver.Wait(t, srv, "%0", "line", func() bool { return strings.HasSuffix(show(), " echo dropped by "+name) })
			if reset(); name != "clear-history" {
				testserver.Wait(t, srv, "%0", "blank screen", func() bool {
					if show() != "" {
						reset() // fish may just have coloured the line
					}
					return show() == ""
				})
			}
			p.expect("%0", "echo after "+name, "after "+name)
		}
	})
}

// TestClearPaneKeepsStyles: a line of several rows, in colours, is kept as it is, and edited on.
func TestClearPaneKeepsStyles(t *testing.T) {
	t.Parallel()
	testtool.Path(t, "bash")
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", `exec env PS1='\[\033[1;32m\]prompt\[\033[m\]\[\033[44m\]$ ' bash --norc --noprofile -i`)
	p := serve(t, configFor(srv))
	waitPrompt(t, srv, "%0")
	typeCommand(t, srv, "%0", "printf '\\033[41mred\\n'")
	testserver.WaitScreen(t, srv, "%0", "\nred")
	waitPrompt(t, srv, "%0")
	text := "echo " + strings.Repeat("x", 100) + "end"
	testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", text)
	testserver.WaitScreen(t, srv, "%0", "end")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "Left", "Left", "Left")
	shows := func() (rows []string, column string) {
		y, _ := strconv.Atoi(format(t, srv, "%0", "#{cursor_y}"))
		text := testserver.Run(t, srv, "capture-pane", "-pe", "-S", fmt.Sprint(y-1), "-t", "%0")
		return strings.Split(strings.TrimRight(text, "\n"), "\n"), format(t, srv, "%0", "#{cursor_x}")
	}
	testserver.Wait(t, srv, "%0", "cursor", func() bool { _, x := shows(); return x == fmt.Sprint(len("prompt$ "+text)-3-80) })
	before, column := shows()
	p.tool("clear_pane", `{"pane_id":"%0"}`)
	after, now := shows()
	if !slices.Equal(after, before) || len(after) != 2 || now != column {
		t.Errorf("the pane shows %q, with the cursor in column %s, and showed %q, %s", after, now, before, column)
	}
	testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", "the ")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "Enter")
	testserver.Wait(t, srv, "%0", "output", func() bool {
		return strings.Contains(testserver.Run(t, srv, "capture-pane", "-pJ", "-t", "%0"), "\n"+strings.Repeat("x", 100)+"the end")
	})
}

// TestClearPaneOfAProgram: nothing is typed or drawn into a program other than a shell at its
// prompt.
func TestClearPaneOfAProgram(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"cat -v", "vi -u NONE", "less", "python3 -q"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(program, " ")
			testtool.Path(t, name)
			srv, p := shellPane(t, "bash")
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "file"), []byte(strings.Repeat("text\n", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
			if program == "vi -u NONE" || program == "less" {
				program += " file"
			}
			typeCommand(t, srv, "%0", "cd "+dir)
			typeCommand(t, srv, "%0", program)
			runs(t, srv, "%0", name)
			if name == "python3" {
				testserver.WaitScreen(t, srv, "%0", ">>>")
			} else if name != "cat" {
				testserver.WaitScreen(t, srv, "%0", "text\ntext")
			}
			p.tool("clear_pane", `{"pane_id":"%0"}`)
			p.tool("wait_for_text", `{"pane_id":"%0","patterns":["no such text"],"timeout":0.5}`)
			if got := strings.TrimSpace(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0")); got != "" {
				t.Errorf("the pane shows\n%s", got)
			}
		})
	}
}
