package configs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/machine"
)

// A Start is how a client starts the server of an entry: the command and the environment with all
// references expanded, and the directory.
type Start struct {
	ask.Command
	// Elsewhere is another directory in which the server must start, because the client may be
	// started anywhere; "" if the client starts it only in Dir.
	Elsewhere string
	// Own are the last variables of Env, which the entry sets.
	Own []string
}

// Here reports whether the program is certainly on this machine.
func (st Start) Here() bool {
	return len(st.Argv) > 0 && (filepath.IsAbs(st.Argv[0]) || !strings.ContainsAny(st.Argv[0], `/\`)) && st.Look() == nil
}

// StartOf returns how a client would start the server of a flat entry. The error says why it could
// not, or is a [*clients.UnclearError].
func StartOf(env Env, c *clients.Client, scope clients.Scope, value map[string]any, repo string) (st Start, err error) {
	x := &expansion{c: c, sys: env.Sys, added: addedVars(env, c, repo), err: unclearWords(c, value)}
	st.Argv = x.argv(value)
	st.Only = passed(env.Sys, c, value)
	for _, v := range x.added {
		if st.Only == nil || slices.Contains(st.Only, v.Name) {
			st.Env = append(st.Env, v.Name+"="+v.Value)
		}
	}
	fromFile, ferr := fileEnv(env, c, scope, value, repo)
	st.Own = slices.Concat(fromFile, x.env(value))
	st.Env = slices.Concat(st.Env, st.Own)
	x.err = cmp.Or(x.err, ferr, stored(env, c, value))
	cwd, _ := value["cwd"].(string)
	if c.NoCwd {
		cwd = ""
	}
	st.Dir = repo
	if cwd != "" {
		cwd = x.expand("cwd", "its cwd", cwd)
		st.Dir = checkout.AbsIn(repo, cwd)
	}
	if scope == clients.ScopeUser && (cwd == "" || c.FromStart && !filepath.IsAbs(cwd)) {
		st.Elsewhere = filepath.Join(env.Sys.Home, cwd)
	}
	if x.err != nil {
		return st, x.err
	}
	serr := enterable(st.Dir)
	switch {
	case serr == nil:
	case cwd != "":
		return st, fmt.Errorf("its cwd %s %w%s", st.Dir, serr, Unexpanded(cwd))
	case scope != clients.ScopeUser:
		return st, fmt.Errorf("its project %s %w", st.Dir, serr)
	default:
		// The client starts it anywhere, so only a relative path needs the directory.
		if word := relative(st.Argv, value, repo); word != "" {
			return st, fmt.Errorf("%s is a path below %s, which %w: write the whole path", ask.CommandLine(ask.ShowArgs([]string{word})), repo, serr)
		}
		st.Dir, st.Elsewhere = env.Sys.Home, ""
	}
	return st, nil
}

// enterable returns why no process can start in a directory.
func enterable(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		_, err = os.Stat(dir + string(filepath.Separator) + ".")
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("does not exist")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("cannot be entered: you may not search it")
	case err != nil:
		return fmt.Errorf("cannot be entered: %w", err)
	case !info.IsDir():
		return errors.New("is no directory")
	}
	return nil
}

// Unexpanded says of a path that begins with ~ what becomes of that.
func Unexpanded(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return " (no shell reads it, so ~ stays: write the whole path)"
	}
	return ""
}

// relative returns the word of a command that names what it starts by a path relative to a directory;
// "" if there is none.
func relative(argv []string, value map[string]any, dir string) string {
	if len(argv) == 0 {
		return ""
	}
	below := maps.Clone(value)
	below["cwd"] = dir
	at := commands.Starts(argv, below, "")
	place := cmp.Or(at.Place, at.Program)
	for _, word := range argv {
		_, after, _ := strings.Cut(word, "=")
		for _, path := range []string{word, after} {
			if path != "" && !filepath.IsAbs(path) && filepath.Join(dir, path) == place {
				return word
			}
		}
	}
	return ""
}

// unclearWords returns an error if the command or the arguments of an entry contain null, a list or an
// object.
func unclearWords(c *clients.Client, value map[string]any) (err error) {
	for _, field := range []string{"command", "args"} {
		list, _ := value[field].([]any)
		for _, x := range list {
			switch x.(type) {
			case nil, []any, map[string]any:
				err = &clients.UnclearError{Why: fmt.Sprintf("it is not known what %s makes of %s in which something is no text", c.Name, field)}
			}
		}
	}
	return err
}

// passed returns the names of the variables of its own environment that a client passes to a
// server; nil: all.
func passed(sys machine.System, c *clients.Client, value map[string]any) []string {
	if c.Passes == nil || sys.GOOS == "windows" {
		return nil
	}
	only := slices.Clone(c.Passes)
	more, _ := value[c.PassesAlso].([]any)
	for _, name := range more {
		only = append(only, fmt.Sprint(name))
	}
	return only
}

// An expansion expands the references in an entry as its client does.
type expansion struct {
	c     *clients.Client
	sys   machine.System
	added []clients.AddedVar
	err   error // the first
}

// expand returns the text of a field with its references expanded.
func (x *expansion) expand(field, label, text string) string {
	out, err := x.c.Given(field, label, text, x.lookup, x.addedVar(field == "env"))
	x.err = cmp.Or(x.err, err)
	return out
}

// lookup finds a variable in the client's environment.
func (x *expansion) lookup(name string) (string, bool) {
	if value, set := lookupVar(x.sys, name); set {
		return value, true
	}
	return x.addedVar(false)(name)
}

// addedVar returns a function that finds a variable in the client's files: in those that count only
// in an entry's env, or in the others.
func (x *expansion) addedVar(late bool) clients.LookupEnv {
	return func(name string) (string, bool) {
		i := slices.IndexFunc(x.added, func(v clients.AddedVar) bool { return v.Name == name && !v.Only && v.Late == late })
		if i < 0 {
			return "", false
		}
		return x.added[i].Value, true
	}
}

// argv returns the expanded command of an entry.
func (x *expansion) argv(value map[string]any) (argv []string) {
	for i, word := range x.c.Dialect.ReadArgv(value) {
		field, label := "args", fmt.Sprintf("argument %d", i)
		if i == 0 {
			field, label = "command", "the command"
		}
		argv = append(argv, x.expand(field, label, word))
	}
	return argv
}

// env returns the expanded variables of an entry, as NAME=VALUE.
func (x *expansion) env(value map[string]any) (env []string) {
	vars, _ := value["env"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		text, ok := vars[name].(string)
		if !ok && x.err == nil {
			x.err = &clients.UnclearError{Why: fmt.Sprintf("it is not known what %s makes of the variable %s, whose value is no text", x.c.Name, name)}
		}
		if text = x.expand("env", "the variable "+name, text); text != "" || name != "PATH" || !x.c.EmptyPath {
			env = append(env, name+"="+text)
		}
	}
	return env
}

// addedVars returns the variables that a client adds to this environment.
func addedVars(env Env, c *clients.Client, repo string) []clients.AddedVar {
	parse := func(text []byte) (*format.Doc, error) { return env.Parse(c, text) }
	return slices.DeleteFunc(c.FileVars(env.Sys, repo, env.text, parse), func(v clients.AddedVar) bool {
		_, set := lookupVar(env.Sys, v.Name)
		return set
	})
}

// lookupVar finds a variable of this environment. An empty one counts as set only here.
func lookupVar(sys machine.System, name string) (string, bool) {
	value := sys.Getenv(name)
	real, set := os.LookupEnv(name)
	return value, value != "" || set && real == ""
}
