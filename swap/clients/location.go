package clients

import (
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/internal/machine"
)

// A location is a rule for where a file is. The first candidate whose variable is set
// determines the directory.
type location struct {
	Dirs, Darwin, Windows []candidate // the last two instead of Dirs on macOS and Windows
	Files                 []string    // slash-separated, relative to the directory, strongest first; with a "*" in it, existing ones
	Filled                bool        // an empty file counts as missing
	Each                  bool        // if no directory matches a pattern in Dirs, there is none
}

// A candidate is a directory, from a variable or fixed; "~" is the home directory.
type candidate struct {
	// How says how the variable is read: "absolute", a relative path counts as not set;
	// "tilde", "~" in it is the home directory; "file", it names the file itself; "files",
	// it names files, the strongest last.
	How string
	Env string
	Dir string // relative to the variable's directory; with a "*" in it, an existing one
}

// UnmarshalText reads a candidate of the form "DIR", or "HOW $ENV/DIR".
func (c *candidate) UnmarshalText(text []byte) error {
	how, rest, variable := strings.Cut(string(text), "$")
	if !variable {
		c.Dir = how
		return nil
	}
	c.How = strings.TrimSpace(how)
	c.Env, c.Dir, _ = strings.Cut(rest, "/")
	return nil
}

// A Place is a location on a particular machine.
type Place struct {
	Path string
	Env  string // the variable that determined it, or ""
	// Rel is the path relative to the variable's directory, or else to the home directory:
	// "." for the file that the variable names, "../NAME" for one beside it, "" for one
	// outside the home directory.
	Rel string
}

// resolve returns the files of the rule on a system, strongest first.
func (l location) resolve(sys machine.System) []Place {
	for _, c := range l.candidates(sys.GOOS) {
		base, ok := c.base(sys)
		switch {
		case !ok:
			continue
		case c.How == "file" || c.How == "files":
			return c.named(base)
		}
		dirs := existing(base, c.dir())
		if len(dirs) == 0 && !l.Each {
			continue
		}
		return l.places(c, base, dirs)
	}
	return nil
}

// candidates are the directories of the rule on a system.
func (l location) candidates(goos string) []candidate {
	switch {
	case goos == "darwin" && l.Darwin != nil:
		return l.Darwin
	case goos == "windows" && l.Windows != nil:
		return l.Windows
	}
	return l.Dirs
}

// base returns what the candidate's directory is relative to: its variable's value, the home
// directory, or "" if it is absolute. If the variable is not set, ok is false.
func (c candidate) base(sys machine.System) (base string, ok bool) {
	if c.Env == "" {
		if strings.HasPrefix(c.Dir, "~") {
			return sys.Home, true
		}
		return "", true
	}
	base = sys.Getenv(c.Env)
	switch {
	case base == "" || c.How == "absolute" && !filepath.IsAbs(base):
		return "", false
	case c.How == "files":
		return base, true
	case c.How == "tilde" && base[0] == '~':
		base = sys.Home + base[1:]
	}
	if abs, err := filepath.Abs(base); err == nil {
		base = abs
	}
	return base, true
}

// dir is the candidate's directory, relative to its base.
func (c candidate) dir() string {
	if c.Env == "" {
		return strings.TrimPrefix(c.Dir, "~")
	}
	return c.Dir
}

// named returns the files that the value of the candidate's variable names.
func (c candidate) named(value string) (out []Place) {
	files := []string{value}
	if c.How == "files" {
		files = filepath.SplitList(value)
	}
	for _, file := range slices.Backward(files) {
		out = append(out, Place{Path: file, Env: c.Env, Rel: "."})
	}
	return out
}

// places returns the files of the rule in the directories of a candidate.
func (l location) places(c candidate, base string, dirs []string) (out []Place) {
	for _, dir := range dirs {
		for _, pattern := range l.Files {
			for _, file := range existing(dir, pattern) {
				p := Place{Path: file, Env: c.Env}
				if base != "" {
					p.Rel, _ = filepath.Rel(base, file)
				}
				out = append(out, p)
			}
		}
	}
	return out
}

// existing returns the path of a slash-separated name in a directory; with a "*" in the name,
// the existing paths that match.
func existing(dir, name string) []string {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if !strings.Contains(name, "*") {
		return []string{path}
	}
	found, _ := filepath.Glob(path)
	return found
}

// File returns the file of the rule on a system; "" if it has none.
func (l location) File(sys machine.System) string {
	if all := l.resolve(sys); len(all) > 0 {
		return all[0].Path
	}
	return ""
}
