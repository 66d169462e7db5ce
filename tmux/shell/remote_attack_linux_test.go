package shell_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
	"tmuxmcp/tmux/shell"
)

// attacked is a pane with a remote shell.
type attacked struct {
	t      *testing.T
	pane   tmux.PaneRef
	dir    string
	runner *shell.Runner
	mu     sync.Mutex
	typed  []string
	// after, if set, is called after the line with this number, from 1, was typed.
	after func(n int)
}

// attack returns a pane that runs a command.
func attack(t *testing.T, command string) *attacked {
	t.Helper()
	a := &attacked{t: t, dir: tempDir(t), runner: &shell.Runner{}}
	t.Cleanup(a.runner.Close)
	a.pane = inShell(t, command)
	endAll(t, a.pane.Server())
	t.Cleanup(func() {
		if t.Failed() {
			shown, err := a.pane.Capture(context.Background(), tmux.CapturePane{})
			t.Logf("the screen at the end: %v\n%s", err, bytes.TrimRight(shown, "\n"))
		}
	})
	return a
}

// endAll has everything end with the test that was started in a tmux server, and all below that:
// script outlives its terminal.
func endAll(t *testing.T, srv *tmux.Server) {
	t.Helper()
	t.Cleanup(func() {
		all := procstat.All()
		var end []int
		for _, p := range all {
			env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
			if bytes.Contains(env, []byte("TMUX="+srv.SocketPath()+",")) {
				end = append(end, p.PID)
			}
		}
		for i := 0; i < len(end); i++ {
			for _, p := range all {
				if p.Parent == end[i] && !slices.Contains(end, p.PID) {
					end = append(end, p.PID)
				}
			}
		}
		for _, pid := range end {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// behind returns a pane with a relay that runs in a local shell, which then keeps a log of what
// it runs.
func behind(t *testing.T, r relay) *attacked {
	t.Helper()
	a := &attacked{t: t, dir: tempDir(t), runner: &shell.Runner{}}
	t.Cleanup(a.runner.Close)
	r.Child = a.path("child")
	script := "relay() { " + r.line(t) + "; trap 'printf \"%s\\n\" \"$BASH_COMMAND\" >>" + a.path("local") + "' DEBUG; }\n"
	ok(t, os.WriteFile(a.path("rc"), []byte("PS1='local$ '\n"+script), 0o600))
	a.pane = inShell(t, "exec bash --noprofile --rcfile "+a.path("rc"))
	testserver.WaitScreen(t, a.pane.Server(), "%0", "local$")
	testserver.Run(t, a.pane.Server(), "send-keys", "-t", "%0", "relay", "Enter")
	testtool.Eventually(t, "remote prompt", func() bool {
		lines := strings.Split(strings.TrimSpace(a.screen()), "\n")
		last := lines[len(lines)-1]
		_, err := os.Stat(r.Child)
		return err == nil && len(lines) > 1 && (strings.HasSuffix(last, "$") || strings.HasSuffix(last, "#") || strings.HasSuffix(last, ">"))
	})
	return a
}

// tempDir returns a directory whose name needs no quotes.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ra")
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (a *attacked) path(name string) string { return filepath.Join(a.dir, name) }

// command returns a command that counts how often it has run.
func (a *attacked) command() string { return "echo ran >>" + a.path("ran") + "; echo out" }

// ran returns how often it has.
func (a *attacked) ran() int {
	text, _ := os.ReadFile(a.path("ran"))
	return bytes.Count(text, []byte("ran\n"))
}

func (a *attacked) screen() string {
	return testserver.Run(a.t, a.pane.Server(), "capture-pane", "-t", "%0", "-p")
}

// typist types, and keeps what.
func (a *attacked) typist(ctx context.Context, pane tmux.PaneID, _ []string, commands []tmux.Command) (row int, sent bool, err error) {
	var b tmux.Batch
	panes := tmux.AddRows[prompt.Pane](&b, tmux.DisplayMessage{Target: pane})
	tmux.Add(&b, tmux.Require{Target: pane, Condition: prompt.Takes("1")})
	a.mu.Lock()
	for _, cmd := range commands {
		if set, is := cmd.(tmux.SetBuffer); is {
			a.typed = append(a.typed, *set.Data)
		}
		tmux.Add(&b, cmd)
	}
	n := len(a.typed)
	a.mu.Unlock()
	err = b.Do(ctx, a.pane.Server())
	if len(*panes) > 0 {
		row = (*panes)[0].Row()
		if errors.Is(err, tmux.ErrUnmet) {
			return row, false, err
		}
	}
	if a.after != nil {
		a.after(n)
	}
	return row, true, err
}

func (a *attacked) run(ctx context.Context, remote string, command string) (*shell.Result, error) {
	return a.runner.Run(ctx, a.pane, command, shell.Options{Remote: shell.Remote(remote), Type: a.typist})
}

// onlyLoader fails if more was typed than the loader, which may be typed again once it is deleted,
// and Enter.
func (a *attacked) onlyLoader() {
	a.t.Helper()
	last := len(a.typed) - 1
	for i, text := range a.typed {
		loader := strings.HasPrefix(strings.TrimPrefix(text, "x"), "\x15 ") && !strings.ContainsAny(text[2:], "\r\n\x1b\x07\x03")
		switch {
		case loader && (i == 0 || i == 2), text == "\x15" && i > 0, text == "\r" && i > 0 && i == last:
		default:
			a.t.Errorf("typed %q", a.typed)
			return
		}
	}
}

// clean fails if anything stays behind of calls that have returned; jobs is how many are kept.
func (a *attacked) clean(jobs int) {
	a.t.Helper()
	a.runner.Close()
	srv := a.pane.Server()
	testtool.Eventually(a.t, "closed pipe", func() bool {
		out, err := exec.Command(srv.Binary(), "-S", srv.SocketPath(), "display-message", "-p", "-t", "%0", "#{pane_pipe}").Output()
		return err != nil || strings.TrimSpace(string(out)) != "1"
	})
	testtool.Eventually(a.t, "removed files", func() bool {
		found, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "tmux-mcp", "j*", "job"))
		kept := 0
		for _, name := range found {
			if text, _ := os.ReadFile(name); bytes.Contains(text, []byte(strconv.Quote(srv.SocketPath()))) {
				kept++
			}
		}
		return kept <= jobs
	})
}

// gone waits for the end of everything behind the relay.
func (a *attacked) gone() {
	a.t.Helper()
	text, err := os.ReadFile(a.path("child"))
	ok(a.t, err)
	pid, err := strconv.Atoi(string(text))
	ok(a.t, err)
	testtool.Eventually(a.t, "end of the remote shell", func() bool {
		for _, p := range procstat.Sessions([]int{pid})[pid] {
			if now, err := procstat.Of(p); err == nil && now.State != 'Z' {
				return false
			}
		}
		return true
	})
}

// once checks what a call returned against how often the command has run.
func (a *attacked) once(what string, res *shell.Result, err error) (state string) {
	a.t.Helper()
	n := a.ran()
	switch {
	case err == nil:
		if state = "ended"; n != 1 || res.Output != "out\n" || res.State != shell.Ended || res.Missed {
			a.t.Errorf("%s: ran %d times: %+v", what, n, res)
		}
	case res == nil:
		if state = "nothing has run"; n != 0 {
			a.t.Errorf("%s: ran %d times, but %v", what, n, err)
		}
	default:
		if state = "may have run"; n > 1 || res.State == shell.Ended && n != 1 {
			a.t.Errorf("%s: ran %d times: %+v, %v", what, n, res, err)
		}
	}
	return state
}

// What is no shell gets no more than C-u, the loader and Enter, and runs nothing of it.
func TestRemoteNoShell(t *testing.T) {
	t.Parallel()
	const (
		nothing = ""
		typed   = "\x15" // the loader, which C-u then deletes
		entered = "\r"
	)
	script := func(command string) string { return "script -qfc " + tmux.ShellQuote(command) + " /dev/null" }
	for _, c := range []struct {
		name, program, shows string
		after                string // the loader
	}{
		{"vim", "vim -u NONE -i NONE", "~", nothing},
		{"vi", "vi -u NONE -i NONE", "~", nothing},
		{"less", "less /etc/passwd", "root", nothing},
		{"less without a screen", "LESS=-X less /etc/passwd", "root", nothing},
		{"more", "yes '$ ' | head -90 >$DIR/f; more $DIR/f", "More", nothing},
		{"man", "man -P less man", "MAN", nothing},
		{"top", "top", "PID", nothing},
		{"gdb", "gdb -q -nx", "(gdb)", nothing},
		{"sqlite3", "sqlite3", "sqlite>", nothing},
		{"python3", "python3 -q", ">>>", nothing},
		{"python3 with another prompt", `python3 -qic 'import sys; sys.ps1="$ "'`, "$", nothing},
		{"bc", "printf '$ '; bc -q", "$", nothing},
		{"ed", "ed -p '$ '", "$", nothing},
		{"tclsh", "tclsh", "%", nothing},
		{"node", "node", ">", nothing},
		{"cat", "printf '$ '; cat", "$", nothing},
		{"sleep", "printf '$ '; sleep 1000", "$", nothing},
		{"read", `bash --norc --noprofile -c 'read -p "$ " x; eval "$x"'`, "$", nothing},
		{"read -e", `bash --norc --noprofile -c 'read -ep "$ " x; eval "$x"'`, "$", nothing},
		{"password", "stty -echo; printf '$ '; read x; eval \"$x\"", "$", nothing},
		{"question", "printf 'Go on (y/n)? '; read x", "?", nothing},
		{"ftp", "printf 'ftp> '; read x", "ftp>", nothing},
		{"shell", "exec env PS1='$ ' bash --norc --noprofile", "$", nothing},
		{"echoes", relay{Says: "$ ", Echo: "all", Input: "INPUT"}.line(t), "$", typed},
		{"echoes nothing", relay{Says: "$ ", Input: "INPUT"}.line(t), "$", typed},
		{"echoes other text", relay{Says: "$ ", Echo: "upper", Input: "INPUT"}.line(t), "$", typed},
		{"script cat", script(`cat`), "", nothing},
		{"script cat with a prompt", script(`printf "\$ "; cat`), "$", entered},
		{"script sleep", script(`printf "\$ "; sleep 1000`), "$", entered},
		{"script vim", script("vim -u NONE -i NONE"), "~", nothing},
		{"script less", script("LESS=-X less /etc/passwd"), "root", nothing},
		{"script gdb", script("gdb -q -nx"), "(gdb)", nothing},
		{"script sqlite3", script("sqlite3"), "sqlite>", nothing},
		{"script python3", script("python3 -q"), ">>>", nothing},
		{"script python3 with another prompt", script(`python3 -qic 'import sys; sys.ps1="$ "'`), "$", entered},
		{"script bc", script(`printf "\$ "; bc -q`), "$", typed},
		{"script ed", script(`ed -p '$ '`), "$", entered},
		{"script tclsh", script("tclsh"), "%", entered},
		{"script node", script("node"), ">", nothing},
		{"script password", script(`stty -echo; printf "Password: "; read x; eval "$x"`), ":", nothing},
		{"script password with a prompt", script(`stty -echo; printf "\$ "; read x`), "$", typed},
		{"script question", script(`printf "Go on (y/n)? "; read x; eval "$x"`), "?", nothing},
		{"script ftp", script(`printf "ftp> "; read x`), "ftp>", nothing},
		{"script continuation", script(`printf "> "; read x`), ">", nothing},
		{"script tmux", script("tmux -L $SOCKET -f /dev/null new-session 'PS1=\"$ \" exec bash --norc --noprofile'"), "$", nothing},
	} {
		if c.after != nothing && strings.HasPrefix(c.name, "script ") && c.name != "script cat with a prompt" && !testtool.Full {
			continue // it takes five seconds
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(c.program)
			for _, name := range []string{"script", "vim", "vi", "less", "more", "man", "top", "gdb", "sqlite3", "python3", "bc", "ed", "tclsh", "node"} {
				if words[0] == name || strings.Contains(c.name, name) {
					testtool.Path(t, name)
				}
			}
			dir := t.TempDir()
			socket := filepath.Base(t.Name()) + strconv.Itoa(os.Getpid())
			program := strings.NewReplacer("INPUT", filepath.Join(dir, "input"), "$DIR", dir, "$SOCKET", socket).Replace(c.program)
			if strings.Contains(c.program, "$SOCKET") {
				testtool.Path(t, "tmux")
				t.Cleanup(func() { _ = exec.Command("tmux", "-L", socket, "kill-server").Run() })
			}
			a := attack(t, program)
			if c.after == nothing {
				a.runner.PromptTime = 200 * time.Millisecond
			}
			if c.shows != "" {
				testserver.WaitScreen(t, a.pane.Server(), "%0", c.shows)
			}
			res, err := a.run(testserver.Context(t), "bash", "touch "+filepath.Join(dir, "ran"))
			if res != nil || err == nil || len(err.Error()) < 20 {
				t.Fatalf("%+v, %v", res, err)
			}
			a.onlyLoader()
			if (c.after == nothing) != (len(a.typed) == 0) || c.after != nothing && a.typed[1] != c.after {
				t.Errorf("typed %q\n%s", a.typed, a.screen())
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Error("the command has run")
			}
			if strings.Contains(c.program, "INPUT") {
				want := strings.Join(a.typed, "")
				testtool.Eventually(t, "input", func() bool {
					text, _ := os.ReadFile(filepath.Join(dir, "input"))
					return string(text) == want
				})
			}
			a.clean(0)
			t.Logf("got %d of C-u and the loader, and Enter: %v", len(a.typed), err)
		})
	}
}

// remoteShells are the shells, and how they are started behind script.
var remoteShells = []struct{ name, start string }{
	{"bash", "bash --norc --noprofile"}, {"sh", "dash"}, {"dash", "dash"}, {"zsh", "zsh -f"}, {"fish", "fish --no-config"},
	{"ksh", "ksh"}, {"mksh", "mksh"}, {"busybox", "busybox sh"},
}

func scripted(t *testing.T, start string) *attacked {
	t.Helper()
	name, _, _ := strings.Cut(start, " ")
	testtool.Path(t, name)
	testtool.Path(t, "script")
	a := attack(t, "PS1='$ ' script -qfc "+tmux.ShellQuote(start)+" /dev/null")
	a.atPrompt()
	return a
}

// atPrompt waits until the shell in the pane shows its prompt.
func (a *attacked) atPrompt() {
	a.t.Helper()
	testtool.Eventually(a.t, "prompt", func() bool {
		lines := strings.Split(strings.TrimSpace(a.screen()), "\n")
		last := lines[len(lines)-1]
		return strings.HasSuffix(last, "$") || strings.HasSuffix(last, "#") || strings.HasSuffix(last, ">")
	})
}

// later runs a command in a shell that was attacked before, whose terminal must be as usual.
func (a *attacked) later(remote string) {
	a.t.Helper()
	a.after = nil
	a.runner.PromptTime = 30 * time.Second
	res, err := a.run(testserver.Context(a.t), remote, "stty -a")
	if err != nil {
		a.t.Fatalf("%+v, %v\n%s", res, err, a.screen())
	}
	for _, set := range []string{" echo ", " icanon ", "isig "} {
		if text := " " + strings.NewReplacer("\n", " ", ";", " ").Replace(res.Output); !strings.Contains(text, set) {
			a.t.Errorf("without %s: %s", set, text)
		}
	}
}

// A shell that is busy runs the loader when nobody waits for its answer any more. Then it ends by
// itself, or with whatever line comes next.
func TestRemoteLateLoader(t *testing.T) {
	t.Parallel()
	for _, c := range remoteShells {
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, typed), func(t *testing.T) {
				t.Parallel()
				a := scripted(t, c.start)
				srv := a.pane.Server()
				fifo := a.path("fifo")
				ok(t, syscall.Mkfifo(fifo, 0o600))
				testserver.Run(t, srv, "send-keys", "-t", "%0", "clear; printf '$ '; cat "+fifo, "Enter")
				busy, err := os.OpenFile(fifo, os.O_WRONLY, 0) // once cat reads it
				ok(t, err)
				defer busy.Close()
				testtool.Eventually(t, "prompt", func() bool { return strings.TrimSpace(a.screen()) == "$" })
				ctx, cancel := context.WithCancel(testserver.Context(t))
				a.after = func(n int) {
					if n == 2 {
						cancel()
					}
				}
				if res, err := a.run(ctx, c.name, a.command()); res != nil || !errors.Is(err, context.Canceled) || len(a.typed) != 2 {
					t.Fatalf("%+v, %v, %q\n%s", res, err, a.typed, a.screen())
				}
				a.onlyLoader()
				testserver.Run(t, srv, "pipe-pane", "-t", "%0", "cat >"+a.path("shown"))
				began := time.Now()
				busy.Close()
				testtool.Eventually(t, "answer", func() bool {
					shown, _ := os.ReadFile(a.path("shown"))
					return bytes.Contains(shown, []byte("\x1b]6337;"))
				})
				if typed {
					testserver.Run(t, srv, "send-keys", "-t", "%0", a.command(), "Enter")
				}
				testserver.Run(t, srv, "pipe-pane", "-t", "%0")
				if c.start == "dash" { // which shows its prompt also before it reads what was typed before
					testtool.Eventually(t, "second prompt", func() bool {
						screen := strings.TrimSpace(a.screen())
						_, after, echoed := strings.Cut(screen, "$ "+a.command()[:8]) // between them, if the terminal shows it
						return strings.Contains(screen, "$ $") || echoed && strings.HasSuffix(after, "\n$")
					})
				}
				a.later(c.name)
				t.Logf("the terminal was as usual after %v", time.Since(began).Round(10*time.Millisecond))
				if n := a.ran(); n != 0 {
					t.Errorf("ran %d times", n)
				}
				a.clean(0)
			})
		}
	}
}

