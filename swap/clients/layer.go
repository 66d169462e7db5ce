package clients

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/machine"
)

// A Layer is a place where a client reads servers.
type Layer struct {
	Role     Role
	location        // unless it is a variable; for a project, only Files
	Var      string // variable that holds the text
	Reach    string // directories of a project that have it: one of the Reach constants
	Outer    bool   // if several directories have it, the outermost wins, not the nearest
	First    string // how many of a project's files it reads: one of the First constants
	// Container is where its servers are, if not where the client's other layers have them.
	// It is never edited.
	Container []string
	Unless    string // variable that, if true, keeps the client from reading it
	Trusted   bool   // read only in a folder that the client trusts
	Asks      bool   // the client asks the user to approve each server in it
	Hash      string // form in which it hashes an entry for that
	When      string // condition on which it wins
	Alone     bool   // if it exists, the client reads no other layer
}

// A Role says who owns a layer, and what a swap does with it.
type Role string

// Roles of layers.
const (
	Own      Role = "own"      // the user's config, where new entries are created
	Other    Role = "other"    // another file of the user's: existing entries are edited there
	Project  Role = "project"  // a file of the project, in its directory or a parent
	Managed  Role = "managed"  // another file; never edited
	Variable Role = "variable" // never edited
)

// Reaches of a project's layer: where a client that starts in the project's directory looks.
const (
	ReachTree = ""     // there and in its parents up to the top of the work tree, if it is in one
	ReachHere = "here" // only there
	ReachTop  = "top"  // only at the top of the work tree, if it is in one
	ReachOpen = "open" // as ReachTree, but outside of work trees in all parents
	ReachRoot = "root" // there and in all parents
)

// Of the files of a project that exist, a client reads all, or
const (
	FirstHere = "here" // the first one of each directory
	FirstOf   = "all"  // the first one
)

func (l Layer) users() bool { return l.Role == Own || l.Role == Other }

func (l Layer) there(file string) bool {
	if _, err := os.Lstat(file); err != nil || !l.Filled {
		return err == nil
	}
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}

// ConfigPath returns the user's config of the client: the strongest existing one, otherwise
// the one that the client would create. If there are several candidates, that is the first
// whose directory exists, otherwise the first.
func (c *Client) ConfigPath(sys machine.System) string {
	would, known := "", false
	for _, l := range c.Layers {
		if l.Role != Own {
			continue
		}
		for i, p := range l.resolve(sys) {
			if l.there(p.Path) {
				return p.Path
			}
			if i > 0 || l.Filled || known {
				continue
			}
			if _, err := os.Stat(filepath.Dir(p.Path)); err == nil || would == "" {
				would, known = p.Path, err == nil
			}
		}
	}
	return would
}

// Files returns the files of a layer, strongest first. Of a user's layer, these are the files that
// the client reads; of a project's, those that it looks for from a directory up. tree is the top of
// the work tree that contains the directory, or "".
func (c *Client) Files(l Layer, sys machine.System, dir, tree string) []string {
	var out []string
	if l.Unless != "" && slices.Contains([]string{"1", "true"}, strings.ToLower(sys.Getenv(l.Unless))) {
		return nil
	}
	switch l.Role {
	case Variable:
	case Project:
		last := cmp.Or(tree, dir)
		switch {
		case l.Reach == ReachTop:
			dir = last
		case l.Reach == ReachHere:
			last = dir
		case l.Reach == ReachRoot, l.Reach == ReachOpen && tree == "":
			last = ""
		}
		for ; ; dir = filepath.Dir(dir) {
			var files []string
			for _, f := range l.Files {
				files = append(files, filepath.Join(dir, filepath.FromSlash(f)))
			}
			if l.Outer {
				out = append(files, out...)
			} else {
				out = append(out, files...)
			}
			if dir == last || dir == filepath.Dir(dir) {
				break
			}
		}
	default:
		for _, p := range l.resolve(sys) {
			if l.there(p.Path) && (c.Merges || l.Role != Own || p.Path == c.ConfigPath(sys)) {
				out = append(out, p.Path)
			}
		}
	}
	return out
}

// Hides returns the file that keeps a client from reading another file of the layer; "" if the client
// reads that.
func (l Layer) Hides(files []string, file string) string {
	i, from := slices.Index(files, file), 0
	switch {
	case l.First == "" || i < 0:
		return ""
	case l.First == FirstHere:
		from = i - i%len(l.Files)
	}
	if n := slices.IndexFunc(files[from:i], l.there); n >= 0 {
		return files[from+n]
	}
	return ""
}

