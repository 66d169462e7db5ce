package tmuxtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"tmuxmcp/tmux"
)

// Terminal describes a terminal to start programs in. The zero Terminal is ready to use.
type Terminal struct {
	// Width and Height are the size in columns and rows, 80 and 24 by default.
	Width, Height int
	// Env is added to the environment, as "K=V" strings, and replaces what is there: see the
	// package comment.
	Env []string
	// Dir is the program's working directory; if empty, that of the test.
	Dir string
	// Timeout limits each wait, 10 seconds by default. A wait also ends before the test's
	// own deadline, so that its failure is reported. Start has half a minute, whatever this is.
	Timeout time.Duration
	// Binary is the tmux program; by default the one that the package comment describes.
	Binary string
}

// Program is a program that runs in a terminal of its own.
type Program struct {
	t       testing.TB
	pane    tmux.PaneRef
	argv    []string
	timeout time.Duration
	token   string  // marks the end of the program
	shown   bool    // the test has failed with the screen
	last    *screen // once the program has ended
}

// Start starts a program in a terminal of 80 columns and 24 rows, and kills it when the test
// ends. argv is its name and arguments, not a shell's command line. A name without a slash is
// looked up in PATH; one with a slash is relative to the program's directory, by default that
// of the test.
//
// Start returns once the program has a process that the keys of signals reach: C-c then ends
// it, unless it handles the signal by then. It may not have printed anything yet.
func Start(t testing.TB, argv ...string) *Program {
	t.Helper()
	return Terminal{}.Start(t, argv...)
}

// shellSets are variables that the shell must set again for the program, because tmux or the
// shell itself changes them; and PATH, which it needs unchanged.
var shellSets = []string{"PATH", "PS1", "SHLVL", "OLDPWD", "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE"}

// shimScript runs a program as tmux alone does not: without tmux's variables, and so that
// the screen stays as it is when the program ends. Then the shell, which has the terminal to
// itself, prints the exit status into pane_path, which tmux sets after everything printed
// before, and which no program reads. Its arguments are the file for its process id, a
// token, variables, "--", and the program with its arguments. It has no variables of its
// own, which might be the program's too.
//
// What the shell itself says of a program that was killed is not shown, and it survives the
// signals that keys send to the program. The process that becomes the program appends a
// newline to the file: from then on a signal ends it, as it ends a program that handles none.
const shimScript = `echo $$ >"$1" || exit
trap : INT QUIT TERM
exec 3>&2 2>/dev/null
(
	echo >>"$1" || exit
	shift 2
	unset TMUX TMUX_PANE TERM_PROGRAM TERM_PROGRAM_VERSION COLORTERM SHLVL OLDPWD
	while [ "$1" != -- ]; do export "$1"; shift; done
	shift
	exec "$@" 2>&3 3>&-
)
printf '\030\033\\\033]7;%s %d\007' "$2" $? >/dev/tty
exec sleep 1000000`

