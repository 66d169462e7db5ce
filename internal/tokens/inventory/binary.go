package inventory

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrNoTable is returned by [FromBinary] for a file that holds no table of tokens it can read: not
// an ELF program, or not tmux. A shell script that starts tmux is such a file; [Probe] looks
// through it.
var ErrNoTable = errors.New("no tmux token table in this file")

// fewestTokens is the length from which a sorted run of name, kind and function pointers is taken
// for tmux's table. tmux 3.2 has over 150 rows; no other sorted table of this shape in tmux comes
// near.
const fewestTokens = 100

// maxProgram is the most that is read of a program, all in all: tmux has two megabytes.
const maxProgram = 128 << 20

// FromBinary returns the rows of the token table in a compiled tmux, in their order. The file is
// only read, never run, so it may be a tmux for another machine, and stripped.
//
// Searching the file for names would not do: a linker stores "pid" only as the end of "client_pid",
// and "pane_title" is there for other reasons too. So the table itself is looked for, by its shape:
// the longest run of rows of a pointer to a name, a kind that is 0 or 1, and a pointer to code, the
// names in ascending order as tmux's binary search needs them.
func FromBinary(path string) ([]Entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || string(magic[:]) != elf.ELFMAG {
		return nil, fmt.Errorf("%s is not an ELF program: %w", path, ErrNoTable)
	}
	ef, err := elf.NewFile(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	img, err := newImage(ef)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	entries := img.longestTable()
	if len(entries) < fewestTokens {
		return nil, fmt.Errorf("%s: %w", path, ErrNoTable)
	}
	return entries, nil
}

// An image is a program as the loader would lay it out at address zero.
type image struct {
	elf   *elf.File
	word  uint64 // size of a pointer
	segs  []segment
	moved map[uint64]uint64 // where the loader writes a pointer, and which one
}

type segment struct {
	addr uint64
	data []byte
	exec bool
}

func newImage(f *elf.File) (*image, error) {
	img := &image{elf: f, word: 8, moved: make(map[uint64]uint64)}
	if f.Class == elf.ELFCLASS32 {
		img.word = 4
	}
	left := uint64(maxProgram)
	room := func(size uint64) error {
		if size > left {
			return fmt.Errorf("more than %d MiB to read", maxProgram>>20)
		}
		left -= size
		return nil
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if err := room(p.Filesz); err != nil {
			return nil, err
		}
		data, err := io.ReadAll(p.Open())
		if err != nil {
			return nil, err
		}
		img.segs = append(img.segs, segment{addr: p.Vaddr, data: data, exec: p.Flags&elf.PF_X != 0})
	}
	// Relocations with an addend name the pointer; all other kinds (REL, RELR) and programs at a
	// fixed address have it in place already. Only 64-bit machines are known to use addends for it.
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || img.word != 8 {
			continue
		}
		if err := room(s.Size); err != nil { // that of what is unpacked, if it is packed
			return nil, err
		}
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		for ; len(data) >= 24; data = data[24:] {
			if info := f.ByteOrder.Uint64(data[8:]); info>>32 == 0 { // no symbol: relative to the load address
				img.moved[f.ByteOrder.Uint64(data)] = f.ByteOrder.Uint64(data[16:])
			}
		}
	}
	return img, nil
}

// longestTable tries every place where a table could start.
func (img *image) longestTable() []Entry {
	var best []Entry
	row := 3 * img.word
	for _, s := range img.segs {
		if s.exec {
			continue
		}
		for off := uint64(0); off+row <= uint64(len(s.data)); {
			start := s.addr + off
			var run []Entry
			for addr := start; ; addr += row {
				e, ok := img.row(addr)
				if !ok || len(run) > 0 && run[len(run)-1].Name >= e.Name {
					break
				}
				run = append(run, e)
			}
			if len(run) > len(best) {
				best = run
			}
			off += max(img.word, uint64(len(run))*row)
		}
	}
	return best
}

func (img *image) row(addr uint64) (Entry, bool) {
	name, ok := img.name(img.pointer(addr))
	if !ok {
		return Entry{}, false
	}
	kind, ok := img.bytes(addr+img.word, 4)
	if !ok || img.elf.ByteOrder.Uint32(kind) > 1 {
		return Entry{}, false
	}
	code := img.pointer(addr + 2*img.word)
	for _, s := range img.segs {
		if s.exec && code >= s.addr && code-s.addr < uint64(len(s.data)) {
			return Entry{Name: name, Time: img.elf.ByteOrder.Uint32(kind) == 1}, true
		}
	}
	return Entry{}, false
}

func (img *image) pointer(addr uint64) uint64 {
	if p, ok := img.moved[addr]; ok {
		return p
	}
	b, ok := img.bytes(addr, img.word)
	switch {
	case !ok:
		return 0
	case img.word == 4:
		return uint64(img.elf.ByteOrder.Uint32(b))
	default:
		return img.elf.ByteOrder.Uint64(b)
	}
}

func (img *image) name(addr uint64) (string, bool) {
	b, ok := img.bytes(addr, 1)
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(b[:min(cap(b), 64)], 0)
	if end < 0 || !isName(string(b[:end])) {
		return "", false
	}
	return string(b[:end]), true
}

// bytes returns n bytes at addr; the slice's capacity reaches to the end of the segment.
func (img *image) bytes(addr, n uint64) ([]byte, bool) {
	for _, s := range img.segs {
		if off := addr - s.addr; addr >= s.addr && off < uint64(len(s.data)) && n <= uint64(len(s.data))-off {
			return s.data[off : off+n : len(s.data)], true
		}
	}
	return nil, false
}
