package debian

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// libraries finds, among unpacked packages, the loader of a program and the
// directories of its libraries, as a search path relative to the program.
// Debian keeps both in directories named for the architecture, and libc
// has lived in /lib and in /usr/lib.
func libraries(root, program string) (loader, runpath string, err error) {
	image, err := elf.Open(program)
	if err != nil {
		return "", "", err
	}
	defer image.Close()
	var wanted string
	for _, p := range image.Progs {
		if p.Type == elf.PT_INTERP {
			text, err := io.ReadAll(p.Open())
			if err != nil {
				return "", "", err
			}
			wanted = filepath.Base(string(bytes.TrimRight(text, "\x00")))
		}
	}
	for _, lib := range []string{"usr/lib", "lib"} {
		// Links in the root that stand for the loader may be absolute, and lead out of it.
		found, _ := filepath.Glob(filepath.Join(globQuote(root), lib, "*", wanted))
		if len(found) > 0 {
			loader = found[0]
		}
	}
	if wanted == "" || loader == "" {
		return "", "", fmt.Errorf("its packages have no loader %q", wanted)
	}
	arch := filepath.Base(filepath.Dir(loader))
	var search []string
	for _, lib := range []string{"usr/lib", "lib"} {
		dir := filepath.Join(root, lib, arch)
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		relative, err := filepath.Rel(filepath.Dir(program), dir)
		if err != nil {
			return "", "", err
		}
		search = append(search, "$ORIGIN/"+relative)
	}
	return loader, strings.Join(search, ":"), nil
}

// bind rewrites the program at path so that the kernel starts it with the given
// loader (an absolute path) and that loader searches runpath for the program's
// libraries and for theirs. The program stays a program: /proc/PID/exe and the
// process name are its own, which a script that starts the loader would change,
// and nothing is left in the environment for its children.
//
// Both strings go to the end of the file, in a segment of their own. Its program
// header is that of a PT_NOTE, which neither kernel nor loader needs. The search
// path is a DT_RPATH and not a DT_RUNPATH: only the former is asked before
// LD_LIBRARY_PATH, and for the libraries of libraries. It takes one of the spare
// entries that GNU ld leaves at the end of .dynamic.
func bind(path, loader, runpath string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data, err = bound(data, loader, runpath)
	if err != nil {
		return fmt.Errorf("bind %s to its libraries: %w", path, err)
	}
	// A new file, never a write into the old one: the old one may be running.
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o755)
}

func bound(data []byte, loader, runpath string) ([]byte, error) {
	image, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	note, interp, dynamic := -1, -1, -1
	var end, align uint64 = 0, 1
	for i, p := range image.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			end, align = max(end, p.Vaddr+p.Memsz), max(align, p.Align)
			note = -1 // loaded segments stand in the order of their addresses, and ours is the last
		case elf.PT_NOTE:
			note = i
		case elf.PT_INTERP:
			interp = i
		case elf.PT_DYNAMIC:
			dynamic = i
		}
	}
	if interp < 0 || dynamic < 0 {
		return nil, errors.New("it is statically linked")
	}
	if note < 0 {
		return nil, errors.New("it has no note segment to spare")
	}
	if d := image.Progs[dynamic]; align > 1<<21 || d.Off > uint64(len(data)) || d.Filesz > uint64(len(data))-d.Off {
		return nil, errors.New("its program headers make no sense")
	}

	roundUp := func(n uint64) uint64 { return (n + align - 1) / align * align }
	text := loader + "\x00" + runpath + "\x00"
	segment := elf.ProgHeader{
		Type: elf.PT_LOAD, Flags: elf.PF_R, Align: align,
		Off: roundUp(uint64(len(data))), Vaddr: roundUp(end),
		Filesz: uint64(len(text)), Memsz: uint64(len(text)),
	}
	segment.Paddr = segment.Vaddr
	name := segment
	name.Type, name.Align = elf.PT_INTERP, 1
	name.Filesz, name.Memsz = uint64(len(loader)+1), uint64(len(loader)+1)

	data = append(bytes.Clone(data), make([]byte, segment.Off-uint64(len(data)))...)
	data = append(data, text...)
	putHeader(data, image, note, segment)
	putHeader(data, image, interp, name)
	return data, putRunpath(data, image, image.Progs[dynamic].ProgHeader, segment.Vaddr+name.Filesz)
}

// putHeader overwrites the program header of the given index, which has been read.
func putHeader(data []byte, image *elf.File, index int, p elf.ProgHeader) {
	order := image.ByteOrder
	var table uint64
	var header any
	if image.Class == elf.ELFCLASS64 {
		table = order.Uint64(data[32:])
		header = &elf.Prog64{
			Type: uint32(p.Type), Flags: uint32(p.Flags), Off: p.Off, Vaddr: p.Vaddr,
			Paddr: p.Paddr, Filesz: p.Filesz, Memsz: p.Memsz, Align: p.Align,
		}
	} else {
		table = uint64(order.Uint32(data[28:]))
		header = &elf.Prog32{
			Type: uint32(p.Type), Flags: uint32(p.Flags), Off: uint32(p.Off), Vaddr: uint32(p.Vaddr),
			Paddr: uint32(p.Paddr), Filesz: uint32(p.Filesz), Memsz: uint32(p.Memsz), Align: uint32(p.Align),
		}
	}
	at := table + uint64(index*binary.Size(header))
	var buf bytes.Buffer
	binary.Write(&buf, order, header) // to memory, of a fixed-size struct: cannot fail
	copy(data[at:], buf.Bytes())
}

// putRunpath enters the string at the address vaddr as the search path. Its
// offset from the string table lies beyond the table's DT_STRSZ; the loader adds
// it to the table's address and does not ask for the size.
func putRunpath(data []byte, image *elf.File, dynamic elf.ProgHeader, vaddr uint64) error {
	order, word := image.ByteOrder, 8
	get := order.Uint64
	put := order.PutUint64
	if image.Class == elf.ELFCLASS32 {
		word = 4
		get = func(b []byte) uint64 { return uint64(order.Uint32(b)) }
		put = func(b []byte, v uint64) { order.PutUint32(b, uint32(v)) }
	}
	table := data[dynamic.Off : dynamic.Off+dynamic.Filesz]
	var strtab uint64
	for at := 0; at+4*word <= len(table); at += 2 * word {
		switch elf.DynTag(get(table[at:])) {
		case elf.DT_STRTAB:
			strtab = get(table[at+word:])
		case elf.DT_RPATH, elf.DT_RUNPATH:
			return errors.New("it has a library search path already")
		case elf.DT_NULL: // and one more follows, which ends the table from now on
			put(table[at:], uint64(elf.DT_RPATH))
			put(table[at+word:], vaddr-strtab)
			return nil
		}
	}
	return errors.New("its dynamic section has no entry to spare")
}