// Start starts a program in such a terminal: see the function [Start].
func (c Terminal) Start(t testing.TB, argv ...string) *Program {
	t.Helper()
	c.Width, c.Height = cmp.Or(c.Width, 80), cmp.Or(c.Height, 24)
	if c.Binary == "" {
		c.Binary = binary(t)
	}
	var err error
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		t.Fatalf("find the working directory: %v", err)
	}
	if err := c.check(argv); err != nil {
		t.Fatalf("%s: %v", strings.TrimSpace("start "+strings.Join(argv, " ")), err)
	}
	p := &Program{t: t, argv: argv, timeout: 30 * time.Second}
	own := []string{"TERM=screen-256color", "PS1=$ "}
	env := slices.DeleteFunc(slices.Clone(c.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(shellSets, name) {
			return false
		}
		own = append(own, kv)
		return true
	})
	srv := open(t, tmux.Config{Binary: c.Binary, Env: env})
	dir := filepath.Dir(srv.SocketPath())
	p.token = filepath.Base(dir)
	pid := filepath.Join(dir, "pid")
	shell := slices.Concat([]string{"/bin/sh", "-c", shimScript, "sh", pid, p.token}, own, []string{"--"}, argv)
	ctx := context.Background() // tmux has half a minute for each request
	off := "off"
	out, err := srv.Do(ctx,
		tmux.StartServer{},
		tmux.SetOption{Global: true, Name: "status", Value: &off},
		tmux.NewSession{Print: true, Format: "#{pane_id}", Command: []string{"sleep", "1000000"}},
	)
	if err == nil {
		// The program starts at the right size: tmux 3.2 makes sessions of another one.
		p.pane = srv.Pane(tmux.PaneID(strings.TrimSpace(string(out[2]))))
		_, err = srv.Do(ctx,
			tmux.ResizeWindow{Target: p.pane, Width: c.Width, Height: c.Height},
			tmux.RespawnPane{Target: p.pane, Kill: true, Dir: c.Dir, Command: shell},
		)
	}
	if err != nil {
		t.Fatalf("start a terminal with %s: %v", c.Binary, err)
	}
	t.Cleanup(p.end)
	if s, why := p.await(func(*screen) bool {
		content, _ := os.ReadFile(pid)
		return strings.HasSuffix(string(content), "\n\n")
	}); why != "" {
		p.fail(s, "%s, and the program has not been started", why)
	}
	p.timeout = cmp.Or(c.Timeout, 10*time.Second)
	return p
}

// isVariable reports whether a shell passes on a variable of this name.
func isVariable(name string) bool {
	return !unicode.IsDigit(rune(name[0])) && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// check returns an error if a program cannot be started.
func (c Terminal) check(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("no program; pass its name or path, and then its arguments")
	}
	if c.Width < 1 || c.Height < 1 {
		return noSize(c.Width, c.Height)
	}
	if c.Timeout < 0 {
		return fmt.Errorf("the Timeout %v is negative", c.Timeout)
	}
	for _, kv := range c.Env {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q in Env is not of the form K=V", kv)
		}
		if !isVariable(name) {
			return fmt.Errorf("%q in Env is not the name of a variable, and shells drop it", name)
		}
	}
	if info, err := os.Stat(c.Dir); err != nil {
		return fmt.Errorf("the Dir: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("the Dir %s is not a directory", c.Dir)
	}
	name := argv[0]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.Dir, name)
		}
		_, err := exec.LookPath(name)
		return err
	}
	if slices.ContainsFunc(c.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }) {
		return nil // the shell looks it up there
	}
	_, err := exec.LookPath(name)
	return err
}

