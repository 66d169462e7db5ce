package conversation

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// mostRead bounds what a call reads of a conversation, in bytes.
	mostRead = 16 << 20
	// firstRead is how much of its end is read at first. claude writes each request to its
	// model there too, in thousands of bytes.
	firstRead = 256 << 10
	// mostSmall bounds other files.
	mostSmall = 256 << 10
)

// A reader collects the messages of the lines of a file.
type reader struct {
	messages []Message
	// session is the conversation's name, and dir the directory that it is of, if a line has
	// them.
	session, dir string
	// known is set once a line had the form that is expected, and bad once one that matters
	// had another.
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
func readLines(f *os.File, from int64, parse func(line []byte, r *reader)) (*reader, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, unreadable("%v", err)
	}
	size := info.Size()
	if from >= 0 {
		if from > size || !lineBegins(f, from) {
			return nil, 0, BadCursor("is no place in the conversation any more: the agent has rewritten it")
		}
		r, end, err := parseLines(f, from, min(size, from+mostRead), parse)
		if err == nil && end == from && size-from > mostRead {
			end = nextLine(f, from, size) // a line that is too long
		}
		return r, end, err
	}
	for much := int64(firstRead); ; much *= 4 {
		begin := max(0, size-min(much, mostRead))
		for begin > 0 && begin < size && !lineBegins(f, begin) {
			begin = nextLine(f, begin, size)
		}
		r, end, err := parseLines(f, begin, size, parse)
		if err != nil {
			return nil, 0, err
		}
		if i := lastPrompt(r.messages); i >= 0 {
			r.messages = r.messages[i:]
			return r, end, nil
		}
		if begin == 0 || much >= mostRead {
			if !r.known {
				return nil, 0, unreadable("its conversation has another form than the versions that are known")
			}
			return r, end, nil
		}
	}
}

// lineBegins reports whether a line begins at an offset.
func lineBegins(f *os.File, at int64) bool {
	var before [1]byte
	if at == 0 {
		return true
	}
	_, err := f.ReadAt(before[:], at-1)
	return err == nil && before[0] == '\n'
}

// nextLine returns where the next line begins, or size.
func nextLine(f *os.File, at, size int64) int64 {
	buf := make([]byte, 64<<10)
	for at < size {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1
		}
		if at += int64(n); err != nil {
			break
		}
	}
	return size
}

// parseLines parses the complete lines between two offsets, and returns where the rest
// begins.
func parseLines(f *os.File, begin, end int64, parse func([]byte, *reader)) (*reader, int64, error) {
	text := make([]byte, end-begin)
	n, err := f.ReadAt(text, begin)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, unreadable("%v", err)
	}
	r, rest := new(reader), text[:n]
	for {
		line, after, complete := bytes.Cut(rest, []byte("\n"))
		if !complete {
			return r, begin + int64(n-len(rest)), nil
		}
		before := len(r.messages)
		if parse(line, r); r.bad {
			return nil, 0, unreadable("a line of its conversation has another form than the versions that are known")
		}
		rest = after
		for i := min(before, len(r.messages)); i < len(r.messages); i++ {
			r.messages[i].end = begin + int64(n-len(rest))
		}
	}
}

// home is an agent's own directory, whose files are read.
type home struct {
	*os.Root
	path string
}

// openHome opens an agent's directory, if it is this user's.
func openHome(path string) (*home, error) {
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
	return &home{root, path}, nil
}

// open opens a regular file of this user's below the directory.
func (h *home) open(name string) (*os.File, error) {
	// A pipe is not waited for.
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

// small returns the content of a small file.
func (h *home) small(name string) ([]byte, error) {
	f, err := h.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSmall+1))
	if err == nil && len(text) > mostSmall {
		err = unreadable("%s is too large", filepath.Join(h.path, name))
	}
	return text, err
}

// plain returns an error with the whole path of its file, or that leads out of an agent's
// directory.
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
	r, end, err := readLines(f, from, parse)
	if err != nil {
		return nil, err
	}
	return &Conversation{Messages: r.messages, Cursor: cursor{session, end}.String()}, nil
}
