package commit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"tmuxmcp/internal/atomicfile"
)

// What a write has done, by its error and by what the file has afterwards: a swap that may be
// in a file stays recorded, and one that is not in it does not.
func TestAfter(t *testing.T) {
	const want = "new"
	var (
		durable = fmt.Errorf("sync: %w", atomicfile.ErrNotDurable)
		held    = inPlace{syscall.EACCES}
		changed = fmt.Errorf("%w: it has another text", atomicfile.ErrChanged)
		existed = fmt.Errorf("%w: %w", atomicfile.ErrChanged, fs.ErrExist)
		full    = fmt.Errorf("write: %w", syscall.ENOSPC)
		late    = fmt.Errorf("%w, and the lock: %w", changed, syscall.EIO)

		isNew   = contents{text: []byte(want)}
		other   = contents{text: []byte("old")}
		half    = contents{text: []byte("ol"), broken: io.ErrUnexpectedEOF}
		absent  = contents{err: &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}}
		noRight = contents{err: fs.ErrPermission}
	)
	for _, c := range []struct {
		name    string
		err     error
		now     contents
		creates bool
		fate    fate
	}{
		{"done", nil, isNew, false, written},
		{"created", nil, isNew, true, written},
		{"a client has saved since", nil, other, false, written},
		{"a client has half saved since", nil, half, false, unreadable},
		{"a client has removed it since", nil, absent, false, unreadable},
		{"a client has removed the created one", nil, absent, true, unreadable},
		{"nobody may read it", nil, noRight, false, unreadable},

		{"not durable", durable, isNew, false, written},
		{"not durable, and saved since", durable, other, false, written},
		{"not durable, and half saved since", durable, half, false, unreadable},
		{"not durable, and nobody may read it", durable, noRight, false, unreadable},
		{"the client's lock stays", held, isNew, false, written},
		{"the client's lock stays, and it has saved since", held, other, false, written},
		{"the client's lock stays, and it has half saved since", held, half, false, unreadable},

		{"failed after the rename", full, isNew, false, written},
		{"failed after the rename of a new file", full, isNew, true, written},
		{"changed, to the same text", changed, isNew, false, written},

		{"saved meanwhile", changed, other, false, savedOver},
		{"half saved meanwhile", changed, half, false, savedOver},
		{"created meanwhile", existed, other, true, savedOver},
		{"its directory was made meanwhile", existed, absent, true, savedOver},
		{"saved meanwhile, and the lock failed", late, other, false, savedOver},

		{"failed", full, other, false, notWritten},
		{"failed, and half saved", full, half, false, notWritten},
		{"not created", full, absent, true, notWritten},
		{"not created, as another has", full, other, true, notWritten},

		{"failed, and removed", full, absent, false, unknown},
		{"failed, and nobody may read it", full, noRight, false, unknown},
		{"not created, and nobody may read it", full, noRight, true, unknown},
		{"saved meanwhile, and nobody may read it", changed, noRight, false, unknown},
		{"saved meanwhile, and removed", changed, absent, false, unknown},
		{"not created in time, and nobody may read it", errors.Join(existed, syscall.EIO), noRight, true, unknown},
	} {
		if got := after(c.err, c.now, []byte(want), c.creates); got != c.fate {
			t.Errorf("%s: %v, want %v", c.name, got, c.fate)
		}
	}
}
