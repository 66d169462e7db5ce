package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// ran is what run_command answers.
type ran struct {
	PaneID       string   `json:"pane_id"`
	JobID        string   `json:"job_id"`
	State        string   `json:"state"`
	Lines        int      `json:"output_lines"`
	Matched      *int     `json:"matched_lines"`
	ExitStatus   *int     `json:"exit_status"`
	TimedOut     bool     `json:"timed_out"`
	PaneGone     bool     `json:"pane_gone"`
	Elapsed      float64  `json:"elapsed_seconds"`
	Output       []string `json:"output"`
	Truncated    bool     `json:"output_truncated"`
	TruncatedBy  int      `json:"output_truncated_lines"`
	LinesMissed  bool     `json:"lines_missed"`
	Note         string   `json:"note"`
	EffectiveFor float64  `json:"effective_timeout"`
}

func (r ran) status() string {
	if r.ExitStatus == nil {
		return "none"
	}
	return fmt.Sprint(*r.ExitStatus)
}

// command runs a command in a pane, with further arguments in JSON.
func (p *peer) command(pane, command string, more ...string) ran {
	p.t.Helper()
	return ok[ran](p, "run_command", runArgs(pane, command, more...))
}

func runArgs(pane, command string, more ...string) string {
	text, _ := json.Marshal(command)
	return fmt.Sprintf(`{"pane_id":%q,"command":%s%s}`, pane, text, strings.Join(append([]string{""}, more...), ","))
}

// shells are how the shells are started, without anyone's settings.
var shells = []struct{ name, start string }{
	{"bash", "PS1='$ ' bash --norc --noprofile -i"},
	{"zsh", "PS1='%# ' zsh -f"},
	{"dash", "PS1='$ ' dash"},
	{"sh", "PS1='$ ' sh"},
	{"fish", "fish"},
	{"ksh", "PS1='$ ' ksh"},
	{"mksh", "PS1='$ ' mksh"},
	{"busybox", "PS1='$ ' busybox sh"},
}

func shellStart(t testing.TB, name string) string {
	t.Helper()
	testtool.Path(t, name)
	for _, s := range shells {
		if s.name == name {
			return "exec env " + strings.Replace(s.start, "exec ", "", 1)
		}
	}
	t.Fatalf("no way to start %s", name)
	return ""
}

// shellPane starts a server with one pane that runs a shell, and a client.
func shellPane(t testing.TB, name string, options ...string) (*tmux.Server, *peer) {
	t.Helper()
	start := shellStart(t, name)
	srv := tmuxtest.New(t)
	quietFish(t, srv)
	list := []tmux.Command{tmux.StartServer{}}
	for i := 0; i < len(options); i += 2 {
		list = append(list, tmux.SetOption{Global: true, Name: options[i], Value: &options[i+1]})
	}
	if _, err := srv.Do(tmuxtest.Context(t), append(list, tmux.NewSession{Detached: true, Name: "a", Dir: filepath.Join(filepath.Dir(srv.SocketPath()), "home"), Width: 80, Height: 24, Command: []string{start}})...); err != nil {
		t.Fatal(err)
	}
	return srv, serve(t, configFor(srv))
}

// quietFish keeps the first fish of a home from reading all manual pages.
func quietFish(t testing.TB, srv *tmux.Server) {
	t.Helper()
	quietFishIn(t, filepath.Join(filepath.Dir(srv.SocketPath()), "home", ".local/share"))
}

// quietFishIn is quietFish for a directory of user data.
func quietFishIn(t testing.TB, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(data, "fish/generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// eachShell runs a test in every shell; by default in bash and two others, which differ from test
// to test.
func eachShell(t *testing.T, test func(t *testing.T, shell string)) {
	for i, s := range shells {
		if n := len(t.Name()); !testtool.Full && i > 0 && i != 1+n%7 && i != 1+(n+3)%7 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s.name)
		})
	}
}

func numbers(from, to int) []string {
	var lines []string
	for i := from; i <= to; i++ {
		lines = append(lines, fmt.Sprint(i))
	}
	return lines
}

