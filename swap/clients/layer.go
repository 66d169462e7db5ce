package clients

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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

// Files returns the files of a layer, strongest first: of the user's, those that the client
// reads; of a project's, those that it looks for, from a directory up. tree is the top of the
// work tree that contains the directory, or "".
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

// Hides returns the file because of which a client does not read another one of a layer's
// files; "" if it does read it.
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
			// To the client, another spelling such as settings.jsonc is the same file.
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

// A File is one of a client's files with settings.
type File struct {
	Name       string // "" for the config
	Managed    bool   // the administrator's
	Distrusted bool   // a project's that the client does not trust
	Get        func(path ...string) (any, bool)
	Spell      func(path []string) []string // as the file spells it
}

// SwitchesOff returns how an off applies to an entry; none, if it does not. files are those
// that it is read in, strongest first.
func (o off) SwitchesOff(value map[string]any, files []File, project, server string) (out []string) {
	if o.Field != "" && o.File == nil {
		if v, ok := value[o.Field].(bool); ok && v == o.Value && value[o.Unless] == nil {
			out = append(out, fmt.Sprintf("%s = %t", o.Field, o.Value))
		}
		return out
	}
	if i := slices.IndexFunc(files, func(f File) bool { v, _ := f.Get(o.Only); return f.Managed && v == true }); o.Only != "" && i >= 0 {
		files = files[i : i+1]
	}
	joined := false
	for _, f := range files {
		off, how := o.switches(f, value, project, server)
		joined = joined || o.Joined && how != "" && !off
		if f.Name != "" {
			how += ", " + f.Name
		}
		if off {
			out = append(out, how)
		}
	}
	if joined {
		return nil
	}
	return out
}

// switches reports whether an off in one file applies to an entry, and how it is spelled; ""
// if the file does not have it.
func (o off) switches(f File, value map[string]any, project, server string) (bool, string) {
	fold := func(name string) string {
		if o.Fold {
			return strings.ToLower(strings.TrimSpace(name))
		}
		return name
	}
	if o.Field != "" {
		v, _ := f.Get(fold(server))
		own, _ := v.(map[string]any)
		is, ok := own[o.Field].(bool)
		return ok && is == o.Value, fmt.Sprintf("%s = %t", o.Field, o.Value)
	}
	p := f.Spell(ForProject(o.Path, project))
	v, found := f.Get(p...)
	if o.Identity {
		is, _ := f.Get(append(slices.Clone(p), server, "identity")...)
		of, _ := is.(map[string]any)
		same := func(name string) bool { return of[name] != nil && format.Equal(of[name], value[name]) }
		return found && !same("command") && !same("url"), "not allowed by " + strings.Join(p, ".")
	}
	list, ok := v.([]any)
	if !ok {
		return false, ""
	}
	if o.Rules {
		return ruled(list, value), "rejected by " + p[len(p)-1]
	}
	listed := slices.ContainsFunc(list, func(x any) bool {
		if o.Servers {
			return o.names(x, list, value, server)
		}
		name, ok := x.(string)
		return ok && (fold(name) == fold(server) || o.Glob && glob(name).MatchString(server))
	})
	if o.Allow {
		return !listed, "not in " + strings.Join(p, ".")
	}
	return listed, "in " + p[len(p)-1]
}

// names reports whether an object in a list names a server: by its command, its URL or its
// name. In a list of servers that are on, a name does not count if the list has commands, or
// for a remote server URLs.
func (o off) names(x any, list []any, value map[string]any, server string) bool {
	by, _ := x.(map[string]any)
	has := func(field string) bool {
		return slices.ContainsFunc(list, func(x any) bool { m, _ := x.(map[string]any); return m[field] != nil })
	}
	url := Remote(value)
	field := "serverCommand"
	if url != "" {
		field = "serverUrl"
	}
	switch {
	case by["serverName"] != nil:
		return by["serverName"] == server && !(o.Allow && has(field))
	case by["serverUrl"] != nil && url != "":
		pattern, _ := by["serverUrl"].(string)
		return glob(pattern).MatchString(url)
	case by["serverCommand"] != nil && url == "":
		command, _ := value["args"].([]any)
		return format.Equal(by["serverCommand"], append([]any{value["command"]}, command...))
	}
	return false
}

var globbing = strings.NewReplacer(`\*`, ".*", `\?`, ".")

// glob returns what matches a pattern in which * stands for any text, and ? for a character.
func glob(pattern string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + globbing.Replace(regexp.QuoteMeta(pattern)) + "$")
}

// ruled reports whether the first rule that matches an entry rejects it, as amp does.
func ruled(rules []any, value map[string]any) bool {
	seen := maps.Clone(value)
	if args, ok := value["args"].([]any); ok {
		words := make([]string, len(args))
		for i, a := range args {
			words[i] = fmt.Sprint(a)
		}
		seen["args"] = strings.Join(words, " ")
	}
	for _, x := range rules {
		rule, _ := x.(map[string]any)
		if pattern, ok := rule["matches"].(map[string]any); ok && matches(pattern, seen) {
			return rule["action"] != "allow"
		}
	}
	return false
}

// matches reports whether a value matches a pattern: a glob, a regular expression in
// slashes, a list of those, or an object of patterns.
func matches(pattern, value any) bool {
	switch p := pattern.(type) {
	case []any:
		return slices.ContainsFunc(p, func(x any) bool { return matches(x, value) })
	case map[string]any:
		members, _ := value.(map[string]any)
		for name, x := range p {
			if !matches(x, members[name]) {
				return false
			}
		}
		return true
	case string:
		text, ok := value.(string)
		expr := "^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$"
		if len(p) > 2 && p[0] == '/' && p[len(p)-1] == '/' {
			expr = p[1 : len(p)-1]
		}
		re, err := regexp.Compile("(?m)" + expr)
		return ok && err == nil && re.MatchString(text)
	}
	return false
}

// InProfile reports whether a client reads a file only on a condition, as in a profile.
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
	// Late is set if its variables count only in an entry's env, where there is no default;
	// Only if they do not count for references at all. Servers get them all the same.
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
