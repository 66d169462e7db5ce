package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// A file is one that is published, or one in an archive, whose name is a path with
// slashes.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// tarball packs files, and the directories above them if dirs is set, owned by root and
// of one time.
func tarball(when time.Time, files []file, dirs bool) ([]byte, error) {
	var b bytes.Buffer
	z := compressor(&b)
	t := tar.NewWriter(z)
	header := func(kind byte, name string, mode fs.FileMode, size int) *tar.Header {
		return &tar.Header{
			Typeflag: kind, Name: name, Mode: int64(mode), Size: int64(size),
			ModTime: when, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
	}
	made := map[string]bool{}
	for _, f := range files {
		for i, r := range f.name {
			if dir := f.name[:i]; r == '/' && dirs && !made[dir] {
				made[dir] = true
				if err := t.WriteHeader(header(tar.TypeDir, dir+"/", 0o755, 0)); err != nil {
					return nil, err
				}
			}
		}
		if err := t.WriteHeader(header(tar.TypeReg, f.name, f.mode, len(f.data))); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// zipped packs files of one time, with their modes.
func zipped(when time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z := compressor(&b)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

func compressor(w io.Writer) *gzip.Writer {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}

// arPacked packs files as ar(1) does, which a Debian package is.
func arPacked(when time.Time, files []file) []byte {
	b := bytes.NewBufferString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", f.name, when.Unix(), 0, 0, "100644", len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// under puts files below a directory.
func under(dir string, files ...file) []file {
	var moved []file
	for _, f := range files {
		name := path.Join(dir, f.name)
		if strings.HasPrefix(dir, "./") {
			name = "./" + name // as dpkg has it
		}
		moved = append(moved, file{name, f.mode, f.data})
	}
	return moved
}
