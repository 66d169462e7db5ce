package conversation

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tmuxmcp/internal/reading"
)

const (
	// mostRead bounds what a call reads, of all files together, in bytes.
	mostRead = 16 << 20
	// firstRead is how much of a file's end is read first. claude writes each request to its
	// model there too, which takes thousands of bytes.
	firstRead = 256 << 10
	// mostSmall bounds other files.
	mostSmall = 256 << 10
	// firstLineRead is how much is read at a time to find the end of the first line.
	firstLineRead = 8 << 10
)

// A reader collects the messages of the lines of a file.
type reader struct {
	messages []Message
	// session names the conversation, and dir its directory, if a line has them.
	session, dir string
	// known is set once a line has the expected form, and bad once one that matters does
	// not.
	known, bad bool

	at map[string]int // of messages, by their ids
}

// add adds a message, or replaces the one with its id.
func (r *reader) add(m Message) {
	if i, ok := r.at[m.id]; ok && m.id != "" && i < len(r.messages) && r.messages[i].id == m.id {
		r.messages[i] = m
		return
	}
	if r.at == nil {
		r.at = map[string]int{}
	}
	r.at[m.id] = len(r.messages)
	r.messages = append(r.messages, m)
}

// end marks the agent's last message as the end of its answer.
func (r *reader) end() {
	if n := len(r.messages); n > 0 && !r.messages[n-1].User {
		r.messages[n-1].Ends = true
	}
}

// readLines reads a file of one JSON value per line: from an offset or, if that is -1, as
// much of its end as is needed for the last prompt. It returns the messages, and the offset
// of the first line that is not complete.
func readLines(b *reading.Budget, f *os.File, from int64, parse func(line []byte, r *reader)) (*reader, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, unreadable("%v", err)
	}
	if from >= 0 {
		return readSince(b, f, from, info.Size(), parse)
	}
	var text []byte
	begin := info.Size()
	for much := firstRead; ; much *= 4 {
		more := min(int64(much-len(text)), begin, b.Left())
		begin -= more
		if text, err = before(b, f, begin, int(more), text); err != nil {
			return nil, 0, err
		}
		lines, at := text, begin
		if begin > 0 {
			line, _, _ := bytes.Cut(text, []byte("\n"))
			at += int64(min(len(line)+1, len(text)))
			lines = text[at-begin:]
		}
		r, end, err := parseLines(b, lines, at, parse)
		if err != nil {
			return nil, 0, err
		}
		if i := lastPrompt(r.messages); i >= 0 {
			r.messages = r.messages[i:]
			return r, end, nil
		}
		if begin == 0 || b.Left() == 0 {
			if !r.known && begin > 0 {
				return nil, 0, b.Take(begin)
			}
			if !r.known {
				return nil, 0, unreadable("its conversation has another form than the versions that are known")
			}
			return r, end, nil
		}
	}
}

func readSince(b *reading.Budget, f *os.File, from, size int64, parse func([]byte, *reader)) (*reader, int64, error) {
	if from > size || !lineBegins(b, f, from) {
		return nil, 0, BadCursor("is no place in the conversation any more: the agent has rewritten it")
	}
	much := min(size-from, b.Left())
	text, err := before(b, f, from, int(much), nil)
	if err != nil {
		return nil, 0, err
	}
	r, end, err := parseLines(b, text, from, parse)
	if err == nil && end == from && much < size-from {
		return nil, 0, BadCursor("stands before a message that is too long to be read")
	}
	return r, end, err
}

// before puts n bytes of a file before those that follow them.
func before(b *reading.Budget, f *os.File, at int64, n int, rest []byte) ([]byte, error) {
	text := make([]byte, n+len(rest))
	copy(text[n:], rest)
	if _, err := b.ReadAt(f, text[:n], at); err != nil {
		return nil, unreadable("%v", err) // or it was truncated meanwhile
	}
	return text, nil
}

