package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// An agent is found wherever it is in a pane's foreground or above it, and nowhere else.
func TestProgramsAt(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash, whose jobs have the terminal: ", err)
	}
	dir := t.TempDir()
	agent := func(name string) string { // a shell that runs as an agent
		path := filepath.Join(dir, name)
		if err := os.Symlink(bash, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	claude, codex := agent("claude"), agent("codex")
	said := filepath.Join(dir, "said")
	if err := os.Mkdir(said, 0o700); err != nil {
		t.Fatal(err)
	}
	rests := func(i int) string {
		if out, err := exec.Command("mkfifo", fmt.Sprintf("%s/%d.fifo", said, i)).CombinedOutput(); err != nil {
			t.Fatalf("mkfifo: %v %s", err, out)
		}
		return fmt.Sprintf("': >%s/%d; read -r x <%s/%d.fifo; :'", said, i, said, i)
	}
	srv := testserver.New(t)
	known, faults := Load(t.TempDir())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	cases := []struct{ name, command, want string }{
		{"the pane's own", "exec " + claude + " -c %s", "claude"},
		{"a job of the pane's shell", bash + " -mc '" + claude + ` -c "$0"; :' %s`, "claude"},
		{"in the group of a script", bash + " -c '" + claude + ` -c "$0"; :' %s`, "claude"},
		{"in a pipeline", bash + " -c '" + claude + ` -c "$0" | cat; :' %s`, "claude"},
		{"above its job", "exec " + claude + " -mc '" + bash + ` -c "$0"; :' %s`, "claude"},
		{"above its job, and below a shell", bash + " -mc '" + claude + ` -mc "$1 -c \"\$0\"; :" "$0"; :' %s ` + bash, "claude"},
		{"that started another one", "exec " + claude + " -c '" + codex + ` -c "$0"; :' %s`, "claude"},
		{"in the background", bash + " -mc '" + claude + ` -c "while test -d ` + said + `; do sleep 0.2; done" & ` + bash + ` -c "$0"; :' %s`, ""},
		{"none", bash + " -c %s", ""},
		{"its name as an argument", bash + " -c %s claude", ""},
	}
	for i, c := range cases {
		testserver.Run(t, srv, "new-session", "-d", "-s", fmt.Sprint("s", i), fmt.Sprintf(c.command, rests(i)))
		testtool.Eventually(t, c.name+" runs", func() bool { _, err := os.Stat(fmt.Sprintf("%s/%d", said, i)); return err == nil })
	}
	panes, err := tmux.List[Pane](testserver.Context(t), srv, tmux.ListPanes{All: true})
	if err != nil || len(panes) != len(cases) {
		t.Fatal(len(panes), err)
	}
	found := known.programsAt(panes)
	for _, p := range panes {
		var i int
		if _, err := fmt.Sscanf(p.Session, "s%d", &i); err != nil {
			t.Fatal(err)
		}
		if c, got := cases[i], found[p.PID]; got.Name != c.want || (len(got.PIDs) == 0) != (c.want == "") {
			t.Errorf("an agent %s: found %q in %v", c.name, got.Name, got.PIDs)
		}
		names := ""
		for _, process := range processesOf(p) {
			names += " " + filepath.Base(process.Words[0]) + " " + filepath.Base(process.Words[1])
		}
		if shown := strings.Contains(names, "claude"); shown != (cases[i].want != "") {
			t.Errorf("an agent %s: its processes are%s", cases[i].name, names)
		}
	}
}

// The program that started the others is the pane's, with all processes that run it.
func TestTopmost(t *testing.T) {
	t.Parallel()
	parent := map[int]int{9: 1, 10: 9, 11: 10, 12: 11, 20: 9, 8: 20}
	for _, c := range []struct {
		programs map[int]Program
		name     string
		version  string
		pids     []int
	}{
		{map[int]Program{10: {Name: "claude"}, 11: {Name: "codex", Version: "1.0.0"}}, "claude", "", []int{10}},
		{map[int]Program{10: {Name: "codex"}, 12: {Name: "codex", Version: "0.1.0"}}, "codex", "0.1.0", []int{10, 12}},
		{map[int]Program{12: {Name: "codex"}, 20: {Name: "claude"}}, "codex", "", []int{12}},
		{map[int]Program{8: {Name: "codex"}, 20: {Name: "claude"}}, "claude", "", []int{20}}, // numbers wrap
	} {
		if top := topmost(c.programs, parent); top.Name != c.name || top.Version != c.version || !slices.Equal(top.PIDs, c.pids) {
			t.Errorf("of %+v: %+v", c.programs, top)
		}
	}
}

// A version is shown only if it is the agent's: not that of what interprets it.
func TestVersions(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	shell, err := os.ReadFile(sh)
	if err != nil {
		t.Fatal(err)
	}
	set := BuiltIn()
	for _, c := range []struct{ program, script, manifest, want string }{
		{".pyenv/versions/3.11.7/bin/python3.11", "bin/codex", "", ""},
		{".pyenv/versions/3.11.7/bin/python3", ".pyenv/versions/3.11.7/bin/codex", "", ""},
		{"uv/python/cpython-3.12.1-linux/bin/python3.12", "uv/tools/codex/bin/codex", "", ""},
		{"mise/installs/python/3.12.1/bin/python3", "mise/installs/codex/0.171.0/bin/codex", "", "0.171.0"},
		{".rbenv/versions/3.3.0/bin/ruby", ".rbenv/versions/3.3.0/bin/codex", "", ""},
		{".asdf/installs/deno/2.1.4/bin/deno", ".deno/bin/codex", "", ""},
		{".bun/1.2.3/bin/bun", ".bun/install/global/node_modules/@openai/codex/bin/codex.js", `{"name": "@openai/codex", "version": "0.171.0"}`, "0.171.0"},
		{".nvm/versions/node/v22.1.0/bin/node", ".nvm/versions/node/v22.1.0/lib/node_modules/@openai/codex/bin/codex.js", `{"name": "@openai/codex", "version": "0.171.0-alpha.1"}`, "0.171.0"},
		{".fnm/node-versions/v22.1.0/installation/bin/node", ".fnm/node-versions/v22.1.0/installation/bin/codex", "", ""},
		{".nvm/versions/node/v22.1.0/bin/node", "src/codex/bin/codex.js", `{"name": "another", "version": "9.9.9"}`, ""},
		{"opt/node_modules/@openai/codex/vendor/codex", "", `{"name": "@google/gemini-cli", "version": "9.9.9"}`, ""},
		{".local/share/claude/versions/2.1.177", "", "", "2.1.177"},
		{"homebrew/Cellar/codex/0.171.0/bin/codex", "", "", "0.171.0"},
		{"homebrew/Caskroom/claude-code/2.1.177/claude", "", "", "2.1.177"},
		{"homebrew/Cellar/node/25.1.0/bin/node", "homebrew/Cellar/gemini-cli/0.47.0/bin/gemini", "", "0.47.0"},
		{"releases/1.2.3/codex", "", "", ""},
		{"bin/codex", "project/codex/7.7.7/prompt", "", ""},
	} {
		dir := t.TempDir()
		write := func(name string, text []byte) string {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := testtool.WriteProgram(file, text); err != nil {
				t.Fatal(err)
			}
			return file
		}
		cmd := exec.Command(write(c.program, shell), "-c", ": running; read x")
		if c.script != "" {
			cmd.Args = []string{cmd.Path, write(c.script, []byte("read x"))}
		}
		if c.manifest != "" {
			at := filepath.Join(c.program, "..")
			if c.script != "" {
				at = filepath.Join(c.script, "..", "..")
			}
			write(filepath.Join(at, "package.json"), []byte(c.manifest))
		}
		stdin, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		testtool.Eventually(t, c.program+" runs", func() bool { _, ok := set.programOf(cmd.Process.Pid); return ok })
		if p, _ := set.programOf(cmd.Process.Pid); p.Version != c.want {
			t.Errorf("%s %s: version %q, want %q", c.program, c.script, p.Version, c.want)
		}
		stdin.Close()
		_ = cmd.Wait()
	}
	for file, want := range map[string]string{
		"/nix/store/0c5z1a-codex-0.171.0/bin/codex":          "0.171.0",
		"/nix/store/0c5z1a-python3-3.12.8/bin/codex":         "",
		"/nix/store/0c5z1a-claude-code-2.1.177/bin/.wrapped": "",
	} {
		if got := set.versionOf(rulesOf(t, "codex"), file); got != want {
			t.Errorf("%s: version %q, want %q", file, got, want)
		}
	}
}
