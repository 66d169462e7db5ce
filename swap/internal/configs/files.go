package configs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/journal"
)

// files are the files that a command has read, and what its texts say. All rooms of a command
// share them, so that each file is opened, checked and parsed once, and all that is said of it is
// said of the same text. It is not for several goroutines.
type files struct {
	read    map[string]*file     // by resolved path
	names   map[string][]string  // by directory
	real    map[string]resolved  // by path
	sources map[string][]*source // by client and directory
	trees   map[string]string    // the tops of work trees, by directory
	state   *journal.State       // nil if it was not read, or could not be
	stale   map[[2]string]string // by checkout and program
	texts   *texts
}

type resolved struct {
	target string
	err    error
}

type file struct {
	text []byte
	info fs.FileInfo
	err  error
}

// texts are those that files had, and those that they were given. A file that is read again and
// still has one of them is not parsed again.
type texts struct {
	of     map[string][][]byte // by resolved path
	parsed map[textKey]parsed
}

// textKey identifies a text, by where it is in memory, and the language in which it is read.
type textKey struct {
	first *byte
	len   int
	kind  format.Kind
}

type parsed struct {
	doc *format.Doc
	err error
}

// Anew returns an Env that has read no file, so that it reads each one as it is from now on. What
// is known of their texts stays.
func (env Env) Anew() Env {
	f := &files{read: map[string]*file{}, names: map[string][]string{}, stale: map[[2]string]string{}, trees: map[string]string{}, real: map[string]resolved{}, sources: map[string][]*source{}}
	if env.files != nil {
		f.texts = env.files.texts
	} else {
		f.texts = &texts{map[string][][]byte{}, map[textKey]parsed{}}
	}
	env.files = f
	return env
}

// Read returns the content of a regular file, by its resolved path, and its FileInfo. The caller
// must not change it.
func (env Env) Read(target string) ([]byte, fs.FileInfo, error) {
	if env.files == nil {
		return env.Disk.Read(target)
	}
	f, ok := env.files.read[target]
	if !ok {
		f = &file{}
		f.text, f.info, f.err = env.Disk.Read(target)
		if f.err == nil {
			f.text = env.files.texts.same(target, f.text)
		}
		env.files.read[target] = f
	}
	return f.text, f.info, f.err
}

// Reread reads a file again.
func (env Env) Reread(target string) ([]byte, fs.FileInfo, error) {
	if env.files != nil {
		delete(env.files.read, target)
	}
	return env.Read(target)
}

// Real resolves all links of a path.
func (env Env) Real(path string) (string, error) {
	if env.files == nil {
		return filepath.EvalSymlinks(path)
	}
	r, ok := env.files.real[path]
	if !ok {
		r.target, r.err = filepath.EvalSymlinks(path)
		env.files.real[path] = r
	}
	return r.target, r.err
}

// Names lists a directory; nil if it cannot be read.
func (env Env) Names(dir string) (names []string) {
	if env.files != nil {
		if names, ok := env.files.names[dir]; ok {
			return names
		}
		defer func() { env.files.names[dir] = names }()
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Recorded returns the record of swaps, which the caller may change.
func (env Env) Recorded() (*journal.State, error) {
	if env.files == nil {
		return env.Journal.Load()
	}
	if env.files.state == nil {
		st, err := env.Journal.Load()
		if err != nil {
			return st, err
		}
		env.files.state = st
	}
	return env.files.state.Clone(), nil
}

// builtBefore is [checkout.BuiltBefore], which walks the sources.
func (env Env) builtBefore(repo, program string) string {
	if env.files == nil {
		return checkout.BuiltBefore(repo, program)
	}
	key := [2]string{repo, program}
	stale, ok := env.files.stale[key]
	if !ok {
		stale = checkout.BuiltBefore(repo, program)
		env.files.stale[key] = stale
	}
	return stale
}

// same returns a text that a file had before if it has it again.
func (t *texts) same(target string, text []byte) []byte {
	for _, before := range t.of[target] {
		if bytes.Equal(before, text) {
			return before
		}
	}
	t.of[target] = append(t.of[target], text)
	return text
}

// Gave notes a text that a file was given, and its document.
func (env Env) Gave(c *clients.Client, target string, text []byte, doc *format.Doc) {
	if env.files == nil || len(text) == 0 {
		return
	}
	text = env.files.texts.same(target, text)
	env.files.texts.parsed[textKey{&text[0], len(text), c.Kind}] = parsed{doc: doc}
}

// Parse parses a text as a client would.
func (env Env) Parse(c *clients.Client, text []byte) (*format.Doc, error) {
	if c.NoBOM && bytes.HasPrefix(text, []byte(format.BOM)) {
		return c.Parse(text)
	}
	return env.parse(c.Kind, text)
}

func (env Env) parse(kind format.Kind, text []byte) (*format.Doc, error) {
	if env.files == nil || len(text) == 0 {
		return format.Parse(kind, text)
	}
	key := textKey{&text[0], len(text), kind}
	p, ok := env.files.texts.parsed[key]
	if !ok {
		p.doc, p.err = format.Parse(kind, text)
		env.files.texts.parsed[key] = p
	}
	return p.doc, p.err
}

// document reads and parses a file of a client.
func (env Env) document(c *clients.Client, path string) (*format.Doc, error) {
	text, err := env.text(path)
	if err != nil {
		return nil, err
	}
	return env.Parse(c, text)
}

// text reads a file, which may be behind links.
func (env Env) text(path string) ([]byte, error) {
	target, err := env.Real(path)
	if err != nil {
		return nil, err
	}
	text, _, err := env.Read(target)
	return text, err
}
