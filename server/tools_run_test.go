package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
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
	Reached      string   `json:"reached"`
	ReachedLine  string   `json:"reached_line"`
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

// shells are how shells are started without any user's settings.
var shells = []struct{ name, start string }{
	{"bash", "PS1='$ ' bash --norc --noprofile -i"},
	{"zsh", "PS1='%# ' zsh -f"},
	{"fish", "fish"},
	{"dash", "PS1='$ ' dash"},
	{"sh", "PS1='$ ' sh"},
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
	srv := testserver.New(t)
	quietFish(t, srv)
	list := []tmux.Command{tmux.StartServer{}}
	for i := 0; i < len(options); i += 2 {
		list = append(list, tmux.SetOption{Global: true, Name: options[i], Value: &options[i+1]})
	}
	if _, err := srv.Do(testserver.Context(t), append(list, tmux.NewSession{Detached: true, Name: "a", Dir: filepath.Join(filepath.Dir(srv.SocketPath()), "home"), Width: 80, Height: 24, Command: []string{start}})...); err != nil {
		t.Fatal(err)
	}
	return srv, serve(t, configFor(srv))
}

// quietFish keeps the first fish in a home from reading all manual pages.
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

// eachShell runs a test in every shell; by default in the first few.
func eachShell(t *testing.T, few int, test func(t *testing.T, shell string)) {
	for _, s := range shells[:testtool.Size(few, len(shells))] {
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

// gate is a file that a command in a pane waits for.
type gate string

func newGate(t testing.TB) gate { return gate(filepath.Join(t.TempDir(), "gate")) }

// wait returns a command that waits until the gate is open.
func (g gate) wait() string { return "until [ -e " + string(g) + " ]; do sleep 0.05; done" }

func (g gate) open(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(string(g), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// running begins a call of run_command.
func (p *peer) running(pane, command string) (c <-chan reply, id string) {
	p.t.Helper()
	return p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"pane_id": pane, "command": command}})
}

// job asks for a job, with further arguments in JSON.
func (p *peer) job(id string, more ...string) ran {
	p.t.Helper()
	return ok[ran](p, "get_job", `{"job_id":"`+id+`"`+strings.Join(append([]string{""}, more...), ",")+`}`)
}

// expect runs a command that must succeed and print some lines.
func (p *peer) expect(pane, command string, want ...string) {
	p.t.Helper()
	got := p.command(pane, command)
	if diff := cmp.Diff(append([]string{}, want...), got.Output); diff != "" || got.status() != "0" || got.LinesMissed {
		p.t.Errorf("%s: exit status %s, lines missed is %t; output (-want +have):\n%s", command, got.status(), got.LinesMissed, diff)
	}
}

// pipeCloses waits until a pane has no pipe.
func pipeCloses(t testing.TB, srv *tmux.Server, pane string) {
	t.Helper()
	testserver.Wait(t, srv, pane, "pipe that is closed", func() bool { return format(t, srv, pane, "#{pane_pipe}") == "0" })
}

// shellUser is somebody who uses one shell for several tests.
type shellUser struct {
	*testing.T
	*peer
	shell  string
	srv    *tmux.Server
	server *server.Server
}

func newShellUser(t *testing.T, shell string) shellUser {
	t.Helper()
	srv, _ := shellPane(t, shell)
	s, p := promptly(t, srv)
	return shellUser{t, p, shell, srv, s}
}

// soon makes the server wait little for output of what has ended, for as long as do runs.
func (u shellUser) soon(do func()) {
	defer u.server.SetMarkWait(u.server.SetMarkWait(200 * time.Millisecond))
	do()
}

// TestRunCommandInEachShell plays all of it in one pane of each shell: what a command
// leaves behind would disturb the next.
func TestRunCommandInEachShell(t *testing.T) {
	t.Parallel()
	eachShell(t, 2, func(t *testing.T, shell string) {
		u := newShellUser(t, shell)
		for _, part := range []struct {
			name string
			play func(u shellUser)
		}{
			{"pipe", shellUser.pipe}, {"output", shellUser.output}, {"subshell", shellUser.subshell}, {"interrupt", shellUser.interrupt},
			{"detach", shellUser.detach}, {"cancel", shellUser.cancel},
		} {
			t.Run(part.name, func(t *testing.T) {
				u.T, u.t = t, t
				part.play(u)
			})
		}
	})
}

// output: a command's output, status, and whether lines are missed.
func (u shellUser) output() {
	tty := format(u, u.srv, "%0", "#{pane_tty}")
	for _, c := range []struct {
		name, command string
		want          []string
		status        int
		posix, missed bool // not for fish; lines_missed
	}{
		{name: "a word", command: "echo hello", want: []string{"hello"}},
		{name: "failure", command: "false", status: 1},
		{name: "exit", command: "echo a; exit 3", want: []string{"a"}, status: 3},
		{name: "a signal", command: "sh -c 'kill -9 $$' 2>/dev/null; exit 9", status: 9},
		{name: "set -e", command: "set -e; false; echo no", status: 1, posix: true},
		{name: "errors as the terminal merged them", command: "echo out; echo err >&2; echo out", want: []string{"out", "err", "out"}},
		{name: "more than the screen and the history", command: "seq 1 5000", want: numbers(1, 5000)},
		{name: "no newline at the end", command: "printf 'a\\nb'", want: []string{"a", "b"}},
		{name: "blanks", command: "printf '\\n a  \\nb\\t\\n \\n\\n'", want: []string{"", " a  ", "b\t", " ", ""}},
		{name: "only blanks", command: "printf '  '", want: []string{"  "}},
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
		{name: "as the terminal shows it", command: `printf '\033[31mred\033[m\n1%%\r50%%\r100%%\na\tb\n'`, want: []string{"red", "100%", "a\tb"}},
		{name: "a terminal", command: "test -t 0 && test -t 1 && test -t 2 && tty", want: []string{tty}},
		{name: "a cleared screen", command: `echo a; printf '\033[H\033[2J\033[3J'; echo b`, want: []string{"a", "b"}, missed: true},
		{name: "PATH", command: "PATH=/nowhere; true", posix: true},
		{name: "a command that is not there", command: "no-such-program 2>/dev/null", status: 127, posix: true},
		{name: "a long command", command: "echo " + strings.Repeat("x", 40_000) + " | wc -c | tr -d ' '", want: []string{"40001"}},
	} {
		if c.posix && u.shell == "fish" {
			continue
		}
		got := u.command("%0", c.command)
		if diff := cmp.Diff(append([]string{}, c.want...), got.Output); diff != "" || got.status() != fmt.Sprint(c.status) {
			u.Errorf("%s: exit status %s, want %d; output (-want +have):\n%s", c.name, got.status(), c.status, diff)
		}
		if got.TimedOut || got.PaneGone || got.LinesMissed != c.missed || got.Truncated || got.PaneID != "%0" || got.EffectiveFor != 30 {
			u.Errorf("%s: %+v", c.name, got)
		}
	}
}

// subshell: nothing that a command does to its shell comes back.
func (u shellUser) subshell() {
	set, show := "e=x; s=x; export E=x; set -e; set -u; trap 'echo trapped' EXIT; cd /", `printf '%s\n' "<$e$s$E>" "$PWD"`
	if u.shell == "fish" {
		set = "set -gx E x; set -g s x; cd /"
	}
	u.command("%0", set)
	// In the shell itself, not in a subshell of it.
	typeCommand(u, u.srv, "%0", show)
	if screen := testserver.WaitScreen(u, u.srv, "%0", "\n<>\n"); strings.Contains(screen, "<>\n/\n") {
		u.Errorf("the shell was changed:\n%s", screen)
	}
}

// interrupt: Ctrl-C in the pane ends the command, and no more. A wait does not take the
// command, which the screen shows, for its output.
func (u shellUser) interrupt() {
	job := u.command("%0", "sleep 0.5\necho SERVER READY; sh -c 'exec sleep 300'", `"detach":true`)
	got := ok[awaited](u.peer, "wait_for_text", `{"pane_id":"%0","patterns":["SERVER READY"],"timeout":60}`)
	if got.Outcome != "matched" || len(got.Matched) != 1 || got.Matched[0] != "SERVER READY" {
		u.Errorf("%+v", got)
	}
	runs(u, u.srv, "%0", "sleep") // fish may miss an interrupt while it starts a program
	testserver.Run(u, u.srv, "send-keys", "-t", "%0", "C-c")
	want := "130"
	if u.shell == "ksh" { // what its own subshells say
		want = "2"
	}
	if got := u.job(job.JobID, `"timeout":60`); got.status() != want {
		u.Errorf("%+v", got)
	}
	u.expect("%0", "echo usable", "usable")
}

// detach: a job can be asked for while it runs, and when it has ended.
func (u shellUser) detach() {
	g := newGate(u)
	bar := `printf '0%%'; for i in 1 2 3; do printf "\r${i}0%%"; done; printf '\r100%%\n'; ` + g.wait() + `; echo done; exit 5`
	if u.shell == "fish" {
		bar = "sh -c " + tmux.ShellQuote(bar)
	}
	job := u.command("%0", bar, `"detach":true`)
	if job.State != "running" || job.JobID == "" || job.ExitStatus != nil || job.TimedOut {
		u.Fatalf("%+v", job)
	}
	testtool.Eventually(u, "the bar is full", func() bool { return fmt.Sprint(u.job(job.JobID).Output) == "[100%]" })
	if got := u.job(job.JobID, `"timeout":0.1`); got.State != "running" || !got.TimedOut {
		u.Errorf("while it runs: %+v", got)
	}
	if got := ok[rows](u.peer, "list_jobs", `{}`); got.Result[0]["state"] != "running" || got.Result[0]["job_id"] != job.JobID {
		u.Errorf("the jobs are %v", got)
	}
	g.open(u)
	got := u.job(job.JobID, `"timeout":30`)
	// At once, while its recorder still has the pipe.
	u.expect("%0", "echo next", "next")
	for range 2 {
		if fmt.Sprint(got.Output) != "[100% done]" || got.status() != "5" || got.State != "ended" || got.LinesMissed || got.Elapsed <= 0 {
			u.Errorf("%+v", got)
		}
		got = u.job(job.JobID)
	}
	if got := ok[rows](u.peer, "list_jobs", `{}`); got.Result[0]["state"] != "ended" {
		u.Errorf("the jobs are %v", got)
	}
}

// cancel: a job is interrupted, or killed if it goes on.
func (u shellUser) cancel() {
	cancel := func(id, more string) ran {
		u.Helper()
		return ok[ran](u.peer, "cancel_job", `{"job_id":"`+id+`"`+more+`}`)
	}
	interrupted, killed := "130", "137"
	if u.shell == "ksh" { // what its own subshells say
		interrupted = "2"
	}
	job := u.command("%0", "echo begun; env sleep 300; echo not-here", `"detach":true`) // ksh has a sleep of its own
	runs(u, u.srv, "%0", "sleep")
	got := cancel(job.JobID, "")
	if got.State != "ended" || got.status() != interrupted || strings.Contains(fmt.Sprint(got.Output), "not-here") {
		u.Errorf("interrupted: %+v", got)
	}
	u.expect("%0", "echo usable", "usable")
	// ksh runs this loop in the process that runs the command.
	loop := "echo begun; while :; do sleep 1; done"
	if u.shell == "fish" {
		loop = "echo begun; while true; sleep 1; end"
	}
	job = u.command("%0", loop, `"detach":true`)
	testtool.Eventually(u, "the loop has begun", func() bool { return len(u.job(job.JobID).Output) > 0 })
	cancel(job.JobID, `,"signal":"TERM"`)
	if got := u.job(job.JobID, `"timeout":60`); got.State != "ended" || got.status() == "0" {
		u.Errorf("a loop: %+v", got)
	}
	u.expect("%0", "echo usable", "usable")
	// An interrupt kills the shell itself if it does not wait for sh yet.
	job = u.command("%0", `sh -c 'trap "echo no" INT; sleep 0.1; echo trapped; while :; do sleep 0.1; done'`, `"detach":true`)
	testtool.Eventually(u, "sh has set its trap, and its shell waits for it", func() bool { return len(u.job(job.JobID).Output) > 0 })
	if u.shell == "bash" || u.shell == "zsh" { // the others do not wait for what goes on after an interrupt
		if got = cancel(job.JobID, ""); got.State != "running" {
			u.Errorf("what goes on after an interrupt: %+v", got)
		}
	}
	if got = cancel(job.JobID, `,"signal":"KILL"`); got.State != "ended" || got.status() != killed {
		u.Errorf("killed: %s, %+v", got.status(), got)
	}
	u.expect("%0", "echo usable", "usable")
	if again := cancel(job.JobID, ""); again.status() != killed {
		u.Errorf("cancelled again: %+v", again)
	}
	u.expect("%0", "echo usable", "usable")
}

// pipe: a pane's pipe that is the user's is left alone. Then the output is read off the
// screen.
func (u shellUser) pipe() {
	log, g := filepath.Join(u.TempDir(), "log"), newGate(u)
	testserver.Run(u, u.srv, "pipe-pane", "-t", "%0", "exec cat >"+log)
	u.expect("%0", "echo a; printf 'b\\n\\n'", "a", "b", "")
	u.expect("%0", "printf 'a long line: %060d'  7", "a long line: "+strings.Repeat("0", 59)+"7")
	u.expect("%0", "true")
	if got := u.command("%0", "false"); got.status() != "1" {
		u.Errorf("%+v", got)
	}
	var got ran
	u.soon(func() { got = u.command("%0", "seq 1 5000") })
	if n := len(got.Output); !got.LinesMissed || n < 50 || got.Output[n-1] != "5000" || got.status() != "0" {
		u.Errorf("more than the history holds: %+v", got)
	}
	job := u.command("%0", "sh -c 'echo piped; "+g.wait()+"'", `"detach":true`)
	testserver.WaitScreen(u, u.srv, "%0", "\npiped")
	if got = u.job(job.JobID, `"timeout":0.01`); !got.TimedOut || fmt.Sprint(got.Output) != "[piped]" {
		u.Errorf("%+v", got)
	}
	g.open(u)
	u.soon(func() { got = u.job(job.JobID, `"timeout":60`) })
	if got.status() != "0" || fmt.Sprint(got.Output) != "[piped]" {
		u.Errorf("%+v", got)
	}
	if format(u, u.srv, "%0", "#{pane_pipe}") != "1" {
		u.Error("the pipe was closed")
	}
	testtool.Eventually(u, "the pipe works", func() bool { b, _ := os.ReadFile(log); return strings.Contains(string(b), "5000") })
	if u.shell != "fish" { // has no set -x
		typeCommand(u, u.srv, "%0", "set -x; echo set")
		testserver.WaitScreen(u, u.srv, "%0", "\nset")
		out := strings.Join(u.command("%0", "echo b").Output, "\n")
		if strings.Contains(out, "/tmux-mcp-") && !strings.Contains(out, "/command:") || !strings.Contains(out, "echo b\nb") {
			u.Errorf("what set -x shows of our own is in the output:\n%s", out)
		}
		typeCommand(u, u.srv, "%0", "set +x")
	}
	testserver.Run(u, u.srv, "pipe-pane", "-t", "%0")
}

// TestRunCommandTakesBinaryNoise: bytes that are no text, and the beginnings of sequences
// that are left open.
func TestRunCommandTakesBinaryNoise(t *testing.T) {
	t.Parallel()
	eachShell(t, 1, func(t *testing.T, shell string) { newShellUser(t, shell).noise() })
}

func (u shellUser) noise() {
	noise := filepath.Join(u.TempDir(), "noise")
	var bytes []byte
	for i := range 256 * 64 {
		bytes = append(bytes, byte(i*7+i/256))
	}
	bytes = append(bytes, "\x1b]0;title\x1bP1$r\x1b[12\xe2"...)
	if err := os.WriteFile(noise, bytes, 0o600); err != nil {
		u.Fatal(err)
	}
	var got ran
	u.soon(func() { got = u.command("%0", "cat "+noise+"; false") })
	if got.status() != "1" || len(got.Output) < 10 || !got.LinesMissed {
		u.Errorf("exit status %s, %d lines of output", got.status(), len(got.Output))
	}
	u.server.SetPromptWait(2 * time.Second)                                            // what the terminal answered to the noise is on the line, where a prompt is waited for
	got = u.command("%0", "cat "+noise+"; printf '\\030\\033[r\\033[999;1H\\nend\\n'") // CAN ends the sequence, and the noise may have moved the cursor up
	if n := len(got.Output); n == 0 || got.Output[n-1] != "end" {
		u.Errorf("after noise the output does not end in its end: %q", got.Output[max(0, n-2):])
	}
	u.expect("%0", "echo clean", "clean")
}

// typeLine types a line into a pane.
func typeLine(t testing.TB, srv *tmux.Server, pane, text string) {
	t.Helper()
	if err := srv.Pane(tmux.PaneID(pane)).SendLine(testserver.Context(t), text); err != nil {
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
	testserver.Wait(t, srv, pane, "prompt", func() bool {
		screen := strings.TrimSpace(testserver.Run(t, srv, "capture-pane", "-p", "-t", pane))
		return screen != "" && strings.ContainsAny(screen[len(screen)-1:], "$#%>")
	})
}
