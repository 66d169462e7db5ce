package peer

import (
	"io"
	"os"
	"unicode/utf8"
)

// A Log is a file for the standard error of a program. Unlike a pipe it never blocks the program,
// and is complete once the program has exited, whoever else still writes to it.
type Log struct{ *os.File }

// NewLog creates a log in a directory, by default that of temporary files.
func NewLog(dir string) (Log, error) {
	f, err := os.CreateTemp(dir, "stderr-")
	return Log{f}, err
}

// Head returns the first bytes of the log, at most n.
func (l Log) Head(n int64) string { return l.read(0, n) }

// Tail returns the last bytes of the log, at most n, from the beginning of a character.
func (l Log) Tail(n int64) string {
	info, err := l.Stat()
	if err != nil {
		return ""
	}
	text := l.read(max(0, info.Size()-n), n)
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

func (l Log) read(from, n int64) string {
	text, _ := io.ReadAll(io.NewSectionReader(l, from, n))
	return string(text)
}
