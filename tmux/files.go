package tmux

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// clientFiles are the files that a list has the client open: tmux leaves that to
// the client, so that they are opened with its rights. A server may ask for what
// the list names and for nothing else, each as often as it is named.
type clientFiles struct {
	list []encoded
	// stdin is what the list may read from "-". The first to ask gets it.
	stdin  []byte
	served bool
	// dir is where relative paths start from.
	dir string
	// socket is that of the server, for errors.
	socket string

	streams map[uint32]*os.File
	// used counts what was opened already; for writing there is a "w" before the path.
	used map[string]int
	// sourced is the beginning of each file that the server was given to source.
	sourced []string
}

// openFile opens a file as the tmux program does.
func openFile(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|syscall.O_NONBLOCK, 0o644)
}

func (f *clientFiles) closeAll() {
	for _, file := range f.streams {
		file.Close()
	}
}

func (f *clientFiles) keep(id uint32, file *os.File) {
	if f.streams == nil {
		f.streams = map[uint32]*os.File{}
	}
	f.close(id)
	f.streams[id] = file
}

func (f *clientFiles) close(id uint32) {
	if file := f.streams[id]; file != nil {
		file.Close()
		delete(f.streams, id)
	}
}

// allow refuses to read a file, or with write to write it, unless the list names it
// and the server has not yet asked for it as often as the list does. It replaces the
// flags for writing with the command's; sources reports whether the content is itself
// a list of commands.
func (f *clientFiles) allow(file string, write bool, flags *int) (sources bool, err error) {
	key, verb := file, "read"
	if write {
		key, verb = "w"+file, "write"
	}
	if f.used == nil {
		f.used = map[string]int{}
	}
	n, sources := f.named(file, write, flags)
	if f.used[key] >= n {
		return false, untrusted("the server on %s asked to %s the file %q, which no command names; nothing was opened", f.socket, verb, file)
	}
	f.used[key]++
	return sources, nil
}

// named counts how often the list names a file.
func (f *clientFiles) named(file string, write bool, flags *int) (n int, sources bool) {
	mentions := 0
	for _, w := range f.list {
		switch {
		case w.is("load-buffer", "loadb") && !write:
			_, paths := w.operands("bt")
			for _, p := range paths {
				if f.same(unliteral(p), file) {
					n++
				}
			}
		case w.is("save-buffer", "saveb") && write:
			set, paths := w.operands("b")
			for _, p := range paths {
				if f.same(unliteral(p), file) {
					*flags = os.O_TRUNC
					if strings.Contains(set, "a") {
						*flags = os.O_APPEND
					}
					n++
				}
			}
		case w.is("source-file", "source"):
			_, paths := w.operands("t")
			for _, p := range paths {
				switch {
				case p == "-":
					mentions += f.mentioned(string(f.stdin), file, write)
				case !write && f.matches(p, file):
					mentions++
				}
			}
		case w.is("if-shell", "if"), w.is("run-shell", "run"), w.is("set-hook", ""):
			for _, text := range w[1:] {
				mentions += f.mentioned(text, file, write)
			}
		}
	}
	for _, text := range f.sourced {
		mentions += f.mentioned(text, file, write)
	}
	return n + mentions, mentions > 0 && !write
}

// same reports whether a server makes file of the operand of a command.
func (f *clientFiles) same(operand, file string) bool {
	if home, ok := strings.CutPrefix(operand, "~/"); ok {
		dir, err := os.UserHomeDir()
		return err == nil && file == dir+"/"+home || file == f.dir+"/"+operand
	}
	return file == operand && path.IsAbs(file) || file == f.dir+"/"+operand
}

// matches is same for the pattern of a source-file. A format in it is not known
// here: then the last element of the path counts, as in a text.
func (f *clientFiles) matches(pattern, file string) bool {
	if strings.Contains(pattern, "#{") && f.mentioned(pattern, file, false) > 0 {
		return true
	}
	if !path.IsAbs(pattern) {
		pattern = Glob(f.dir) + "/" + pattern
	}
	ok, _ := filepath.Match(strings.ReplaceAll(pattern, "[!", "[^"), file)
	return ok
}

// mentioned counts how often a text of commands names a file. One to be written must
// stand there as it is, or from the working directory; of one to be read, as a file
// of configuration reads others, the last element must, as text or as a pattern: what
// stands before it is often a variable or a format.
func (f *clientFiles) mentioned(text, file string, write bool) int {
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\";", r) }) {
		word = strings.TrimRight(word, "}")
		last := path.Base(word)
		switch {
		case write || last == "." || last == "/" || strings.Trim(last, "*?") == "":
			if f.same(word, file) {
				n++
			}
		default:
			if ok, _ := path.Match(last, path.Base(file)); ok {
				n++
			}
		}
	}
	return n
}