func (p *Program) end() {
	s, err := p.read(context.Background())
	if err != nil {
		return
	}
	if p.t.Failed() && !p.shown {
		p.t.Logf("the screen at the end of the test, %s", p.describe(s))
	}
	// A program may ignore that its terminal is gone. Its session and group are those of the
	// shell, which still runs.
	if s.PID > 1 {
		for _, pid := range append(session(s.PID), -s.PID) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Pane returns the program's pane, for what only package tmux can do. The process of the pane
// is a shell that waits for the program.
func (p *Program) Pane() tmux.PaneRef { return p.pane }

// Resize changes the size of the terminal. The program gets a SIGWINCH up to a quarter of a
// second later, and only one for several quick changes, so wait for what it then shows.
func (p *Program) Resize(width, height int) {
	p.t.Helper()
	p.running()
	p.do("resize", func(ctx context.Context) error {
		if width < 1 || height < 1 {
			return noSize(width, height)
		}
		_, err := p.pane.Server().Do(ctx, tmux.ResizeWindow{Target: p.pane, Width: width, Height: height})
		return err
	})
}

func noSize(width, height int) error { return fmt.Errorf("%dx%d is no size", width, height) }

// Screen returns the rows that the screen shows right now, separated by newlines, without
// blanks at their ends and without blank rows at the end. What has scrolled off is in the
// history, which [tmux.PaneRef.Capture] of [Program.Pane] reads.
func (p *Program) Screen() string {
	p.t.Helper()
	return p.now().text()
}

// Cursor returns the column and the row of the cursor, from 0. After a character in the last
// column it stays there until the next one wraps.
func (p *Program) Cursor() (x, y int) {
	p.t.Helper()
	s := p.now()
	return s.CursorX, s.CursorY
}

// screen is one look at the terminal.
type screen struct {
	Width   int    `tmux:"pane_width"`
	Height  int    `tmux:"pane_height"`
	CursorX int    `tmux:"cursor_x"`
	CursorY int    `tmux:"cursor_y"`
	Path    string `tmux:"pane_path"`
	PID     int    `tmux:"pane_pid"`
	// The kinds of mouse reports that the program has asked for.
	Mouse    bool `tmux:"mouse_any_flag"`
	MouseSGR bool `tmux:"mouse_sgr_flag"`

	rows   []row
	ended  bool
	status int
}

func (p *Program) read(ctx context.Context) (*screen, error) {
	var b tmux.Batch
	states := tmux.AddRows[screen](&b, tmux.DisplayMessage{Target: p.pane})
	captured := tmux.Add(&b, tmux.CapturePane{Target: p.pane, Print: true, Escapes: true, KeepSpaces: true})
	if err := b.Do(ctx, p.pane.Server()); err != nil {
		return nil, err
	}
	s := &(*states)[0]
	s.CursorX = min(s.CursorX, s.Width-1) // tmux has it beyond the last column before a wrap
	s.rows = parseRows(string(*captured))
	if status, ok := strings.CutPrefix(s.Path, p.token+" "); ok {
		n, err := strconv.Atoi(status)
		s.ended, s.status = err == nil, n
	}
	return s, nil
}

// now reads the screen, or ends the test. What a program leaves running may still print after
// it has ended, so the first screen that shows its end is kept.
func (p *Program) now() *screen {
	p.t.Helper()
	if p.last != nil {
		return p.last
	}
	var s *screen
	p.do("read the screen", func(ctx context.Context) (err error) {
		s, err = p.read(ctx)
		return err
	})
	if s.ended {
		p.last = s
	}
	return s
}

// do makes a request to tmux. The test ends if it fails.
func (p *Program) do(what string, request func(ctx context.Context) error) {
	p.t.Helper()
	err := request(context.Background())
	for _, gone := range []error{tmux.ErrNoServer, tmux.ErrServerGone, tmux.ErrNotFound} {
		if errors.Is(err, gone) {
			err = errors.New("the terminal is gone: its pane or server was killed")
		}
	}
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// fail ends the test with a screen.
func (p *Program) fail(s *screen, format string, args ...any) {
	p.t.Helper()
	p.shown = true
	p.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), p.describe(s))
}

// describe returns the screen with a frame, down to the cursor and to what is not blank.
func (p *Program) describe(s *screen) string {
	rows := strings.Split(s.text(), "\n")
	for len(rows) <= s.CursorY {
		rows = append(rows, "")
	}
	state := ""
	switch {
	case s.ended:
		state = fmt.Sprintf("; exit status %d", s.status)
	case stopped(s.PID):
		state = "; stopped by a signal"
	}
	return fmt.Sprintf("%s, %dx%d, cursor in column %d of row %d%s:\n%s", filepath.Base(p.argv[0]), s.Width, s.Height, s.CursorX, s.CursorY, state, frame(rows, s.Width))
}

func (s *screen) text() string { return s.as(row.text) }

// shows reports whether the screen shows a text, whatever blanks end its rows.
func (s *screen) shows(text string) bool {
	rows := strings.Split(text, "\n")
	for i, r := range rows {
		rows[i] = strings.TrimRight(r, " ")
	}
	return strings.Contains(s.text()+strings.Repeat("\n", s.Height-len(s.rows)+1), strings.Join(rows, "\n"))
}

func (s *screen) as(form func(row) string) string {
	lines := make([]string, len(s.rows))
	for i, r := range s.rows {
		lines[i] = form(r)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