// A shell that shows something else than what was typed, or has something typed already, runs the
// command or refuses it, and never runs the loader as an argument.
func TestRemoteEcho(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name, shell, setup string
		keys               []string
	}{
		{"macro", "bash", `bind '"s": "xx"'`, nil},
		{"kill key", "bash", `bind '"\C-u": self-insert'`, nil},
		{"parentheses", "zsh", `p() { LBUFFER+="()"; CURSOR=$((CURSOR-1)); }; zle -N p; bindkey '(' p`, nil},
		{"bash vi", "bash", "set -o vi", []string{"Escape"}},
		{"zsh vi", "zsh", "bindkey -v", []string{"Escape"}},
		{"ksh vi", "ksh", "set -o vi", []string{"Escape"}},
		{"mksh vi", "mksh", "set -o vi", []string{"Escape"}},
		{"fish vi", "fish", "fish_vi_key_bindings", []string{"Escape"}},
		{"abbreviation", "fish", "abbr -a -- sh 'touch RAN'; abbr -a -- -c 'touch RAN'; abbr -a -p anywhere -- -echo RAN", nil},
		{"bash half", "bash", "", []string{"touch RAN"}},
		{"bash half $", "bash", "", []string{"touch RAN $ "}},
		{"bash half >", "bash", "", []string{"touch RAN > "}},
		{"zsh half $", "zsh", "", []string{"touch RAN $ "}},
		{"zsh half >", "zsh", "", []string{"touch RAN > "}},
		{"fish half $", "fish", "", []string{"touch RAN # "}},
		{"fish half >", "fish", "", []string{"touch RAN > "}},
		{"sh half $", "sh", "", []string{"touch RAN $ "}},
		{"dash half >", "dash", "", []string{"touch RAN > "}},
		{"ksh half $", "ksh", "", []string{"touch RAN $ "}},
		{"mksh half $", "mksh", "", []string{"touch RAN $ "}},
		{"busybox half >", "busybox", "", []string{"touch RAN > "}},
		{"bash vi half", "bash", "set -o vi", []string{"touch RAN $ ", "Escape"}},
		{"bash vi half again", "bash", "set -o vi", []string{"touch RAN $ ", "Escape", "A"}},
		{"zsh vi half", "zsh", "bindkey -v", []string{"touch RAN $ ", "Escape"}},
		{"zsh vi half again", "zsh", "bindkey -v", []string{"touch RAN $ ", "Escape", "A"}},
		{"ksh vi half again", "ksh", "set -o vi", []string{"touch RAN $ ", "Escape", "A"}},
		{"mksh vi half again", "mksh", "set -o vi", []string{"touch RAN $ ", "Escape", "A"}},
		{"no kill key sh in bash", "sh bash", `bind -r '\C-u'`, []string{"touch RAN $ "}},
		{"no kill key sh in zsh", "sh zsh", `bindkey -r '^U'`, []string{"touch RAN $ "}},
		{"no kill key", "bash", `bind -r '\C-u'`, []string{"touch RAN $ "}},
		{"no kill key sh", "sh", `stty kill undef`, []string{"touch RAN $ "}},
		{"quote", "bash", "", []string{"touch 'RAN", "Enter", "touch RAN $ "}},
	} {
		if i%testtool.Size(3, 1) != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			names, start := strings.Fields(c.shell), ""
			for _, s := range remoteShells {
				if s.name == names[len(names)-1] {
					start = s.start
				}
			}
			a := scripted(t, start)
			a.runner.PromptTime = time.Second
			srv := a.pane.Server()
			fill := strings.NewReplacer("RAN", a.path("ran1")).Replace
			if c.setup != "" {
				testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", fill(c.setup)+"; clear; echo set up\r")
				testtool.Eventually(t, "set-up", func() bool { return strings.HasPrefix(a.screen(), "set up\n") })
				a.atPrompt()
			}
			for _, key := range c.keys {
				if len(key) < 7 {
					testserver.Run(t, srv, "send-keys", "-t", "%0", key)
				} else {
					testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", fill(key))
				}
			}
			if len(c.keys) > 0 && len(c.keys[0]) > 6 {
				testtool.Eventually(t, "text", func() bool { return strings.Contains(a.screen(), "ran1") })
			}
			res, err := a.run(testserver.Context(t), names[0], a.command())
			state := a.once("the command", res, err)
			if err != nil {
				testserver.Run(t, srv, "kill-session")
			}
			for _, name := range []string{a.path("ran1"), "RAN"} {
				if _, err := os.Stat(name); err == nil {
					t.Errorf("something else has run: typed %q", a.typed)
				}
			}
			t.Logf("%s: %s, %d typed: %v", c.name, state, len(a.typed), err)
		})
	}
}