// ProjectFiles returns the files in which the client looks for servers of a project,
// strongest first, whether or not they exist; without those above its work tree, those with a
// container of their own, and the user's config, which is in the home directory. into are the
// files for new entries: the first existing one is used, otherwise the first is created.
func (c *Client) ProjectFiles(sys machine.System, dir, tree string) (all, into []string) {
	made := c.Made
	for _, l := range c.Layers {
		if l.Role != Project || l.Container != nil {
			continue
		}
		made = cmp.Or(made, l.Files[0])
		files := c.Files(l, sys, dir, tree)
		within := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
			rel, err := filepath.Rel(cmp.Or(tree, dir), file)
			return err != nil || !filepath.IsLocal(rel) || file == c.ConfigPath(sys)
		})
		all = append(all, within...)
		if !slices.Contains(l.Files, made) {
			continue
		}
		for _, file := range within {
			// The client treats another spelling such as settings.jsonc as the same file.
			if strings.HasSuffix(filepath.ToSlash(withoutExt(file)), "/"+withoutExt(made)) {
				into = append(into, cmp.Or(l.Hides(files, file), file)) // a new file that is hidden is not read
			}
		}
	}
	return all, into
}

func withoutExt(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

// UserFiles returns the user's existing files from which the client reads servers,
// strongest first.
func (c *Client) UserFiles(sys machine.System) []string {
	var out []string
	for _, l := range c.Layers {
		if l.users() {
			out = append(out, c.Files(l, sys, "", "")...)
		}
	}
	return out
}

// Places returns the locations of all files that affect what the client answers, except
// project files.
func (c *Client) Places(sys machine.System) []Place {
	var out []Place
	for _, l := range c.locations() {
		for _, p := range l.resolve(sys) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

func (c *Client) locations() []location {
	var out []location
	for _, l := range c.Layers {
		if l.Role != Project && l.Role != Variable {
			out = append(out, l.location)
		}
	}
	if c.Trust != nil && c.Trust.File != nil {
		out = append(out, *c.Trust.File)
	}
	for _, o := range c.Off {
		if o.File != nil {
			out = append(out, *o.File)
		}
	}
	if c.Approval != nil && c.Approval.File != nil {
		out = append(out, *c.Approval.File)
	}
	for _, l := range c.Settings {
		if l.Role != Project {
			out = append(out, l.location)
		}
	}
	for _, v := range c.Vars {
		out = append(out, v.location)
	}
	return out
}

// generalVars say where files are, also those of other programs.
var generalVars = []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"}

// Variables names all variables of the client, in order.
func (c *Client) Variables() []string {
	names := append(c.HomeVars(), c.Login...)
	for _, l := range c.Layers {
		names = append(names, l.Var, l.Unless)
	}
	if c.Trust != nil {
		names = append(names, c.Trust.Env, c.Trust.Quiet)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" || slices.Contains(generalVars, name) })
}

// HomeVars names the variables that say where the client's files are.
func (c *Client) HomeVars() []string {
	names := slices.Clone(generalVars)
	for _, l := range c.locations() {
		for _, d := range slices.Concat(l.Dirs, l.Darwin, l.Windows) {
			if d.Env != "" && !slices.Contains(names, d.Env) {
				names = append(names, d.Env)
			}
		}
	}
	return names
}

// InProfile reports whether a client reads a file only on a condition, such as in a profile.
func (c *Client) InProfile(sys machine.System, file string) bool {
	return slices.ContainsFunc(c.Layers, func(l Layer) bool {
		return l.When != "" && l.Role == Managed && slices.ContainsFunc(l.resolve(sys), func(p Place) bool { return p.Path == file })
	})
}

// A varFile is a file with variables that a client adds to its environment.
type varFile struct {
	location
	Up   bool     // in the directory of the project and its parents, instead of Dirs
	Here bool     // in that directory only
	Path []string // of an object in JSON; nil: lines of NAME=VALUE
	// Late is set if its variables count only in an entry's env, where there is no default, and
	// Only if they do not count for references at all. Servers get them in any case.
	Late, Only bool
}

// An AddedVar is a variable of such a file.
type AddedVar struct {
	EnvVar
	Late, Only bool
}

// FileVars returns the variables that a client adds to its environment for a directory. Of
// the files that count for references, the first that exists counts.
func (c *Client) FileVars(sys machine.System, dir string, read func(file string) ([]byte, error), parse func(text []byte) (*format.Doc, error)) (out []AddedVar) {
	found := false
	for _, v := range c.Vars {
		places := v.resolve(sys)
		for at := dir; v.Up || v.Here; at = filepath.Dir(at) {
			for _, f := range v.Files {
				places = append(places, Place{Path: filepath.Join(at, filepath.FromSlash(f))})
			}
			if v.Here || at == filepath.Dir(at) {
				break
			}
		}
		for _, p := range places {
			text, err := read(p.Path)
			if err != nil || found && !v.Only {
				continue
			}
			found = found || !v.Only
			for _, e := range v.read(p.Path, text, parse) {
				out = append(out, AddedVar{e, v.Late, v.Only})
			}
		}
	}
	return out
}

func (v varFile) read(path string, text []byte, parse func(text []byte) (*format.Doc, error)) []EnvVar {
	if v.Path == nil {
		out, _ := ParseEnvFile(path, text)
		return out
	}
	doc, err := parse(text)
	if err != nil {
		return nil
	}
	members, _ := doc.Get(v.Path...)
	return dialect{}.ReadEnv(map[string]any{"env": members})
}