// is reports whether tmux may take the command for this one: it has an alias, and
// any beginning of its name does.
func (w encoded) is(name, alias string) bool {
	return w[0] != "" && (strings.HasPrefix(name, w[0]) || w[0] == alias)
}

// operands parts the flags of a command, without those that take a value, from its
// operands.
func (w encoded) operands(valued string) (set string, operands []string) {
	for i := 1; i < len(w); i++ {
		if w[i] == "--" {
			return set, w[i+1:]
		}
		if len(w[i]) < 2 || w[i][0] != '-' {
			return set, w[i:]
		}
		for j := 1; j < len(w[i]); j++ {
			if strings.IndexByte(valued, w[i][j]) < 0 {
				set += w[i][j : j+1]
				continue
			}
			if j == len(w[i])-1 {
				i++ // the value is the next word
			}
			break
		}
	}
	return set, nil
}

// openWrite answers a request to write to standard output, standard error or a file.
func (c *nativeCall) openWrite(id uint32, data []byte) error {
	fd, flags := int32(binary.NativeEndian.Uint32(data[4:])), int(binary.NativeEndian.Uint32(data[8:]))
	code := syscall.Errno(0)
	switch {
	case fd == 1, fd == 2:
		// The server names its streams 1 and 2 after the descriptors.
	case fd == -1:
		file := pathOf(data, 12)
		if _, err := c.files.allow(file, true, &flags); err != nil {
			return err
		}
		f, err := c.open(file, flags&(os.O_APPEND|os.O_TRUNC)|os.O_WRONLY|os.O_CREATE)
		code = errnoOf(err)
		if err == nil {
			c.files.keep(id, f)
		}
	default:
		code = syscall.EBADF
	}
	c.ready = appendMessage(c.ready, msgWriteReady, pair(id, int32(code)))
	return nil
}

// write takes what the server prints, or writes to a file.
func (c *nativeCall) write(id uint32, data []byte) error {
	if f := c.files.streams[id]; f != nil {
		f.Write(data)
		return nil
	}
	if id == 2 {
		return c.stderr.add(data)
	}
	return c.stdout.add(data)
}

// read sends a file, or standard input, to the server.
func (c *nativeCall) read(id uint32, data []byte) error {
	fd := int32(binary.NativeEndian.Uint32(data[4:]))
	var r io.Reader = bytes.NewReader(nil)
	var sourced *strings.Builder
	switch {
	case fd == 0:
		if !c.files.served {
			r, c.files.served = bytes.NewReader(c.files.stdin), true
		}
	case fd == -1:
		file, flags := pathOf(data, 8), 0
		sources, err := c.files.allow(file, false, &flags)
		if err != nil {
			return err
		}
		f, err := c.open(file, os.O_RDONLY)
		if err != nil {
			return c.send(msgReadDone, pair(id, int32(errnoOf(err))))
		}
		c.files.keep(id, f)
		defer c.files.close(id)
		// A FIFO may give nothing for as long as it likes.
		defer context.AfterFunc(c.ctx, func() { f.SetDeadline(time.Unix(1, 0)) })()
		r = f
		if sources {
			sourced = &strings.Builder{}
		}
	default:
		return c.send(msgReadDone, pair(id, int32(syscall.EBADF)))
	}
	chunk := make([]byte, maxMessage-headerSize)
	binary.NativeEndian.PutUint32(chunk, id)
	for {
		n, err := r.Read(chunk[4:])
		if sourced != nil && sourced.Len() < maxSourced {
			sourced.Write(chunk[4 : 4+n])
		}
		if n > 0 {
			if err := c.send(msgRead, chunk[:4+n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			if sourced != nil {
				c.files.sourced = append(c.files.sourced, sourced.String())
			}
			return c.send(msgReadDone, pair(id, 0))
		case err != nil:
			return c.send(msgReadDone, pair(id, int32(syscall.EIO)))
		}
	}
}

// maxSourced is how much of a sourced file is looked at for the files it names.
const maxSourced = 1 << 20

// pathOf is the path in an open message whose fixed part has the given size.
func pathOf(data []byte, fixed int) string {
	path, _, _ := bytes.Cut(data[fixed:], []byte{0})
	return string(path)
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		return syscall.EIO
	}
	return errno
}
