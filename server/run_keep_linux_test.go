package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

const kept = `"keep":true`

// TestKeep: what a command changes in its shell lasts, its output and status are exact, and an
// exit ends nothing else.
func TestKeep(t *testing.T) {
	t.Parallel()
	eachShell(t, len(shells), func(t *testing.T, shell string) {
		_, p := shellPane(t, shell)
		run := func(command string, status int, output ...string) {
			t.Helper()
			got := p.command("%0", command, kept)
			if got.State != "ended" || got.status() != fmt.Sprint(status) || got.LinesMissed || got.Note != "" || !slices.Equal(got.Output, output) {
				t.Errorf("%s: %+v (status %s)", command, got, got.status())
			}
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "inner"), []byte("echo inside\nexit 2\necho unreached\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		process := p.command("%0", "echo $$", kept).Output
		if shell == "fish" {
			process = p.command("%0", "echo $fish_pid", kept).Output
			run("cd "+dir+"; set -gx COLOR 'deep blue'; function greet; echo hello $argv; end; sh -c 'exit 3'", 3)
			run("greet you; echo $COLOR; pwd", 0, "hello you", "deep blue", dir)
			run("echo first; exit 4\necho unreached", 4, "first")
			run("source inner; echo then", 0, "inside", "then") // which ends there
			run("function leave; exit 5; end; leave; echo unreached", 5)
			run("echo $fish_pid", 0, process...)
		} else {
			run("cd "+dir+"; export COLOR='deep blue'; greet() { echo hello \"$1\"; }; alias hi='greet too'; sh -c 'exit 3'", 3)
			run("greet you; hi; echo $COLOR\npwd", 0, "hello you", "hello too", "deep blue", dir)
			run("echo first; exit 4\necho unreached", 4, "first")
			run(". ./inner; echo unreached", 2, "inside")
			run("leave() { exit 5; }; leave; echo unreached", 5)
			run("false || exit; echo unreached", 1)
			run("for i in 1 2; do exit 6; done; echo unreached", 6)
			run("(exit 7); echo $?; x=$(exit 8); echo $?; set -- a b; set -u", 0, "7", "8")
			run(`echo "$# $2"; set +u`, 0, "2 b")
			run("exit 08; echo unreached", 8)
			run("exit 300; echo unreached", 44)
			for _, lock := range []string{"exec 9>lock", "exec 8>lock 9>lock", "echo exec 9\\>lock >locks; . ./locks"} {
				run(lock+"; echo locked; exit 7", 7, "locked")
				run("echo held >&9; exec 8>&- 9>&-", 0)
			}
			run("IFS=_x; exit 9; echo unreached", 9)
			run("unset IFS; PATH=/nowhere", 0)
			run("false || exit; echo unreached", 1)
			run("PATH="+os.Getenv("PATH"), 0)
			run("echo $$", 0, process...)
			run("unset -f leave greet; unalias hi", 0)
			if got := p.command("%0", "set | grep tmux_mcp; alias | grep exit"); len(got.Output) > 0 {
				t.Errorf("left behind: %q", got.Output)
			}
		}
		if got := p.command("%0", "printf %s $COLOR; pwd"); got.status() != "0" || !slices.Equal(got.Output, []string{"deep blue" + dir}) && !slices.Equal(got.Output, []string{"deepblue" + dir}) {
			t.Errorf("a subshell afterwards: %+v", got)
		}
	})
}

// TestKeepDropped: what a shell drops, because of an interrupt or an error, has its status and no
// output that is not its own, and the shell goes on.
func TestKeepDropped(t *testing.T) {
	t.Parallel()
	eachShell(t, len(shells), func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell)
		p.command("%0", "cd /usr", kept)
		waiting, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{
			"pane_id": "%0", "command": "echo begun; /bin/sleep 1000; echo unreached", "keep": true, "timeout": 60,
		}})
		sleeps(t, srv, shell)
		testserver.Run(t, srv, "send-keys", "-t", "%0", "C-c")
		var got ran
		if res := p.toolResult("run_command", p.await(waiting)); json.Unmarshal(res.Structured, &got) != nil || res.IsError {
			t.Fatal(res.text())
		}
		output := slices.DeleteFunc(got.Output, func(line string) bool { return strings.HasPrefix(line, "^C") || strings.TrimSpace(line) == "" })
		if got.status() != "130" || got.State != "ended" || !slices.Equal(output, []string{"begun"}) {
			t.Errorf("an interrupt: %+v (status %s)", got, got.status())
		}
		if shell != "fish" {
			for _, command := range []string{": ${undefined:?is not there}; echo after", "if then fi ); echo after", ". /nowhere/x; false"} {
				if got := p.command("%0", command, kept); got.State != "ended" || got.status() == "0" || got.status() == "none" || len(got.Output) == 0 || slices.Contains(got.Output, "after") {
					t.Errorf("%s: %+v (status %s)", command, got, got.status())
				}
			}
			p.fails("run_command", runArgs("%0", "set -eu; false", kept), "errexit (set -e) would end this shell")
		}
		if got := p.command("%0", "pwd", kept); got.status() != "0" || !slices.Equal(got.Output, []string{"/usr"}) {
			t.Errorf("the shell afterwards: %+v", got)
		}
	})
}

