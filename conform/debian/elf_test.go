package debian

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dynamicProgram returns some program of this machine that has a loader.
func dynamicProgram(t testing.TB) (path string, data []byte) {
	t.Helper()
	for _, name := range []string{"tmux", "sh", "ls"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(data, []byte(elf.ELFMAG)) && bytes.Contains(data, []byte("/ld-")) {
			return path, data
		}
	}
	t.Skip("this machine has no dynamically linked program to try it on")
	return "", nil
}

func TestBound(t *testing.T) {
	path, data := dynamicProgram(t)
	before := bytes.Clone(data)
	out, err := bound(data, "/a/loader", "$ORIGIN/b:/c")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, before) {
		t.Error("the input was changed")
	}
	image, err := elf.NewFile(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	var end uint64
	for _, p := range image.Progs {
		switch p.Type {
		case elf.PT_INTERP:
			text := make([]byte, p.Filesz)
			if _, err := p.ReadAt(text, 0); err != nil || string(text) != "/a/loader\x00" {
				t.Errorf("%s: the loader is %q (%v)", path, text, err)
			}
		case elf.PT_LOAD:
			if p.Vaddr < end {
				t.Errorf("%s: segment at %#x begins before %#x, where the last one ended", path, p.Vaddr, end)
			}
			if p.Off%p.Align != p.Vaddr%p.Align {
				t.Errorf("%s: segment at %#x cannot be mapped from %#x", path, p.Vaddr, p.Off)
			}
			end = p.Vaddr + p.Memsz
		}
	}
	rpath, err := image.DynValue(elf.DT_RPATH)
	if err != nil || len(rpath) != 1 {
		t.Fatalf("%s: DT_RPATH: %v, %v", path, rpath, err)
	}
	strtab, err := image.DynValue(elf.DT_STRTAB)
	if err != nil {
		t.Fatal(err)
	}
	at := strtab[0] + rpath[0]
	found := ""
	for _, p := range image.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= at && at < p.Vaddr+p.Filesz {
			text := make([]byte, p.Vaddr+p.Filesz-at)
			if _, err := p.ReadAt(text, int64(at-p.Vaddr)); err != nil {
				t.Fatal(err)
			}
			found, _, _ = strings.Cut(string(text), "\x00")
		}
	}
	if found != "$ORIGIN/b:/c" {
		t.Errorf("%s: the search path is %q", path, found)
	}
	if _, err := bound(out, "/a/loader", "/d"); err == nil {
		t.Error("bound a second time without an error")
	}
}

func TestBindRefuses(t *testing.T) {
	_, data := dynamicProgram(t)
	for name, bad := range map[string][]byte{
		"nothing":  nil,
		"a script": []byte("#!/bin/sh\n"),
		"a head":   data[:64],
		"a part":   data[:len(data)/2],
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "tmux")
			writeFile(t, file, string(bad))
			if err := bind(file, "/a/loader", "/b"); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want an error on one line", err)
			}
			if left, err := os.ReadFile(file); err != nil || !bytes.Equal(left, bad) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// FuzzBound spoils eight bytes of the headers or of the dynamic section: there is
// an error or a result, never a panic.
func FuzzBound(f *testing.F) {
	_, data := dynamicProgram(f)
	image, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		f.Fatal(err)
	}
	dynamic := int(image.SectionByType(elf.SHT_DYNAMIC).Offset)
	f.Add(uint16(32), uint64(1<<63), false)
	f.Add(uint16(54), uint64(1), false)
	f.Add(uint16(112), uint64(1<<62), false)
	f.Add(uint16(0), uint64(30), true)
	f.Fuzz(func(t *testing.T, at uint16, value uint64, inDynamic bool) {
		at %= 1024
		spoiled := bytes.Clone(data)
		place := spoiled[at:]
		if inDynamic {
			place = spoiled[dynamic+int(at)%400:]
		}
		image.ByteOrder.PutUint64(place, value)
		out, err := bound(spoiled, "/a/loader", "/b")
		if err == nil && len(out) > len(data)+1<<22 {
			t.Errorf("%d bytes became %d", len(data), len(out))
		}
	})
}
