package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// TestRunCommandAnswersNoQuestion: a question of a shell, a function or a start-up file is
// never answered with a command.
func TestRunCommandAnswersNoQuestion(t *testing.T) {
	t.Parallel()
	questions, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, question := range strings.Split(strings.TrimSpace(string(questions)), "\n") {
		shell, ask, _ := strings.Cut(question, " ")
		if shell == "#" || !testtool.Full && i%2 == 0 {
			continue
		}
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			start := shellStart(t, shell)
			srv := testserver.New(t)
			quietFish(t, srv)
			dir := filepath.Join(filepath.Dir(srv.SocketPath()), "home")
			if _, err := srv.Do(testserver.Context(t), tmux.StartServer{}, tmux.NewSession{Detached: true, Name: "a", Dir: dir, Width: 80, Height: 24, Command: []string{start}}); err != nil {
				t.Fatal(err)
			}
			s, p := promptly(t, srv)
			p.expect("%0", "echo first", "first")
			s.SetPromptWait(200 * time.Millisecond)
			typeCommand(t, srv, "%0", "clear; echo ask''ed; "+ask+"; echo got=$x.")
			testserver.WaitScreen(t, srv, "%0", "asked")
			p.fails("run_command", runArgs("%0", "echo second"), shell[:2], "is busy: it shows no prompt")
			// Nor is one that shows nothing.
			testserver.Run(t, srv, "send-keys", "-R", "-t", "%0")
			p.fails("run_command", runArgs("%0", "echo second"), shell[:2], "is busy: it shows no prompt")
			answered(t, srv, ask)
			s.SetPromptWait(time.Minute)
			p.expect("%0", "echo third", "third")
		})
	}
}

// TestRunCommandAnswersNoCompletion: what readline asks before it lists many completions is
// not answered, and the line that was half typed does not run.
func TestRunCommandAnswersNoCompletion(t *testing.T) {
	t.Parallel()
	const ask = "Display all 150 possibilities? (y or n)"
	if v := version(t, testserver.New(t)); !v.Has(tmux.Version{Major: 3, Minor: 3}) {
		t.Skipf("tmux %s gives a detached session another size than it is asked for", v)
	}
	for _, width := range []int{80, len(ask) - 1, 24, len(ask), len(ask) - 2, len(ask) - 3}[:testtool.Size(3, 6)] {
		t.Run(fmt.Sprint(width, " columns"), func(t *testing.T) {
			t.Parallel()
			start := shellStart(t, "bash")
			srv := testserver.New(t)
			dir := t.TempDir()
			for i := range 150 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%03d", i)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := srv.Do(testserver.Context(t), tmux.StartServer{}, tmux.NewSession{Detached: true, Name: "a", Dir: dir, Width: width, Height: 12, Command: []string{start}}); err != nil {
				t.Fatal(err)
			}
			s, p := promptly(t, srv)
			p.expect("%0", "echo first", "first")
			s.SetPromptWait(200 * time.Millisecond)
			refused := func(shown string) {
				t.Helper()
				testserver.Wait(t, srv, "%0", shown, func() bool {
					return strings.Contains(testserver.Run(t, srv, "capture-pane", "-pJ", "-t", "%0"), shown)
				})
				p.fails("run_command", runArgs("%0", "echo second"), "bash", "is busy: it shows no prompt")
			}
			testserver.Run(t, srv, "send-keys", "-t", "%0", "touch ran ./file-", "Tab", "Tab")
			refused("(y or n)")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "y")
			refused("--More--")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "q")
			s.SetPromptWait(time.Minute)
			p.expect("%0", "echo third", "third")
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Error("the half-typed line has run")
			}
		})
	}
}

// answered answers the question of pane %0, into which nothing has been typed.
func answered(t *testing.T, srv *tmux.Server, ask string) {
	t.Helper()
	key := "y"
	if strings.Contains(ask, "select") {
		key = "1"
	}
	testserver.Run(t, srv, "send-keys", "-t", "%0", key, "Enter")
	testserver.WaitScreen(t, srv, "%0", "got=")
	got := testserver.Run(t, srv, "capture-pane", "-p")
	if !strings.Contains(got, "got=y.") && !strings.Contains(got, "got=morey.") {
		t.Errorf("something else was answered:\n%s", got)
	}
}

// A start-up file asks before there is a prompt: run_command and build_workspace wait,
// and type nothing.
func TestAStartUpFileThatAsks(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ shell, ask string }{
		{"bash", "read -n 1 -p 'Load the environment? ' x"},
		{"bash", "read -e -p 'Load the environment? ' x"},
		{"zsh", "read -q 'x?Load the environment? '"},
		{"zsh", "vared -p 'Load the environment? ' -c x"},
	} {
		for _, tool := range []string{"run_command", "build_workspace"} {
			t.Run(fmt.Sprint(c.shell, i, " ", tool), func(t *testing.T) {
				t.Parallel()
				testtool.Path(t, c.shell)
				dir := t.TempDir()
				rc, start := filepath.Join(dir, "rc"), "bash --rcfile "+filepath.Join(dir, "rc")+" -i"
				if c.shell == "zsh" {
					rc, start = filepath.Join(dir, ".zshrc"), "env ZDOTDIR="+dir+" zsh -i"
				}
				if err := os.WriteFile(rc, []byte("PS1='$ '\n"+c.ask+"\necho got=$x.\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				srv := testserver.New(t)
				testserver.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", map[bool]string{true: start, false: "cat"}[tool == "run_command"])
				s, p := promptly(t, srv)
				s.SetPromptWait(200 * time.Millisecond)
				s.SetReadyWait(2 * time.Second)
				if tool == "run_command" {
					p.fails("run_command", runArgs("%0", "echo second"), "is busy: it shows no prompt")
					answered(t, srv, c.ask)
					return
				}
				built := ok[workspaceBuilt](p, "build_workspace", fmt.Sprintf(`{"session_name":"w","windows":[{"panes":[{"shell":%q,"command":"echo second"}]}]}`, start))
				if len(built.Panes) != 1 || built.Panes[0].Problem == nil || !strings.Contains(*built.Panes[0].Problem, "shows no prompt") {
					t.Fatalf("built %+v", built)
				}
				pane := built.Panes[0].PaneID
				testserver.Run(t, srv, "send-keys", "-t", pane, "y", "Enter")
				testserver.WaitScreen(t, srv, pane, "got=")
				if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", pane); !strings.Contains(screen, "got=y.") {
					t.Errorf("something else was answered:\n%s", screen)
				}
			})
		}
	}
}

// workspaceBuilt is an answer of build_workspace.
type workspaceBuilt struct {
	Panes []struct {
		PaneID  string  `json:"pane_id"`
		Problem *string `json:"problem"`
	} `json:"panes"`
}
