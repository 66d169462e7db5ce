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
	unreadable             // it was written, and cannot be read since: a client may be saving
	savedOver              // another program has saved it meanwhile, and the write was not done
	notWritten             // the write failed, and the file is as another program left it, or not there
	unknown                // the write failed, and the file cannot be read
)

// The contents of a config, as they were read back after a write.
type contents struct {
	text   []byte
	err    error // why it cannot be read
	broken error // why it cannot be parsed
}

// after returns what a write that ended with err has done to a file that now reads as now.
// The write was to put want there, and creates says that there was no file before.
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
