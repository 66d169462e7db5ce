package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// scene is what a first attempt meets, and what its last answer says if the task is done.
type scene struct {
	// start runs in pane %0, in a directory of its own; bash if it is empty. Shows is on the screen when
	// the attempt begins.
	start, shows string
	runs         string // a program that has begun then
	tool         string // that must be installed
	more         []string
	before       string // is on the screen before the last call, which would be too quick for a busy shell
	says         string
	not          string
	file, has    string // and what a file has then
}

// bashPane is how a pane begins in which a user would type commands.
const bashPane = "exec env PS1='$ ' bash --norc --noprofile"

// asks is a part of a script that asks something, and notes what was typed before.
func asks(question string) string {
	return `sleep 0.3; stty -icanon -echo min 0 time 0; dd bs=100 count=1 2>/dev/null >>early; stty icanon echo; printf '%s ' '` + question + `'; read -r a; answers="$answers $a"; `
}

const menuScript = `import sys, termios, tty
dishes = ["soup", "salad", "stew", "pie", "tea"]
at = 0
tty.setcbreak(0)
while True:
    sys.stdout.write("\033[H\033[J" + "".join(("> " if i == at else "  ") + d + "\r\n" for i, d in enumerate(dishes)))
    sys.stdout.flush()
    c = sys.stdin.buffer.raw.read(1)
    if c == b"\033":
        c += sys.stdin.buffer.raw.read(2)
    at = min(at + 1, 4) if c[2:] == b"B" else max(at - 1, 0) if c[2:] == b"A" else at
    if c in b"\r\n":
        break
print("you chose", dishes[at], flush=True)
sys.stdin.buffer.raw.read(1)
`

// scripts are in the directory of every attempt.
var scripts = map[string]string{
	"build.sh": `for i in $(seq 60); do printf '\rbuilding %d%%' $i; sleep 0.01; [ $i != 20 ] || printf '\rerror: no such header: foo.h\n'; done; echo; exit 2`,
	"check.sh": `sleep 0.3; exit ${TMUX_PANE#%}`,
	"serve.sh": `sleep 0.5; echo "server is ready"; exec sleep 1000`,
	"hello.sh": `printf 'What is your name? '; read -r name; echo "hello $name"`,
	"lines":    rowsTo(500),
	"menu.py":  menuScript,
}

func rowsTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "row %d\n", i+1)
	}
	return b.String()
}

var scenes = map[string]scene{
	"build":            {says: "\ncompiled\nDONE"},
	"python":           {start: "exec python3 -q -i", tool: "python3", shows: ">>> ", says: "\n51000\n"},
	"python-function":  {start: "exec python3 -q -i", tool: "python3", shows: ">>> ", says: "\n42\n"},
	"python-paste":     {start: "exec python3 -q -i", tool: "python3", shows: ">>> ", says: "\nsum 42"},
	"gdb":              {start: "exec gdb -q -nx", tool: "gdb", shows: "(gdb) ", says: "$1 = 42"},
	"gdb-up":           {start: "exec gdb -q -nx", tool: "gdb", shows: "(gdb) ", says: "No stack."},
	"sqlite":           {start: "exec sqlite3", tool: "sqlite3", shows: "sqlite> ", says: "\n2\n"},
	"sqlite-paste":     {start: "exec sqlite3", tool: "sqlite3", shows: "sqlite> ", says: "\nmultiline"},
	"node":             {start: "exec node -i", tool: "node", shows: "> ", says: "14, 28, 42"},
	"wizard":           {start: asks("Continue? [y/N]") + asks("Name:") + asks("Color:") + `echo "all set:$answers"; exec cat`, shows: "Continue?", says: "all set: y Bob blue", file: "early"},
	"yes-twice":        {start: asks("Overwrite a.txt? [y/N]") + asks("Overwrite b.txt? [y/N]") + asks("Overwrite c.txt? [y/N]") + `echo "copied:$answers"; exec cat`, shows: "a.txt?", says: "copied: y y y", file: "early"},
	"password":         {start: `stty -echo; printf 'Password: '; read -r a; stty echo; sleep 0.5; printf '\nwelcome, %s letters\n' ${#a}; exec cat`, shows: "Password:", says: "welcome, 7 letters", not: "hunter2"},
	"interrupt":        {runs: "sleep", more: []string{"sleep 1000"}, says: "matched"},
	"interrupt-twice":  {shows: "\nworking\n", more: []string{`stty -isig -icanon -echo; echo working; dd bs=1 count=2 2>/dev/null >&2; stty isig icanon echo`}, says: "matched"},
	"less":             {start: "exec less lines", tool: "less", shows: "row 1\n", says: "\nrow 500\n"},
	"vim":              {tool: "vim", says: "matched", file: "notes.txt", has: "hello from vim\n"},
	"menu":             {start: "exec python3 menu.py", tool: "python3", shows: "> soup", says: "you chose stew"},
	"cat-eof":          {runs: "cat", more: []string{"cat"}, says: "ping\nping"},
	"find-text":        {shows: "row 500", more: []string{"echo needle-4711; cat lines"}, says: "%0"},
	"build-error":      {says: "error: no such header: foo.h"},
	"long-output":      {says: "38 of 20000 lines match"},
	"many-panes":       {more: []string{"", "", "", ""}, says: "%3 exit 3"},
	"server":           {says: "server is ready"},
	"log":              {start: `while sleep 0.5; do echo 'INFO error none'; sleep 0.2; echo 'ERROR disk is full'; done`, says: "ERROR disk is full"},
	"any-of-three":     {start: "exec cat", more: []string{"", "while sleep 0.5; do echo job two finished; done", "exec cat"}, says: "%1"},
	"who-runs-python":  {start: "exec python3 -q -i", tool: "python3", shows: ">>> ", says: "%0"},
	"by-command":       {start: "exec cat", says: "%0"},
	"new-session":      {says: "api"},
	"split":            {says: "from the right"},
	"environment":      {says: "\ntest"},
	"directory":        {before: "cd /usr\n$", says: "/usr"},
	"asks-name":        {says: "it seems to wait for input: send_keys answers it]\nWhat is your name?"},
	"stop-job":         {says: "[%0 exit 1"}, // 130, or 1 from bash that had not started the program
	"zsh":              {start: "exec env PS1='%# ' zsh -f", tool: "zsh", shows: "# ", says: "\nmarker-42"},
	"fish":             {start: `exec fish -C "function fish_prompt; echo -n 'f> '; end"`, tool: "fish", shows: "f> ", says: "\nmarker-42"},
	"exit-status":      {says: "exit 2"},
	"multi-line":       {says: "item 1\nitem 2\nitem 3"},
	"screen":           {tool: "top", says: "load average"},
	"history-up":       {shows: "\nagain-and-again\n", more: []string{"echo again-and-again"}, says: "\nagain-and-again"},
	"quit-less-search": {start: "less lines; exec cat", tool: "less", shows: "row 1\n", says: "%0"},
	"wrong-command":    {says: "not found"},
	"copy-out":         {shows: "row 500", more: []string{"cat lines"}, says: "\nrow 500"},
}