// The connection ends after any byte, in either direction. The command runs at most once, the
// call does not say otherwise, and the local shell runs nothing that was meant for the remote one.
func TestRemoteEnds(t *testing.T) {
	t.Parallel()
	type end struct {
		in, out int
		bytes   bool
	}
	var ends []end
	// The loader has about 230 bytes, the gatherer 450 and the command 1,300.
	for n := 1; n < 2400; n += testtool.Size(331, 7) {
		ends = append(ends, end{in: n}, end{in: n, bytes: true})
	}
	for n := 20; n < 2400; n += testtool.Size(331, 7) {
		ends = append(ends, end{out: n})
	}
	states := map[string]int{}
	var mu sync.Mutex
	t.Cleanup(func() { t.Log(states) })
	for _, shell := range remoteShells[:testtool.Size(1, len(remoteShells))] {
		for _, e := range ends {
			t.Run(fmt.Sprintf("%s %+v", shell.name, e), func(t *testing.T) {
				t.Parallel()
				name, _, _ := strings.Cut(shell.start, " ")
				testtool.Path(t, name)
				out := e.out
				if out > 0 {
					out += len("remote$ ")
				}
				a := behind(t, relay{Program: shell.start, In: e.in, Out: out, Bytes: e.bytes})
				res, err := a.run(testserver.Context(t), shell.name, a.command())
				if err != nil {
					a.gone()
				}
				state := a.once(t.Name(), res, err)
				if local, err := os.ReadFile(a.path("local")); err == nil {
					t.Errorf("%s: the local shell ran %q, typed %q\n%s", state, local, a.typed, a.screen())
				}
				kept := 0
				if res != nil && res.Job != nil {
					kept = 1
				}
				a.clean(kept)
				mu.Lock()
				states[state]++
				mu.Unlock()
			})
		}
	}
}

