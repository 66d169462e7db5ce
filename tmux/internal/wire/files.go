package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// errAsked is the [ErrUntrusted] for a server that asked for a file.
var errAsked = fmt.Errorf("%w", ErrUntrusted)

// refuse returns the error for a server that asks for a file.
func (c *NativeCall) refuse(verb, path string) error {
	return fmt.Errorf("%w: the server on %s asked to %s the file %q, which no command names; nothing was opened. "+
		"If a hook of yours needs it, use the transport exec", errAsked, c.socket, verb, path)
}

// pathOf returns the path in an open message whose fixed part has the given size.
func pathOf(data []byte, fixed int) string {
	path, _, _ := bytes.Cut(data[fixed:], []byte{0})
	return string(path)
}

// openWrite answers a request to write to standard output, standard error or a file. What
// goes to /dev/null is dropped here.
func (c *NativeCall) openWrite(id uint32, data []byte) error {
	code := syscall.EBADF
	switch fd := int32(binary.NativeEndian.Uint32(data[4:])); fd {
	case 1, 2:
		// The server names its streams 1 and 2 after the descriptors.
		code = 0
	case -1:
		path := pathOf(data, 12)
		if path != os.DevNull {
			return c.refuse("write", path)
		}
		c.dropped, code = id, 0
	}
	c.ready = appendMessage(c.ready, msgWriteReady, pair(id, int32(code)))
	return nil
}

// write handles data that the server prints.
func (c *NativeCall) write(id uint32, data []byte) error {
	switch id {
	case c.dropped:
		return nil
	case 2:
		return c.stderr.add(data)
	}
	return c.stdout.add(data)
}

// read sends standard input to the server. The first request gets it.
func (c *NativeCall) read(id uint32, data []byte) error {
	switch fd := int32(binary.NativeEndian.Uint32(data[4:])); fd {
	case 0:
	case -1:
		return c.refuse("read", pathOf(data, 8))
	default:
		return c.send(msgReadDone, pair(id, int32(syscall.EBADF)))
	}
	for chunk := range slices.Chunk(c.Stdin, MaxMessage-headerSize-4) {
		if err := c.send(msgRead, append(binary.NativeEndian.AppendUint32(nil, id), chunk...)); err != nil {
			return err
		}
	}
	c.Stdin = nil
	return c.send(msgReadDone, pair(id, 0))
}
