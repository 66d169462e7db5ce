// Package reading bounds what a call reads, of however many files.
package reading

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"tmuxmcp/internal/pause"
)

// A Budget is how many bytes a call may still read, until its context ends. Everything that
// the call reads goes through its one budget. Once that has refused something, it refuses all
// that follows. It is for one goroutine.
type Budget struct {
	ctx  context.Context
	left int64
	err  error
}

// ErrSpent means that there is more to read than the budget had.
var ErrSpent = errors.New("there is more to read than the limit allows")

// chunk is how much is read at a time. A call that is canceled reads no further one.
const chunk = 64 << 10

// Within returns a budget of so many bytes.
func Within(ctx context.Context, most int64) *Budget { return &Budget{ctx: ctx, left: most} }

// Left returns how many bytes are left.
func (b *Budget) Left() int64 { return b.left }

// Err returns why nothing more can be read: nil, ErrSpent or the cause of the context's end.
func (b *Budget) Err() error {
	if b.err == nil && b.ctx.Err() != nil {
		b.err = context.Cause(b.ctx)
	}
	return b.err
}

// Take takes n bytes for what the caller is about to read or do.
func (b *Budget) Take(n int64) error {
	if b.Err() == nil && n > b.left {
		b.err = ErrSpent
	}
	if b.err == nil {
		b.left -= n
	}
	return b.err
}

// Pause waits, unless the context ends.
func (b *Budget) Pause(d time.Duration) error {
	if b.Err() == nil {
		b.err = pause.For(b.ctx, d)
	}
	return b.err
}

// ReadAt reads from an offset until p is full, or an error.
func (b *Budget) ReadAt(r io.ReaderAt, p []byte, at int64) (n int, err error) {
	for n < len(p) && err == nil {
		part := p[n:min(len(p), n+chunk)]
		if err := b.Take(int64(len(part))); err != nil {
			return n, err
		}
		var some int
		some, err = r.ReadAt(part, at+int64(n))
		b.left += int64(len(part) - some)
		n += some
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// Small returns the first bytes of a file, at most so many.
func (b *Budget) Small(r io.Reader, most int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(reader{b, r}, int64(most)))
}

type reader struct {
	b *Budget
	r io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	p = p[:min(len(p), chunk)]
	if err := r.b.Take(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	r.b.left += int64(len(p) - n)
	return n, err
}

// entry is what an entry of a directory takes, besides its name.
const entry = 64

// Dir returns the entries of an open directory, in the order of their names.
func (b *Budget) Dir(d fs.ReadDirFile) (all []fs.DirEntry, err error) {
	for {
		if err := b.Err(); err != nil {
			return nil, err
		}
		some, err := d.ReadDir(chunk / 2 / entry)
		for _, e := range some {
			if err := b.Take(entry + int64(len(e.Name()))); err != nil {
				return nil, err
			}
		}
		all = append(all, some...)
		switch {
		case err == io.EOF:
			slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}