// A slow connection, and one that splits, drops or alters a byte: the output is right, or the
// command is refused.
func TestRemoteRelays(t *testing.T) {
	t.Parallel()
	cases := []relay{
		{Delay: 100 * time.Millisecond}, {Bytes: true}, {Delay: 20 * time.Millisecond, Bytes: true},
	}
	for n := 1; n < 2400; n += testtool.Size(801, 23) {
		cases = append(cases, relay{Drop: n}, relay{Alter: n})
	}
	for i, r := range cases {
		c := remoteShells[i%len(remoteShells)]
		t.Run(fmt.Sprintf("%s %v %v %d %d", c.name, r.Delay, r.Bytes, r.Drop, r.Alter), func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(c.start, " ")
			testtool.Path(t, name)
			r.Program = c.start
			a := behind(t, r)
			res, err := a.run(testserver.Context(t), c.name, a.command())
			state := a.once(t.Name(), res, err)
			if r.Drop == 0 && r.Alter == 0 && err != nil {
				t.Errorf("%s, %v", state, err)
			}
			if res != nil && err != nil {
				t.Errorf("%+v, %v", res, err)
			}
			a.clean(0)
		})
	}
}

// A context that ends at any step leaves nothing that runs later, unless the command had begun.
func TestRemoteCanceled(t *testing.T) {
	t.Parallel()
	for _, c := range remoteShells[:testtool.Size(1, len(remoteShells))] {
		for step := 1; step <= 6; step++ {
			for _, kill := range []bool{false, true} {
				t.Run(fmt.Sprint(c.name, step, kill), func(t *testing.T) {
					t.Parallel()
					a := scripted(t, c.start)
					ctx, cancel := context.WithCancel(testserver.Context(t))
					defer cancel()
					a.after = func(n int) {
						if n == step && kill {
							_ = exec.Command(a.pane.Server().Binary(), "-S", a.pane.Server().SocketPath(), "set-option", "-g", "remain-on-exit", "on", ";", "respawn-pane", "-k", "-t", "%0", "sleep 1000").Run()
						} else if n == step {
							cancel()
						}
					}
					res, err := a.run(ctx, c.name, a.command())
					state := a.once(t.Name(), res, err)
					switch {
					case step < 6 && res != nil:
						t.Errorf("%+v, %v", res, err)
					case !kill && step == 6 && state == "nothing has run":
						t.Errorf("%v", err)
					case kill && res != nil && res.State == shell.Running:
						t.Errorf("%+v, %v", res, err)
					case !kill && res != nil && res.Job != nil:
						if res, err := res.Job.Wait(testserver.Context(t), shell.Options{}); err != nil || res.Output != "out\n" || a.ran() != 1 {
							t.Errorf("%+v, %v", res, err)
						}
					case !kill && state == "nothing has run":
						a.after, a.typed = nil, nil
						a.runner.PromptTime = 30 * time.Second
						if res, err := a.run(testserver.Context(t), c.name, a.command()); err != nil || res.Output != "out\n" || a.ran() != 1 {
							t.Errorf("ran %d times: %+v, %v\n%s", a.ran(), res, err, a.screen())
						}
					}
					t.Logf("%s: %v", state, err)
					a.clean(1)
				})
			}
		}
	}
}

