package tmux

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// Writer returns a writer to the program in the pane. It pastes exactly the bytes that it is
// given, as [PaneRef.Paste] does, in order. To the terminal, and so to the program, they are
// what the keys would be: a newline ends a line that is typed, "\x03" may interrupt the
// program.
//
// A terminal that gathers lines for its program, as for cat or a shell's read, drops what a
// line has beyond 4095 bytes. Write fails with [ErrArgument] instead, before it sends the
// line. Programs that edit their input themselves, such as a shell at its prompt or an
// editor, take lines of any length. Write sends a few kilobytes at a time, and waits until
// the program has read what came before, so that little is left in tmux if the program stops
// reading; it waits as long as ctx allows, and returns how much was sent.
//
// The terminal can be watched only on Linux, if the program is visible from here (see
// [Process]). Otherwise every terminal is taken for one that gathers lines, of at most 1023
// bytes, and Write does not wait.
//
// What the program itself throws away, as many do when they ask for a password, is lost. So
// is the end of a line to which somebody else has typed too. The writer must not be used
// concurrently.
func (r PaneRef) Writer(ctx context.Context) io.Writer { return &paneWriter{ctx: ctx, pane: r} }

type paneWriter struct {
	ctx  context.Context
	pane PaneRef
	// line is how many bytes were sent of the line that the terminal is gathering.
	line int
}

const (
	writtenAtOnce = 4096
	// unseenLine is the length of a line that terminals of all systems keep.
	unseenLine = 1023
)

func (w *paneWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		most, ends, err := w.drained()
		if err != nil {
			return n, fmt.Errorf("write to %s: %w", w.pane.ID, err)
		}
		chunk, line := p[n:min(len(p), n+writtenAtOnce)], 0
		if most > 0 {
			// The last line of the chunk may go on after it.
			if _, longest := lines(w.line, p[n:min(len(p), n+writtenAtOnce+most)], ends); longest > most {
				return n, fmt.Errorf("write to %s: %w", w.pane.ID, argumentError("a line of more than %d bytes, whose rest the terminal would drop: it gathers lines for the program", most))
			}
			line, _ = lines(w.line, chunk, ends)
		}
		if err := w.pane.Paste(w.ctx, chunk, PasteOptions{}); err != nil {
			return n, err
		}
		n, w.line = n+len(chunk), line
	}
	return n, nil
}

// lines returns the length of the last line of data, and of the longest, if the first is the
// rest of a line that has begun.
func lines(begun int, data []byte, ends string) (last, longest int) {
	last = begun
	for _, c := range data {
		if last++; strings.IndexByte(ends, c) >= 0 {
			last = 0
		}
		longest = max(longest, last)
	}
	return last, longest
}

// drained waits until everything that was written has been read, as far as that can be seen.
// If the terminal gathers lines, it returns how many bytes of one it keeps and what ends one;
// otherwise 0.
func (w *paneWriter) drained() (most int, ends string, err error) {
	srv := w.pane.srv
	p, err := one[struct {
		PID *int    `tmux:"pane_pid"`
		TTY *string `tmux:"pane_tty"`
	}](w.ctx, srv, w.pane.self())
	if err != nil {
		return 0, "", err
	}
	process, err := srv.Process(w.ctx)
	if err != nil {
		return 0, "", err
	}
	for pause := time.Millisecond; process.Here && p.PID != nil && p.TTY != nil; pause = min(2*pause, 20*time.Millisecond) {
		t, unread, err := procstat.Terminal(*p.PID, *p.TTY)
		if err != nil {
			break
		}
		if unread <= 0 {
			return kept(t)
		}
		select {
		case <-w.ctx.Done():
			return 0, "", context.Cause(w.ctx)
		case <-time.After(pause):
		}
	}
	return unseenLine, "\n", nil
}

// kept returns how many bytes of a line a terminal keeps and what ends one, or 0 if it
// gathers none.
func kept(t *unix.Termios) (most int, ends string, err error) {
	if t.Lflag&unix.ICANON == 0 {
		return 0, "", nil
	}
	if t.Iflag&unix.INLCR == 0 {
		ends = "\n"
	}
	if t.Iflag&unix.ICRNL != 0 && t.Iflag&unix.IGNCR == 0 {
		ends += "\r"
	}
	return procstat.MostLine, ends, nil
}

// PipePane connects a pane to a shell command, which reads the pane's output. A pane has
// one pipe; an existing one is closed. Without a Command, nothing else happens.
type PipePane struct {
	Target Target `flag:"t"`
	// Input types the command's output into the pane.
	Input bool `flag:"I"`
	// Output gives the command the pane's output: the default without Input.
	Output bool `flag:"O"`
	// Toggle opens no new pipe if it closed one.
	Toggle bool `flag:"o"`
	// Command is a command for /bin/sh, passed unchanged: the formats and strftime
	// sequences that tmux would expand are escaped.
	Command string `arg:"time"`
}

func (PipePane) commandName() string { return "pipe-pane" }

// Pipe sends the pane's output from now on to a command for /bin/sh, until the command or
// the pane exits or [PaneRef.ClosePipe] is called. It replaces the pane's earlier pipe. It
// does not report whether the command works; the token pane_pipe shows whether a pipe is
// open.
func (r PaneRef) Pipe(ctx context.Context, command string) error {
	if command == "" {
		return argumentError("pipe %s: empty command", r.ID)
	}
	return r.srv.run(ctx, PipePane{Target: r, Command: shellCommand(command)})
}

// PipeToFile appends the pane's output from now on to a file, creating it if necessary. The
// path must be absolute, because the tmux server has another working directory; it may
// contain any characters. Its directory is checked as by [SessionRef.NewWindow].
func (r PaneRef) PipeToFile(ctx context.Context, path string) error {
	if !filepath.IsAbs(path) {
		return argumentError("pipe %s to %q: not an absolute path", r.ID, path)
	}
	dir := filepath.Dir(path)
	if err := checkDir(ctx, r.srv, &dir); err != nil {
		return fmt.Errorf("pipe %s to %q: %w", r.ID, path, err)
	}
	return r.Pipe(ctx, "exec cat >>"+ShellQuote(path))
}

// ClosePipe closes the pane's pipe. It is a no-op if there is none.
func (r PaneRef) ClosePipe(ctx context.Context) error {
	return r.srv.run(ctx, PipePane{Target: r})
}
