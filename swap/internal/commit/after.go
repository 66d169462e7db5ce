package commit

import (
	"bytes"
	"errors"
	"io/fs"

	"tmuxmcp/internal/atomicfile"
)

// A fate is what a write has done to a config.
type fate int

const (
	written    fate = iota // it has the new text, or what a client has saved since
	unreadable             // it was written, but cannot be read now: a client may be saving
	savedOver              // another program saved it meanwhile, and the write was not done
	notWritten             // the write failed, and the file is as another program left it, or missing
	unknown                // the write failed, and the file cannot be read
)

// contents are what a config has when it is read back after a write.
type contents struct {
	text   []byte
	err    error // why it cannot be read
	broken error // why it cannot be parsed
}

// after returns what a write did to a file, given its error and what the file contains now. The
// write was meant to put want there; creates is set if there was no file before.
func after(err error, now contents, want []byte, creates bool) fate {
	var in inPlace
	isNew := now.err == nil && bytes.Equal(now.text, want)
	switch {
	case isNew:
		return written
	case err == nil || errors.Is(err, atomicfile.ErrNotDurable) || errors.As(err, &in): // the text was in place
		if now.err != nil || now.broken != nil {
			return unreadable
		}
		return written
	case now.err != nil && !(creates && errors.Is(now.err, fs.ErrNotExist)):
		return unknown
	case errors.Is(err, atomicfile.ErrChanged):
		return savedOver
	}
	return notWritten
}