// What else happens in the pane while a command is sent or runs.
func TestRemotePane(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*attacked, context.Context) {
		return scripted(t, "bash --norc --noprofile"), testserver.Context(t)
	}
	t.Run("limit", func(t *testing.T) {
		t.Parallel()
		a, ctx := start(t)
		for limit := time.Millisecond; limit < 300*time.Millisecond; limit = limit * 3 / 2 {
			res, err := a.runner.Run(ctx, a.pane, "echo ran >>"+a.path("ran")+"; echo out", shell.Options{Remote: "bash", Limit: limit})
			state := a.once(limit.String(), res, err)
			t.Logf("%v: %s, %v", limit, state, err)
			if err != nil && strings.Contains(err.Error(), "pipe") {
				t.Error(err)
			}
			if state == "may have run" {
				_, err = res.Job.Wait(ctx, shell.Options{})
				ok(t, err)
			}
			os.Remove(a.path("ran"))
		}
		a.later("bash")
		if a.ran() != 0 {
			t.Error("something has run later")
		}
	})
	t.Run("two at once", func(t *testing.T) {
		t.Parallel()
		a, ctx := start(t)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				want := strconv.Itoa(i) + "\n"
				res, err := new(shell.Runner).Run(ctx, a.pane, "echo "+want, shell.Options{Remote: "bash"})
				if err != nil || res.Output != want {
					t.Errorf("%+v, %v", res, err)
				}
			})
		}
		all.Wait()
	})
	t.Run("pipe", func(t *testing.T) {
		t.Parallel()
		a, ctx := start(t)
		testserver.Run(t, a.pane.Server(), "pipe-pane", "-t", "%0", "cat >/dev/null")
		res, err := a.run(ctx, "bash", a.command())
		if res != nil || !errors.Is(err, shell.ErrNoRemote) || !strings.Contains(err.Error(), "pipe") || len(a.typed) > 0 {
			t.Errorf("%+v, %v", res, err)
		}
		if out := testserver.Run(t, a.pane.Server(), "display-message", "-p", "-t", "%0", "#{pane_pipe}"); strings.TrimSpace(out) != "1" {
			t.Error("the pipe was taken away")
		}
	})
	t.Run("copy mode", func(t *testing.T) {
		t.Parallel()
		a, ctx := start(t)
		testserver.Run(t, a.pane.Server(), "copy-mode", "-t", "%0")
		if res, err := a.runner.Run(ctx, a.pane, a.command(), shell.Options{Remote: "bash"}); res != nil || !errors.Is(err, shell.ErrInMode) {
			t.Errorf("%+v, %v", res, err)
		}
		testserver.Run(t, a.pane.Server(), "send-keys", "-t", "%0", "-X", "cancel")
		a.after = func(n int) {
			if n == 3 {
				testserver.Run(t, a.pane.Server(), "copy-mode", "-t", "%0")
			}
		}
		res, err := a.run(ctx, "bash", a.command())
		if state := a.once("copy mode", res, err); state != "nothing has run" {
			t.Errorf("%+v, %v", res, err)
		}
		testserver.Run(t, a.pane.Server(), "send-keys", "-t", "%0", "-X", "cancel")
		a.later("bash")
	})
	t.Run("resized", func(t *testing.T) {
		t.Parallel()
		a, ctx := start(t)
		a.after = func(n int) {
			testserver.Run(t, a.pane.Server(), "resize-window", "-t", "%0", "-x", strconv.Itoa(80+10*n), "-y", strconv.Itoa(24-n))
		}
		res, err := a.run(ctx, "bash", a.command())
		if n := a.ran(); err == nil && (n != 1 || res.Output != "out\n") || err != nil && n != 0 {
			t.Errorf("ran %d times: %+v, %v", n, res, err)
		}
	})
	t.Run("job", func(t *testing.T) {
		t.Parallel()
		a, ctx := start(t)
		fifo := a.path("fifo")
		ok(t, syscall.Mkfifo(fifo, 0o600))
		job, err := a.runner.Start(ctx, a.pane, "echo one; printf 'two$ '; cat "+fifo+"; exit 3", shell.Options{Remote: "bash"})
		ok(t, err)
		end, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		ok(t, err)
		defer end.Close()
		res, err := a.run(ctx, "bash", a.command())
		if res != nil || err == nil || len(a.typed) > 0 {
			t.Errorf("%+v, %v, typed %q", res, err, a.typed)
		}
		if err := job.Signal(syscall.SIGINT); !errors.Is(err, tmux.ErrArgument) {
			t.Error(err)
		}
		a.runner.Close()
		// Another program finds it, and somebody types there meanwhile.
		var other shell.Runner
		defer other.Close()
		found, err := other.Find(ctx, a.pane.Server(), job.ID())
		ok(t, err)
		if state, _ := found.State(); state != shell.Running || !found.InPane() || found.OnScreen() {
			t.Errorf("%v %v %v", state, found.InPane(), found.OnScreen())
		}
		testserver.Run(t, a.pane.Server(), "send-keys", "-t", "%0", "seq 100000", "Enter")
		end.Close()
		testtool.Eventually(t, "end", func() bool { state, status := found.State(); return state == shell.Ended && status == 3 })
		var exit *shell.ExitError
		if res, err := found.Wait(ctx, shell.Options{}); !errors.As(err, &exit) || exit.Status != 3 || !strings.HasPrefix(res.Output, "one\ntwo$ ") {
			t.Errorf("%+v, %v", res, err)
		}
		if err := found.Signal(syscall.SIGINT); err == nil {
			t.Error("signaled after the end")
		}
		testserver.WaitScreen(t, a.pane.Server(), "%0", "100000")
		a.clean(1) // its recorder ends by itself
		a.later("bash")
	})
}

