package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scripts are the shell programs that the jobs run, with all that they have on PATH.
//
//go:embed programs
var scripts embed.FS

// A bench is what all jobs share: the server to play them with, the tmux program,
// and the programs that run in panes.
type bench struct {
	tmux    string // path of the tmux program
	version string
	dir     string
	think   time.Duration // between two calls
}

// newBench builds tmux-mcp from this checkout and writes the programs into a new
// directory.
func newBench(ctx context.Context, tmux string, think time.Duration) (*bench, error) {
	path, err := exec.LookPath(tmux)
	if err != nil {
		return nil, fmt.Errorf("find tmux: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, path, "-V").Output()
	if err != nil {
		return nil, fmt.Errorf("%s -V: %w", tmux, err)
	}
	// Panes report directories without symbolic links.
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(temp, "jobs")
	if err != nil {
		return nil, err
	}
	b := &bench{tmux: path, version: strings.TrimPrefix(strings.TrimSpace(string(version)), "tmux "), dir: dir, think: think}
	if err := b.furnish(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) bin() string { return filepath.Join(b.dir, "bin") }

func (b *bench) mcp() string { return filepath.Join(b.dir, "tmux-mcp") }

// furnish makes what is in the bench's directory.
func (b *bench) furnish(ctx context.Context) error {
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.mcp(), "tmuxmcp/cmd/tmux-mcp").CombinedOutput(); err != nil {
		return fmt.Errorf("build tmux-mcp: %w\n%s", err, out)
	}
	if err := os.Mkdir(b.bin(), 0o700); err != nil {
		return err
	}
	files, err := scripts.ReadDir("programs")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := scripts.ReadFile("programs/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.bin(), strings.TrimSuffix(f.Name(), ".sh")), text, 0o700); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for name := range standIns {
		if err := os.Symlink(self, filepath.Join(b.bin(), name)); err != nil {
			return err
		}
	}
	return nil
}

// close removes everything. A pane's program may still be writing.
func (b *bench) close() (err error) {
	for range 100 {
		if err = os.RemoveAll(b.dir); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// A stage is where one job is played: a tmux server and a directory of its own, which
// is the working directory of its panes. Its methods prepare the job and check its
// outcome with the tmux program, without the server under test. A method that fails
// ends the job.
type stage struct {
	*bench
	ctx  context.Context
	dir  string
	work string
}

// A failure is why a job ended early.
type failure struct{ error }

// failf ends the job.
func failf(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

// must ends the job if there is an error.
func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// try calls f and returns the failure that ended it.
func try(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failure:
			err = v.error
		default:
			panic(v)
		}
	}()
	f()
	return nil
}

// newStage makes the directories of a job. The tmux server starts with its first session.
func (b *bench) newStage(ctx context.Context) (*stage, error) {
	dir, err := os.MkdirTemp(b.dir, "j")
	if err != nil {
		return nil, err
	}
	s := &stage{bench: b, ctx: ctx, dir: dir, work: filepath.Join(dir, "work")}
	// A login shell would read the machine's profile, which may set PATH and the prompt.
	const config = "set-option -g default-command 'exec /bin/sh'\n"
	return s, errors.Join(os.Mkdir(filepath.Join(dir, "home"), 0o700), os.Mkdir(s.work, 0o700), os.WriteFile(s.config(), []byte(config), 0o600))
}

func (s *stage) config() string { return filepath.Join(s.dir, "tmux.conf") }

func (s *stage) socket() string { return filepath.Join(s.dir, "s") }

// env is the environment of the tmux server and of tmux-mcp: a POSIX shell without
// start-up files and with the prompt "$ ".
func (s *stage) env() []string {
	return []string{
		"PATH=" + s.bin() + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"),
		"SHELL=/bin/sh", "PS1=$ ", "ENV=", "TERM=screen", "LANG=C.UTF-8", "TMUX_TMPDIR=" + s.dir, "XDG_RUNTIME_DIR=" + s.dir,
	}
}

// command is a call of the tmux program.
func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.bench.tmux, append([]string{"-u", "-f", s.config(), "-S", s.socket()}, args...)...)
	cmd.Env, cmd.Dir = s.env(), s.work
	return cmd
}

// run runs a tmux command and returns what it prints.
func (s *stage) run(args ...string) string {
	out, err := s.command(s.ctx, args...).Output()
	if s.ctx.Err() != nil {
		must(s.ctx.Err())
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	if err != nil {
		failf("tmux %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n")
}

// close ends the tmux server with everything in it.
func (s *stage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := os.Stat(s.socket()); err != nil {
		return nil
	}
	if out, err := s.command(ctx, "kill-server").CombinedOutput(); err != nil && !strings.Contains(string(out), "no server running") {
		return fmt.Errorf("tmux kill-server: %w: %s", err, out)
	}
	for range 10 {
		if len(s.processes()) == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	// A program may ignore that its terminal is gone.
	for _, p := range s.processes() {
		_ = p.Kill()
	}
	return nil
}

// processes are the processes of the stage: their environment has its home directory.
// They are found where there is a /proc.
func (s *stage) processes() (all []*os.Process) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, _ := os.ReadFile(file)
		if !bytes.Contains(env, []byte("HOME="+filepath.Join(s.dir, "home")+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			if p, err := os.FindProcess(pid); err == nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// session makes a session of 80x24 with one window, and returns its pane. Without a
// command that is a shell, at its prompt.
func (s *stage) session(name string, command ...string) string {
	return s.shellAt(command, append([]string{"new-session", "-d", "-P", "-F", "#{pane_id}", "-s", name, "-x", "80", "-y", "24", "-c", s.work}, command...))
}

// window is like session in a new window of a session.
func (s *stage) window(session string, command ...string) string {
	return s.shellAt(command, append([]string{"new-window", "-d", "-P", "-F", "#{pane_id}", "-t", session + ":", "-c", s.work}, command...))
}

// split splits a pane off another.
func (s *stage) split(pane string, command ...string) string {
	id := s.shellAt(command, append([]string{"split-window", "-d", "-P", "-F", "#{pane_id}", "-t", pane, "-c", s.work}, command...))
	s.run("select-layout", "-t", pane, "tiled")
	return id
}

func (s *stage) shellAt(command, args []string) string {
	pane := s.run(args...)
	if command == nil {
		s.await(pane, "$")
	}
	return pane
}

// screen is what a pane shows, with wrapped lines joined.
func (s *stage) screen(pane string) string { return s.run("capture-pane", "-p", "-J", "-t", pane) }

// of evaluates a format for a pane.
func (s *stage) of(pane, format string) string {
	return s.run("display-message", "-p", "-t", pane, format)
}

// until polls for at most 10 seconds.
func (s *stage) until(what string, cond func() bool) {
	for deadline := time.Now().Add(10 * time.Second); !cond(); {
		if time.Now().After(deadline) {
			failf("outcome: %s: not after 10 s", what)
		}
		s.pause(20 * time.Millisecond)
	}
}

func (s *stage) pause(d time.Duration) {
	select {
	case <-s.ctx.Done():
		must(s.ctx.Err())
	case <-time.After(d):
	}
}

// await waits until a pane shows a text.
func (s *stage) await(pane, text string) {
	s.until("pane "+pane+" shows "+text, func() bool { return strings.Contains(s.screen(pane), text) })
}

// runs waits until a pane's program in the foreground has this name.
func (s *stage) runs(pane, program string) {
	s.until(program+" is in the foreground of pane "+pane, func() bool { return s.of(pane, "#{pane_current_command}") == program })
}

// prompts waits until a pane is back at its shell.
func (s *stage) prompts(pane string) {
	s.until("pane "+pane+" is back at its prompt", func() bool {
		lines := strings.Split(strings.TrimRight(s.screen(pane), "\n "), "\n")
		return lines[len(lines)-1] == "$" && s.of(pane, "#{alternate_on}") == "0"
	})
}

// write writes a file into the working directory.
func (s *stage) write(name, text string) {
	must(os.WriteFile(filepath.Join(s.work, name), []byte(text), 0o600))
}

// read reads a file of the working directory; it is empty if there is none.
func (s *stage) read(name string) string {
	text, err := os.ReadFile(filepath.Join(s.work, name))
	if !errors.Is(err, os.ErrNotExist) {
		must(err)
	}
	return string(text)
}

// changed is when a file of the working directory was written last.
func (s *stage) changed(name string) time.Time {
	info, err := os.Stat(filepath.Join(s.work, name))
	must(err)
	return info.ModTime()
}

// want ends the job if it got the wrong thing.
func want[T comparable](what string, got, want T) {
	if got != want {
		failf("outcome: %s: got %v, want %v", what, printed(got), printed(want))
	}
}

// wantLines is want for lines.
func wantLines(what string, got, want []string) {
	if !slices.Equal(got, want) {
		failf("outcome: %s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func printed(v any) string { return fmt.Sprintf("%#v", v) }

// secret is a word that nobody can guess, so that who knows it has read it.
func secret() string { return fmt.Sprintf("%08x", rand.Uint32()) }