func TestRunCommandReturnsTheOutputAndTheStatus(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell)
		posix := shell != "fish"
		tty := tmuxtest.Run(t, srv, "display-message", "-p", "#{pane_tty}")
		for _, c := range []struct {
			name, command string
			want          []string
			status        int
			posix, missed bool // not for fish; lines_missed
		}{
			{name: "a word", command: "echo hello", want: []string{"hello"}},
			{name: "failure", command: "false", status: 1},
			{name: "exit", command: "echo a; exit 3", want: []string{"a"}, status: 3},
			{name: "the shell lives on", command: "echo b", want: []string{"b"}},
			{name: "a signal", command: "sh -c 'kill -9 $$' 2>/dev/null; exit 9", status: 9},
			{name: "set -e", command: "set -e; false; echo no", status: 1, posix: true},
			{name: "errors as the terminal merged them", command: "echo out; echo err >&2; echo out", want: []string{"out", "err", "out"}},
			{name: "more than the screen and the history", command: "seq 1 5000", want: numbers(1, 5000)},
			{name: "no newline at the end", command: "printf 'a\\nb'", want: []string{"a", "b"}},
			{name: "blanks and empty lines at the end", command: "printf 'a  \\n\\n\\n'", want: []string{"a", "", ""}},
			{name: "nothing", command: "true"},
			{name: "a comment at the end", command: "echo a # comment", want: []string{"a"}},
			{name: "only a comment", command: "# nothing"},
			{name: "several lines", command: "echo a\necho b\n\necho c", want: []string{"a", "b", "c"}},
			{name: "lines of Windows", command: "echo a\r\necho b\r\n", want: []string{"a", "b"}},
			{name: "a heredoc", command: "cat <<'X'\n$HOME `x` 'y\nX", want: []string{"$HOME `x` 'y"}, posix: true},
			{name: "a loop over lines", command: "for i in 1 2\ndo\necho $i\ndone", want: []string{"1", "2"}, posix: true},
			{name: "quotes", command: `printf '%s\n' "it's" 'a"b' \\ ';'`, want: []string{"it's", `a"b`, `\`, ";"}},
			{name: "formats of tmux", command: `printf '%s\n' '#{pane_id} #(date) %Y'`, want: []string{"#{pane_id} #(date) %Y"}},
			{name: "a line longer than the terminal", command: "printf '%0300d\\n' 7", want: []string{strings.Repeat("0", 299) + "7"}},
			{name: "tabs", command: `printf 'a\tb\n'`, want: []string{"a\tb"}},
			{name: "colours", command: `printf '\033[31mred\033[m\n'`, want: []string{"red"}},
			{name: "a progress bar", command: `printf '1%%\r50%%\r100%%\n'`, want: []string{"100%"}},
			{name: "a terminal", command: "test -t 0 && test -t 1 && test -t 2 && tty", want: []string{tty}},
			{name: "a cleared screen", command: `echo a; printf '\033[H\033[2J\033[3J'; echo b`, want: []string{"a", "b"}, missed: true},
			{name: "PATH", command: "PATH=/nowhere; true", posix: true},
			{name: "a command that is not there", command: "no-such-program 2>/dev/null", status: 127, posix: true},
			{name: "a long command", command: "echo " + strings.Repeat("x", 40_000) + " | wc -c | tr -d ' '", want: []string{"40001"}},
			{name: "words of tmux", command: "echo 's=0; tmux set-option -p @s_0123456789 1; wait-for -S r_0123456789'",
				want: []string{"s=0; tmux set-option -p @s_0123456789 1; wait-for -S r_0123456789"}},
		} {
			if c.posix && !posix {
				continue
			}
			got := p.command("%0", c.command)
			if diff := cmp.Diff(append([]string{}, c.want...), got.Output); diff != "" || got.status() != fmt.Sprint(c.status) {
				t.Errorf("%s: exit status %s, want %d; output (-want +have):\n%s", c.name, got.status(), c.status, diff)
			}
			if got.TimedOut || got.PaneGone || got.LinesMissed != c.missed || got.Truncated || got.PaneID != "%0" || got.EffectiveFor != 30 {
				t.Errorf("%s: %+v", c.name, got)
			}
		}
	})
}

// TestRunCommandIsASubshell: nothing that a command does to its shell comes back.
func TestRunCommandIsASubshell(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		srv, p := shellPane(t, shell)
		set, show := "e=x; s=x; export E=x; set -e; set -u; trap 'echo trapped' EXIT; cd /", `printf '%s\n' "<$e$s$E>" "$PWD"`
		if shell == "fish" {
			set = "set -gx E x; set -g s x; cd /"
		}
		p.command("%0", set)
		// In the shell itself, not in a subshell of it.
		typeCommand(t, srv, "%0", show)
		screen := tmuxtest.WaitScreen(t, srv, "%0", "\n<>\n")
		if strings.Contains(screen, "<>\n/\n") {
			t.Errorf("the shell was changed:\n%s", screen)
		}
	})
}

// typeLine types a line into a pane.
func typeLine(t testing.TB, srv *tmux.Server, pane, text string) {
	t.Helper()
	if err := srv.Pane(tmux.PaneID(pane)).SendLine(tmuxtest.Context(t), text); err != nil {
		t.Fatal(err)
	}
}

// typeCommand types a line at a shell's prompt as a user would.
func typeCommand(t testing.TB, srv *tmux.Server, pane, text string) {
	t.Helper()
	waitPrompt(t, srv, pane)
	typeLine(t, srv, pane, text)
}

// waitPrompt waits for the prompt of a shell.
func waitPrompt(t testing.TB, srv *tmux.Server, pane string) {
	t.Helper()
	tmuxtest.Wait(t, srv, pane, "prompt", func() bool {
		screen := strings.TrimSpace(tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", pane))
		return screen != "" && strings.ContainsAny(screen[len(screen)-1:], "$#%>")
	})
}
