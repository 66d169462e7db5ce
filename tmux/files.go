package tmux

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/tmux/internal/wire"
)

// A namedFile is the file that a typed command names. It is opened here, so that nothing
// need be opened for a server: tmux reads standard input or writes to standard output
// instead.
type namedFile struct {
	path  string
	flags int // O_RDONLY, or how to write it

	ctx context.Context // bounds reading and writing a FIFO
	out io.WriteCloser  // once something was written
	err error           // the first error of opening it and writing to it
}

// A streamed command has its output written to a writer, whatever its size.
type streamed struct {
	Command
	to io.Writer
}

func (c streamed) named() (Command, *namedFile) {
	return c.Command, &namedFile{flags: os.O_WRONLY, out: unclosed{c.to}}
}

// unclosed is a writer that is not this package's to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// named returns the command for standard input, and the file if it names one.
func (c LoadBuffer) named() (Command, *namedFile) {
	if c.Path == "-" {
		return c, nil
	}
	f := &namedFile{path: c.Path, flags: os.O_RDONLY}
	c.Path = "-"
	return c, f
}

func (c SaveBuffer) named() (Command, *namedFile) {
	if c.Path == "-" || c.Path == os.DevNull { // the native transport opens neither
		return c, nil
	}
	f := &namedFile{path: c.Path, flags: os.O_WRONLY | os.O_CREATE | os.O_TRUNC}
	if c.Append {
		f.flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	c.Path, c.Append = "-", false
	return c, f
}

// open opens the file. It may block reads and writes, as a FIFO does, but not beyond the
// context.
func (f *namedFile) open() (*os.File, error) {
	path := f.path
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		path = home + path[1:] // as tmux 3.3 and later do
	}
	file, err := os.OpenFile(path, f.flags|syscall.O_NONBLOCK, 0o644)
	if err == nil {
		context.AfterFunc(f.ctx, func() { file.SetDeadline(time.Unix(1, 0)) })
	}
	return file, err
}

func (f *namedFile) read() ([]byte, error) {
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// Write writes output of tmux to the file, which it opens the first time: if the buffer
// does not exist, the file is left alone. It does not fail, so that the list ends properly;
// close returns the error.
func (f *namedFile) Write(p []byte) (int, error) {
	if f.out == nil && f.err == nil {
		f.out, f.err = f.open()
	}
	if f.err == nil {
		_, f.err = f.out.Write(p)
	}
	return len(p), nil
}

// close ends writing, and returns the first error.
func (f *namedFile) close() error {
	if f.out != nil {
		f.err = cmp.Or(f.err, f.out.Close())
	}
	return f.err
}

func (s *Server) fileTrip(ctx context.Context, it item) (outs [][]byte, err error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	file := it.file
	if file.ctx = ctx; file.flags == os.O_RDONLY {
		it.file = nil
		outs = [][]byte{nil}
		it.stdin, file.err = file.read()
	}
	if file.err == nil {
		if outs, err = s.roundTrip(ctx, []item{it}, nil); err != nil {
			file.close()
			return outs, err
		}
	}
	if err = file.close(); err == nil {
		return outs, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	e := &Error{Command: it.words[0], Args: it.words[1:], ExitCode: 1, Socket: s.at.Path, Err: err}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		e.Stderr = file.path + ": " + wire.ErrnoText(errno)
		e.Err = cmp.Or(wire.KindOf(e.Stderr), err)
	}
	return outs, e
}
