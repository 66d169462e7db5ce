package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"tmuxmcp/internal/reading"
)

// A Snapshot is the state of a database at one time.
type Snapshot struct {
	db, wal, shm io.ReaderAt
	budget       *reading.Budget
	index        walIndex
	pageSize     int
	usable       int               // bytes of a page that hold data
	frames       map[uint32]int64  // last committed frame of a page
	pages        map[uint32][]byte // those read so far
	objects      []object
}

var (
	native       = binary.NativeEndian
	big          = binary.BigEndian
	errMalformed = errors.New("the database is malformed")
)

const (
	headers       = 512 // more than all that a try reads of headers
	indexHeader   = 48
	attemptedAt   = 128 // of nBackfillAttempted
	logHeader     = 32
	frameHeader   = 24
	blockSize     = 32768 // of the wal-index: page numbers of frames, then their hash table
	blockFrames   = 4096
	blockReserved = 34 // page numbers that the first block has fewer
)

// A walIndex is the header of a wal-index.
type walIndex struct {
	frames   int64  // committed frames of the log
	pages    uint32 // size of the database
	pageSize int
	checksum [2]uint32 // of the last frame
	salts    [8]byte
}

// open prepares the snapshot of a wal-index.
func (s *Snapshot) open() error {
	// Nothing changes the page size or, while the wal-index is there, the mode.
	head := make([]byte, 100)
	if err := readAt(s.db, head, 0); err != nil {
		return err
	}
	s.pageSize = pageSize(big.Uint16(head[16:]))
	if string(head[:16]) != "SQLite format 3\x00" || s.pageSize < 512 || s.pageSize&(s.pageSize-1) != 0 {
		return errors.New("not a SQLite database")
	}
	if head[18] != 2 || head[19] != 2 {
		return errors.New("the database is not in WAL mode")
	}
	if s.index.pages == 0 { // nothing was written since the wal-index was made
		s.index.pages = math.MaxUint32
	}
	if s.index.frames > 0 {
		if err := s.findFrames(); err != nil {
			return err
		}
	}
	head, err := s.page(1)
	if err != nil {
		return err
	}
	s.usable = s.pageSize - int(head[20])
	switch {
	case s.usable < 480:
		return errMalformed
	case big.Uint32(head[56:]) > 1: // an empty database has none yet
		return errors.New("the text of the database is not in UTF-8")
	case big.Uint32(head[96:]) < 3010000:
		return errors.New("the database was written by a SQLite older than 3.10")
	}
	return nil
}

// findFrames finds the last committed frame of each page, from the page numbers in the
// wal-index. The last frame of all proves that the wal-index belongs to the log: its checksum
// covers all frames before it.
func (s *Snapshot) findFrames() error {
	if s.index.pageSize != s.pageSize {
		return errMalformed
	}
	var page uint32
	for i := int64(0); i < s.index.frames; {
		at := (i + blockReserved) % blockFrames
		b := make([]byte, 4*min(blockFrames-at, s.index.frames-i))
		if err := s.budget.Take(4 * int64(len(b))); err != nil { // an entry of the map is larger
			return err
		}
		if err := readAt(s.shm, b, (i+blockReserved)/blockFrames*blockSize+4*at); err != nil {
			return err
		}
		for ; len(b) > 0; b = b[4:] {
			i++
			if page = native.Uint32(b); page == 0 {
				return errMalformed
			}
			s.frames[page] = i
		}
	}
	last, err := s.frame(s.index.frames, page, 0)
	if err != nil {
		return err
	}
	if big.Uint32(last[4:]) != s.index.pages || [2]uint32{big.Uint32(last[16:]), big.Uint32(last[20:])} != s.index.checksum {
		return errors.New("the log does not fit the wal-index")
	}
	return nil
}

// holds returns an error if the snapshot may have been overwritten before the call. The number
// of checkpointed frames is read before the salts: SQLite changes the salts first and then
// resets the number.
func (s *Snapshot) holds() error {
	var attempted [4]byte
	if err := readAt(s.shm, attempted[:], attemptedAt); err != nil {
		return err
	}
	now, err := readIndex(s.shm)
	if err != nil {
		return err
	}
	if now.salts != s.index.salts || int64(native.Uint32(attempted[:])) > s.index.frames {
		return errors.New("another program has overwritten it")
	}
	return nil
}

// readIndex reads the header of a wal-index. There are two copies, because a program may be
// writing it: the second is written first.
func readIndex(shm io.ReaderAt) (walIndex, error) {
	var b [2 * indexHeader]byte
	if err := readAt(shm, b[:], 0); err != nil {
		return walIndex{}, err
	}
	h := b[:indexHeader]
	if !bytes.Equal(h, b[indexHeader:]) || checksum(h[:40]) != [2]uint32{native.Uint32(h[40:]), native.Uint32(h[44:])} || h[12] == 0 {
		return walIndex{}, errors.New("its wal-index is not ready")
	}
	if v := native.Uint32(h); v != 3007000 {
		return walIndex{}, fmt.Errorf("its wal-index has version %d, not 3007000", v)
	}
	return walIndex{
		pageSize: pageSize(native.Uint16(h[14:])),
		frames:   int64(native.Uint32(h[16:])),
		pages:    native.Uint32(h[20:]),
		checksum: [2]uint32{native.Uint32(h[24:]), native.Uint32(h[28:])},
		salts:    [8]byte(h[32:]),
	}, nil
}

// checksum returns the checksum of SQLite's log.
func checksum(b []byte) (sum [2]uint32) {
	for ; len(b) > 0; b = b[8:] {
		sum[0] += native.Uint32(b) + sum[1]
		sum[1] += native.Uint32(b[4:]) + sum[0]
	}
	return sum
}

// pageSize decodes a page size, in which 1 means 65536.
func pageSize(n uint16) int { return int(n&^1) | int(n&1)<<16 }

// page returns a whole page, which is read once.
func (s *Snapshot) page(no uint32) ([]byte, error) {
	if b, ok := s.pages[no]; ok {
		return b, nil
	}
	b, err := s.start(no, s.pageSize)
	if err == nil {
		s.pages[no] = b
	}
	return b, err
}

// start returns the first n bytes of a page. Fewer than 64 count as 64, so that the budget also
// bounds the number of reads.
func (s *Snapshot) start(no uint32, n int) ([]byte, error) {
	if no == 0 || no > s.index.pages {
		return nil, errMalformed
	}
	if err := s.budget.Take(max(64, int64(frameHeader+n))); err != nil {
		return nil, err
	}
	if frame := s.frames[no]; frame > 0 {
		b, err := s.frame(frame, no, n)
		if err != nil {
			return nil, err
		}
		return b[frameHeader:], nil
	}
	b := make([]byte, n)
	return b, readAt(s.db, b, int64(no-1)*int64(s.pageSize))
}

// frame returns the header of a frame, which must hold the given page, and the first n bytes
// of the page.
func (s *Snapshot) frame(frame int64, page uint32, n int) ([]byte, error) {
	b := make([]byte, frameHeader+n)
	if err := readAt(s.wal, b, logHeader+(frame-1)*int64(frameHeader+s.pageSize)); err != nil {
		return nil, err
	}
	if big.Uint32(b) != page || [8]byte(b[8:]) != s.index.salts {
		return nil, errors.New("the log does not fit the wal-index")
	}
	return b, nil
}

// readAt fills b.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("read %d bytes at %d: %w", len(b), at, err)
	}
	return nil
}
