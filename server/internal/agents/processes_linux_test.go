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