func lineBegins(b *reading.Budget, f *os.File, at int64) bool {
	var before [1]byte
	if at == 0 {
		return true
	}
	_, err := b.ReadAt(f, before[:], at-1)
	return err == nil && before[0] == '\n'
}

// firstLine returns the first line of a file, unless that is too long.
func firstLine(b *reading.Budget, f *os.File) []byte {
	text := make([]byte, 0, mostSmall)
	for len(text) < mostSmall {
		n, err := b.ReadAt(f, text[len(text):min(len(text)+firstLineRead, mostSmall)], int64(len(text)))
		text = text[:len(text)+n]
		if line, _, complete := bytes.Cut(text, []byte("\n")); complete || err != nil {
			return line
		}
	}
	return nil
}

// parseLines parses the complete lines of a text that begins at an offset, and returns where
// the rest begins.
func parseLines(b *reading.Budget, text []byte, begin int64, parse func([]byte, *reader)) (*reader, int64, error) {
	r, rest := new(reader), text
	for b.Err() == nil {
		line, after, complete := bytes.Cut(rest, []byte("\n"))
		if !complete {
			return r, begin + int64(len(text)-len(rest)), nil
		}
		before := len(r.messages)
		if parse(line, r); r.bad {
			return nil, 0, unreadable("a line of its conversation has another form than the versions that are known")
		}
		rest = after
		for i := min(before, len(r.messages)); i < len(r.messages); i++ {
			r.messages[i].end = begin + int64(len(text)-len(rest))
		}
	}
	return nil, 0, b.Err()
}

// home is an agent's own directory, whose files are read.
type home struct {
	*os.Root
	path string
	b    *reading.Budget
}

// openHome opens an agent's directory, if it is this user's.
func openHome(b *reading.Budget, path string) (*home, error) {
	if !filepath.IsAbs(path) {
		return nil, unreadable("the agent's directory is not known")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, unreadable("%v", plain(err, path))
	}
	info, err := root.Stat(".")
	if err == nil && !ownedByUs(info) {
		err = errors.New(path + " is another user's")
	}
	if err != nil {
		root.Close()
		return nil, unreadable("%v", err)
	}
	return &home{root, path, b}, nil
}

// open opens a regular file of this user's below the directory.
func (h *home) open(name string) (*os.File, error) {
	// Do not wait for the other end of a pipe.
	f, err := h.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, unreadable("%v", plain(err, filepath.Join(h.path, name)))
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = unreadable("%s is not a regular file", filepath.Join(h.path, name))
	case !ownedByUs(info):
		err = unreadable("%s is another user's", filepath.Join(h.path, name))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// glob returns the files with names that match a pattern.
func (h *home) glob(pattern string) ([]string, error) {
	files, err := fs.Glob(tree{h.FS(), h.b}, pattern)
	if err == nil {
		err = h.b.Err() // which Glob passes over
	}
	if err != nil {
		return nil, unreadable("%v", err)
	}
	return files, nil
}

// A tree is a file system of which only so much is listed as a budget allows.
type tree struct {
	fs.FS
	b *reading.Budget
}

func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, fs.ErrInvalid
	}
	return t.b.Dir(d)
}

func (h *home) small(name string) ([]byte, error) {
	f, err := h.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := h.b.Small(f, mostSmall+1)
	if err == nil && len(text) > mostSmall {
		err = unreadable("%s is too large", filepath.Join(h.path, name))
	}
	return text, err
}

// plain returns an error with the whole path of its file.
func plain(err error, path string) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: "open", Path: path, Err: p.Err}
	}
	return err
}

// conversation reads a file of a conversation from an offset or, if that is -1, its end.
func (h *home) conversation(name, session string, from int64, parse func([]byte, *reader)) (*Conversation, error) {
	f, err := h.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, end, err := readLines(h.b, f, from, parse)
	if err != nil {
		return nil, err
	}
	return &Conversation{Messages: r.messages, Cursor: cursor{session, end}.String()}, nil
}
