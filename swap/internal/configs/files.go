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

// files caches the files that a command has read, and their parsed texts. All packages of a command
// share it, so that each file is opened, checked and parsed once, and all statements about it are
// about the same text. It must not be used by several goroutines.
type files struct {
	read     map[string]file      // by resolved path
	names    map[string][]string  // by directory
	real     map[string]resolved  // by path
	sources  map[string][]*source // by client and directory
	trees    map[string]string    // the tops of work trees, by directory
	projects map[string]string    // Claude's keys, by directory
	state    map[string]recorded  // by directory of the journal
	stale    map[[2]string]string // by checkout and program
	texts    *texts
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

type recorded struct {
	state *journal.State
	err   error
}

// texts are the texts that files had or were given. A file that is read again and still has one of
// them is not parsed again.
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

// Anew returns an Env that reads every file again when it is needed. Parsed texts are kept.
func (env Env) Anew() Env {
	known := env.memo().texts
	if known.of == nil {
		known = &texts{map[string][][]byte{}, map[textKey]parsed{}}
	}
	env.files = &files{
		read: map[string]file{}, names: map[string][]string{}, real: map[string]resolved{}, sources: map[string][]*source{},
		trees: map[string]string{}, projects: map[string]string{}, state: map[string]recorded{}, stale: map[[2]string]string{}, texts: known,
	}
	return env
}

// memo returns the files that the command has read. It is empty, and stays so, unless [Env.Anew]
// made the Env.
func (env Env) memo() *files {
	if env.files == nil {
		return &files{texts: &texts{}}
	}
	return env.files
}

// once returns the value of a key, and finds it if it is not known yet. A nil map keeps nothing.
func once[K comparable, V any](known map[K]V, key K, find func() V) V {
	v, ok := known[key]
	if !ok {
		if v = find(); known != nil {
			known[key] = v
		}
	}
	return v
}

// Read returns the content of a regular file, by its resolved path, and its FileInfo. The caller
// must not change it.
func (env Env) Read(target string) ([]byte, fs.FileInfo, error) {
	m := env.memo()
	f := once(m.read, target, func() (f file) {
		if f.text, f.info, f.err = env.Disk.Read(target); f.err == nil {
			f.text = m.texts.same(target, f.text)
		}
		return f
	})
	return f.text, f.info, f.err
}

// Reread reads a file again.
func (env Env) Reread(target string) ([]byte, fs.FileInfo, error) {
	delete(env.memo().read, target)
	return env.Read(target)
}

// Real resolves all links of a path.
func (env Env) Real(path string) (string, error) {
	r := once(env.memo().real, path, func() (r resolved) {
		r.target, r.err = filepath.EvalSymlinks(path)
		return r
	})
	return r.target, r.err
}

// Names lists a directory; nil if it cannot be read.
func (env Env) Names(dir string) []string {
	return once(env.memo().names, dir, func() (names []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	})
}

// Tree returns the top of the work tree that contains a directory, or "".
func (env Env) Tree(dir string) string {
	return once(env.memo().trees, dir, func() string {
		r, _ := checkout.FindRepo(dir)
		return r.Top
	})
}

// Project returns the key of Claude's project for a directory.
func (env Env) Project(dir string) string {
	return once(env.memo().projects, dir, func() string { return checkout.ClaudeProject(dir) })
}

// Recorded returns the record of swaps, which the caller may change.
func (env Env) Recorded() (*journal.State, error) {
	r := once(env.memo().state, env.Journal.Dir, func() (r recorded) {
		r.state, r.err = env.Journal.Load()
		return r
	})
	if r.err != nil {
		return nil, r.err
	}
	return r.state.Clone(), nil
}

// builtBefore is [checkout.BuiltBefore], which walks the sources.
func (env Env) builtBefore(repo, program string) string {
	return once(env.memo().stale, [2]string{repo, program}, func() string { return checkout.BuiltBefore(repo, program) })
}

// same returns the earlier copy of a text, if the file had the same text before.
func (t *texts) same(target string, text []byte) []byte {
	for _, before := range t.of[target] {
		if bytes.Equal(before, text) {
			return before
		}
	}
	if t.of != nil {
		t.of[target] = append(t.of[target], text)
	}
	return text
}

// Gave adds a text that a file was given, with its document.
func (env Env) Gave(c *clients.Client, target string, text []byte, doc *format.Doc) {
	if t := env.memo().texts; len(text) > 0 {
		text = t.same(target, text)
		once(t.parsed, textKey{&text[0], len(text), c.Kind}, func() parsed { return parsed{doc: doc} })
	}
}

// Parse parses a text as a client would.
func (env Env) Parse(c *clients.Client, text []byte) (*format.Doc, error) {
	if c.NoBOM && bytes.HasPrefix(text, []byte(format.BOM)) {
		return c.Parse(text)
	}
	return env.parse(c.Kind, text)
}

func (env Env) parse(kind format.Kind, text []byte) (*format.Doc, error) {
	if len(text) == 0 {
		return format.Parse(kind, text)
	}
	p := once(env.memo().texts.parsed, textKey{&text[0], len(text), kind}, func() (p parsed) {
		p.doc, p.err = format.Parse(kind, text)
		return p
	})
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