// TestKeepJob: a job that its shell has dropped is lost, nothing records what the user does
// afterwards, and exit means the same as before.
func TestKeepJob(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "dash"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, name)
			got := p.command("%0", "echo begun; /bin/sleep 1000; echo unreached", kept, `"detach":true`)
			if got.State != "running" || got.JobID == "" {
				t.Fatalf("%+v", got)
			}
			job := fmt.Sprintf(`{"job_id":%q}`, got.JobID)
			sleeps(t, srv, name)
			got = ok[ran](p, "cancel_job", job)
			if got.State != "lost" || got.ExitStatus != nil || !strings.Contains(got.Note, "its shell has dropped it") || got.Output[0] != "begun" {
				t.Errorf("%+v", got)
			}
			pipeCloses(t, srv, "%0")
			if got := p.command("%0", "true; exit 3", kept); got.status() != "3" {
				t.Errorf("the next command: %+v", got)
			}
			p.command("%0", "echo left; /bin/sleep 1000", kept, `"detach":true`)
			sleeps(t, srv, name)
			testserver.Run(t, srv, "send-keys", "-t", "%0", "C-c")
			testserver.Wait(t, srv, "%0", "prompt", func() bool { return strings.HasSuffix(screenText(t, srv), "\n$") })
			pipeCloses(t, srv, "%0")
			testserver.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "exit 5", "Enter")
			testserver.WaitScreen(t, srv, "%0", "Pane is dead (status 5")
		})
	}
}

// TestKeepOwnExit: what exit means to the user is the same afterwards.
func TestKeepOwnExit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "zsh", "ksh", "mksh", "dash"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, name)
			show, own := "alias exit", `alias exit='echo "not now"'`
			if name == "bash" || name == "zsh" {
				show, own = "typeset -f exit", "function exit { echo not now; }"
			}
			testserver.Run(t, srv, "send-keys", "-t", "%0", own, "Enter")
			before := p.command("%0", show).Output
			if len(before) == 0 {
				t.Fatalf("%q", before)
			}
			for _, command := range []string{"echo 1", "false; exit 3"} {
				p.command("%0", command, kept)
			}
			if after := p.command("%0", show).Output; !slices.Equal(before, after) {
				t.Error(cmp.Diff(before, after))
			}
		})
	}
}