// TestFirstAttempts plays calls that were written from the tool list and the instructions alone,
// before any answer was seen: see testdata/first-attempts.json. Each does its task.
func TestFirstAttempts(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/first-attempts.json")
	if err != nil {
		t.Fatal(err)
	}
	var attempts []struct {
		ID, Task string
		Calls    []struct {
			Tool      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &attempts); err != nil || len(attempts) != len(scenes) {
		t.Fatalf("%d attempts for %d scenes: %v", len(attempts), len(scenes), err)
	}
	for _, a := range attempts {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			s, ok := scenes[a.ID]
			if !ok {
				t.Fatal("it has no scene")
			}
			if s.tool != "" {
				testtool.Path(t, s.tool)
			}
			srv, dir := s.set(t)
			cfg := configFor(srv)
			cfg.Results = server.ResultsText
			p := serve(t, cfg)
			p.reads = true
			var answers []string
			for i, c := range a.Calls {
				if i == len(a.Calls)-1 && s.before != "" {
					tmuxtest.WaitScreen(t, srv, "%0", s.before)
				}
				res := p.tool(c.Tool, filled(string(c.Arguments), answers))
				answers = append(answers, res.text())
				if res.IsError {
					t.Errorf("call %d fails: %s", i, res.text())
				}
			}
			last := answers[len(answers)-1]
			if !strings.Contains(last, s.says) && strings.Contains(last, " quiet after ") {
				// A busy machine was silent for longer than the agent waits: it looks again.
				tmuxtest.WaitScreen(t, srv, "%0", strings.TrimPrefix(s.says, "\n"))
				last = p.tool("capture_pane", `{"pane_id":"%0"}`).text()
				answers = append(answers, last)
			}
			if !strings.Contains(last, s.says) || s.not != "" && strings.Contains(last, s.not) {
				t.Errorf("%s\nthe last answer does not have %q:\n%s", a.Task, s.says, strings.Join(answers, "\n\n"))
			}
			if s.file != "" {
				if b, err := os.ReadFile(filepath.Join(dir, s.file)); err != nil || string(b) != s.has {
					t.Errorf("the file %s has %q %v, want %q", s.file, b, err, s.has)
				}
			}
		})
	}
}

// set makes the panes of a scene, in a directory with the scripts.
func (s scene) set(t *testing.T) (srv *tmux.Server, dir string) {
	t.Helper()
	srv, dir = tmuxtest.New(t), t.TempDir()
	for name, text := range scripts {
		if filepath.Ext(name) == ".sh" {
			text = "#!/bin/sh\n" + text + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	quietFish(t, srv)
	start := s.start
	if start == "" {
		start = bashPane
	}
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "work", "-x", "100", "-y", "30", "-c", dir, start)
	switch s.start {
	case "":
		waitPrompt(t, srv, "%0")
	case "exec cat":
		s.runs = "cat"
	}
	for i, line := range s.more {
		if i > 0 { // in panes of their own
			start := line
			if start == "" {
				start = bashPane
			}
			if pane := tmuxtest.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "work:", "-c", dir, start); line == "" {
				waitPrompt(t, srv, pane)
			}
		} else if line != "" {
			tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "-l", line)
			tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "Enter")
		}
	}
	if s.runs != "" {
		runs(t, srv, "%0", s.runs)
	}
	if s.shows != "" {
		tmuxtest.WaitScreen(t, srv, "%0", strings.TrimSuffix(s.shows, " "))
	}
	return srv, dir
}

var placeholder = regexp.MustCompile(`<(job|pane)_id(?::(\d+)(?:\.(\d+))?)?>`)

// filled puts the ids of earlier answers into arguments.
func filled(args string, answers []string) string {
	ids := map[string]*regexp.Regexp{"job": regexp.MustCompile(`job ([a-z0-9]{13})\b`), "pane": regexp.MustCompile(`%\d+`)}
	return placeholder.ReplaceAllStringFunc(args, func(name string) string {
		m := placeholder.FindStringSubmatch(name)
		call, row := len(answers)-1, 0
		if m[2] != "" {
			call, _ = strconv.Atoi(m[2])
		}
		row, _ = strconv.Atoi(m[3])
		found := ids[m[1]].FindAllString(answers[call], -1)
		found = slices.Compact(found)
		if row >= len(found) {
			return name
		}
		return strings.TrimPrefix(found[row], "job ")
	})
}