// Commands of any bytes get these bytes.
func TestRemoteFuzz(t *testing.T) {
	t.Parallel()
	for _, c := range remoteShells {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := scripted(t, c.start)
			a.runner.PromptTime = 30 * time.Second // on a busy machine
			if res, err := a.run(testserver.Context(t), c.name, "echo a\r\necho b"); err != nil || res.Output != "a\nb\n" {
				t.Errorf("%+v, %v", res, err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for i := range testtool.Size(3, 60) {
				size := 1 + random.IntN(60)
				if i%6 == 2 {
					size = testtool.Size(3000, 100_000)
				}
				var b strings.Builder
				for b.Len() < size {
					switch random.IntN(8) {
					case 0:
						b.WriteByte(byte(1 + random.IntN(255)))
					case 1:
						b.WriteString([]string{"\n", "\\", `"`, "$", "`", "!", "é", "漢", "\u200d", "\r", "'", "\t", "\\c", "\\0101", ")", "}", ";;", "%s", "\x1b]6337;", "#"}[random.IntN(20)])
					default:
						b.WriteByte(byte(' ' + random.IntN(95)))
					}
				}
				text := b.String()
				for strings.Contains(text, "\r\n") {
					text = strings.ReplaceAll(text, "\r\n", "\n")
				}
				quoted := tmux.ShellQuote(text)
				if c.name == "fish" {
					quoted = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
				}
				want := fmt.Sprintf("%d %x", len(text), sha256.Sum256([]byte(text)))
				res, err := a.run(testserver.Context(t), c.name, "printf %s "+quoted+" | { tee "+a.path("got")+" | sha256sum; }")
				if c.name == "fish" {
					res, err = a.run(testserver.Context(t), c.name, "printf %s "+quoted+" | tee "+a.path("got")+" | sha256sum")
				}
				if err != nil || !strings.HasPrefix(res.Output, strings.Fields(want)[1]) {
					got, _ := os.ReadFile(a.path("got"))
					t.Fatalf("%q\ngot %q\n%+v, %v", text, got, res, err)
				}
			}
			a.clean(0)
		})
	}
}

// Ten megabytes come byte for byte.
func TestRemoteLong(t *testing.T) {
	t.Parallel()
	a := scripted(t, "bash --norc --noprofile")
	var got bytes.Buffer
	n := testtool.Size(200_000, 1_300_000)
	o := shell.Options{Remote: "bash", Stdout: &got, Lines: func(string) {}}
	_, err := a.runner.Run(testserver.Context(t), a.pane, fmt.Sprintf("seq 1 %d", n), o)
	ok(t, err)
	var want bytes.Buffer
	for i := range n {
		fmt.Fprintf(&want, "%d\r\n", i+1)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes, not %d", got.Len(), want.Len())
	}
}