// TestCwd: a command runs in the directory that the call names, and the shell stays where it is.
func TestCwd(t *testing.T) {
	t.Parallel()
	eachShell(t, len(shells), func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell)
		home := filepath.Join(filepath.Dir(srv.SocketPath()), "home")
		base := t.TempDir()
		for _, name := range []string{"plain", "with blank", "-e", "q'uote\"s", "$HOME`id`\\n", "new\nline", "ünï — 目", "*", "~"} {
			dir := filepath.Join(base, name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			want := strings.Split(dir, "\n")
			if got := p.command("%0", "pwd", `"cwd":`+quoted(dir)); got.status() != "0" || !slices.Equal(got.Output, want) {
				t.Errorf("%q: %+v", name, got)
			}
		}
		if got := p.command("%0", "pwd"); !slices.Equal(got.Output, []string{home}) {
			t.Errorf("afterwards: %q, want %s", got.Output, home)
		}
		if err := os.MkdirAll(filepath.Join(home, "-x/y"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := p.command("%0", "pwd; sh -c 'exit 4'", `"cwd":"-x/y"`); got.status() != "4" || !slices.Equal(got.Output, []string{home + "/-x/y"}) {
			t.Errorf("a relative one: %+v", got)
		}
		for dir, want := range map[string]string{
			"/nowhere/at all": `there is no directory "/nowhere/at all"`, "nowhere": `there is no directory "nowhere"`, "/etc/passwd": `"/etc/passwd" is not a directory`, "/etc/passwd/x": "there is no directory",
		} {
			waitPrompt(t, srv, "%0")
			before := screenText(t, srv)
			p.fails("run_command", runArgs("%0", "echo run", `"cwd":`+quoted(dir)), want)
			if after := screenText(t, srv); after != before {
				t.Errorf("%s: something was typed:\n%s", dir, after)
			}
		}
		p.fails("run_command", runArgs("%0", "pwd", `"cwd":"/"`, kept), "cwd is only for a command without keep")
	})
}

// screenText returns the screen of the first pane.
func screenText(t testing.TB, srv *tmux.Server) string {
	t.Helper()
	return strings.TrimRight(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"), "\n")
}

// sleeps waits until a shell waits for a sleep that its command has started. An interrupt in
// between may be lost on it.
func sleeps(t testing.TB, srv *tmux.Server, shell string) {
	t.Helper()
	testserver.Wait(t, srv, "%0", "sleep", func() bool {
		if shell == "fish" { // which has it in its own process group
			return strings.HasSuffix(screenText(t, srv), "\nbegun")
		}
		return format(t, srv, "%0", "#{pane_current_command}") == "sleep"
	})
}

// TestKeepDroppedByPerson: the shell is asked for the status once the user who has pressed C-c
// pauses; after another line of theirs, it would be that line's.
func TestKeepDroppedByPerson(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"", "true\r", "false\r"} {
		t.Run("then "+strings.TrimSpace(after), func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, "bash")
			waitPrompt(t, srv, "%0")
			waiting, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{
				"pane_id": "%0", "command": "/bin/sleep 1000; echo unreached", "keep": true, "timeout": 60,
			}})
			sleeps(t, srv, "bash")
			user := testserver.Arrive(t, srv, "a")
			user.Type("\x03")
			if after != "" {
				testserver.Wait(t, srv, "%0", "prompt", func() bool { return strings.HasSuffix(screenText(t, srv), "\n$") })
				user.Type(after)
			}
			var got ran
			if res := p.toolResult("run_command", p.await(waiting)); json.Unmarshal(res.Structured, &got) != nil || res.IsError {
				t.Fatal(res.text())
			}
			switch {
			case after == "" && (got.State != "ended" || got.status() != "130"):
				t.Errorf("%+v (status %s)", got, got.status())
			case after != "" && (got.State != "lost" || !strings.Contains(got.Note, "its shell has dropped it")):
				t.Errorf("%+v (status %s)", got, got.status())
			}
			if next := p.command("%0", "echo next", kept, `"timeout":60`); next.status() != "0" || !slices.Equal(next.Output, []string{"next"}) {
				t.Errorf("the next command: %+v", next)
			}
		})
	}
}
