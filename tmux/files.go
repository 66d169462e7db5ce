package tmux

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// clientFile is a file that the client opens for the server, with the client's rights.
type clientFile struct {
	path  string // absolute
	write bool
	flags int // O_TRUNC or O_APPEND, if write
}

// named returns the command with its path as tmux will ask for it, and the file.
func (c LoadBuffer) named() (Command, *clientFile) {
	if c.Path == "-" {
		return c, nil
	}
	c.Path = absolute(c.Path)
	return c, &clientFile{path: c.Path}
}

func (c SaveBuffer) named() (Command, *clientFile) {
	if c.Path == "-" {
		return c, nil
	}
	c.Path = absolute(c.Path)
	f := &clientFile{path: c.Path, write: true, flags: os.O_TRUNC}
	if c.Append {
		f.flags = os.O_APPEND
	}
	return c, f
}

// absolute completes a path as tmux 3.3 and later do.
func absolute(path string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		return home + path[1:]
	}
	if strings.HasPrefix(path, "/") {
		return path
	}
	return workingDirectory() + "/" + path
}

// clientFiles are the files of one list. A server may ask for the files that typed commands
// name, each as often as it is named, and for nothing else: text is not searched for names.
type clientFiles struct {
	named []clientFile
	// stdin is what the list reads from "-". The first request gets it.
	stdin  []byte
	served bool
	// socket is the server's, for errors.
	socket  string
	streams map[uint32]*os.File
	failed  error // the first error writing a file
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

// errAsked is the [ErrUntrusted] for a server that asked for a file that it should not.
var errAsked = fmt.Errorf("%w", ErrUntrusted)

// allow returns the file that the server asks for. The list must name it, and each mention
// can be used once.
func (f *clientFiles) allow(path string, write bool) (clientFile, error) {
	for i, file := range f.named {
		if file.path == path && file.write == write {
			f.named = slices.Delete(slices.Clone(f.named), i, i+1)
			return file, nil
		}
	}
	verb := "read"
	if write {
		verb = "write"
	}
	return clientFile{}, fmt.Errorf("%w: the server on %s asked to %s the file %q, which no command names; nothing was opened. "+
		"If a hook of yours needs it, use the transport exec", errAsked, f.socket, verb, path)
}

// openFor opens a file for the server. The file may block reads and writes, as a FIFO does,
// but not beyond the call's context.
func (c *nativeCall) openFor(id uint32, path string, flags int) (*os.File, syscall.Errno) {
	f, err := c.open(path, flags)
	if err != nil {
		return nil, errnoOf(err)
	}
	c.files.keep(id, f)
	context.AfterFunc(c.ctx, func() { f.SetDeadline(time.Unix(1, 0)) })
	return f, 0
}

// openWrite answers a request to write to standard output, standard error or a file.
func (c *nativeCall) openWrite(id uint32, data []byte) error {
	code := syscall.EBADF
	switch fd := int32(binary.NativeEndian.Uint32(data[4:])); fd {
	case 1, 2:
		// The server names its streams 1 and 2 after the descriptors.
		code = 0
	case -1:
		file, err := c.files.allow(pathOf(data, 12), true)
		if err != nil {
			return err
		}
		_, code = c.openFor(id, file.path, file.flags|os.O_WRONLY|os.O_CREATE)
	}
	c.ready = appendMessage(c.ready, msgWriteReady, pair(id, int32(code)))
	return nil
}

// write handles data that the server prints or writes to a file.
func (c *nativeCall) write(id uint32, data []byte) error {
	if f := c.files.streams[id]; f != nil {
		if _, err := f.Write(data); err != nil && c.files.failed == nil {
			c.files.failed = err
		}
		return nil
	}
	if id == 2 {
		return c.stderr.add(data)
	}
	return c.stdout.add(data)
}

// read sends a file, or standard input, to the server.
func (c *nativeCall) read(id uint32, data []byte) error {
	var r io.Reader = bytes.NewReader(nil)
	switch fd := int32(binary.NativeEndian.Uint32(data[4:])); fd {
	case 0:
		if !c.files.served {
			r, c.files.served = bytes.NewReader(c.files.stdin), true
		}
	case -1:
		file, err := c.files.allow(pathOf(data, 8), false)
		if err != nil {
			return err
		}
		f, code := c.openFor(id, file.path, os.O_RDONLY)
		if code != 0 {
			return c.send(msgReadDone, pair(id, int32(code)))
		}
		defer c.files.close(id)
		r = f
	default:
		return c.send(msgReadDone, pair(id, int32(syscall.EBADF)))
	}
	chunk := make([]byte, maxMessage-headerSize)
	binary.NativeEndian.PutUint32(chunk, id)
	for {
		n, err := r.Read(chunk[4:])
		if n > 0 {
			if err := c.send(msgRead, chunk[:4+n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return c.send(msgReadDone, pair(id, 0))
		case err != nil:
			return c.send(msgReadDone, pair(id, int32(syscall.EIO)))
		}
	}
}

// pathOf returns the path in an open message whose fixed part has the given size.
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
