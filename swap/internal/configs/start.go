package configs

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/machine"
)

// A Start is how a client starts the server of an entry: with the values that it would give
// it, in its environment, and where it would.
type Start struct {
	ask.Command
	// Elsewhere is another directory in which it must start, because the client may be
	// started anywhere; "" if it starts the server in Dir only.
	Elsewhere string
}

// Here reports whether the program is certainly on this machine.
func (st Start) Here() bool {
	return len(st.Argv) > 0 && (filepath.IsAbs(st.Argv[0]) || !strings.ContainsAny(st.Argv[0], `/\`)) && st.Look() == nil
}

// StartOf returns how a client would start the server of a flat entry. Its error is why it
// could not, or a [*clients.UnclearError].
func StartOf(env Env, c *clients.Client, scope clients.Scope, value map[string]any, repo string) (st Start, err error) {
	added := addedVars(env, c, repo)
	// in looks a variable up in the files of those kinds.
	in := func(late bool) clients.LookupEnv {
		return func(name string) (string, bool) {
			i := slices.IndexFunc(added, func(v clients.AddedVar) bool { return v.Name == name && !v.Only && v.Late == late })
			if i < 0 {
				return "", false
			}
			return added[i].Value, true
		}
	}
	lookup := func(name string) (string, bool) {
		if value, set := lookupVar(env.Sys, name); set {
			return value, true
		}
		return in(false)(name)
	}
	given := func(field, label, text string) string {
		out, gerr := c.Given(field, label, text, lookup, in(field == "env"))
		if err == nil {
			err = gerr
		}
		return out
	}
	for _, field := range []string{"command", "args"} {
		list, _ := value[field].([]any)
		for _, x := range list {
			switch x.(type) {
			case nil, []any, map[string]any:
				err = &clients.UnclearError{Why: fmt.Sprintf("it is not known what %s makes of %s in which something is no text", c.Name, field)}
			}
		}
	}
	for i, word := range c.Dialect.ReadArgv(value) {
		field, label := "args", fmt.Sprintf("argument %d", i)
		if i == 0 {
			field, label = "command", "the command"
		}
		st.Argv = append(st.Argv, given(field, label, word))
	}
	if c.Passes != nil && env.Sys.GOOS != "windows" {
		st.Only = slices.Clone(c.Passes)
		more, _ := value[c.PassesAlso].([]any)
		for _, name := range more {
			st.Only = append(st.Only, fmt.Sprint(name))
		}
	}
	for _, v := range added {
		if st.Only == nil || slices.Contains(st.Only, v.Name) {
			st.Env = append(st.Env, v.Name+"="+v.Value)
		}
	}
	fromFile, ferr := fileEnv(env, c, scope, value, repo)
	st.Env = append(st.Env, fromFile...)
	vars, _ := value["env"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		text, ok := vars[name].(string)
		if !ok && err == nil {
			err = &clients.UnclearError{Why: fmt.Sprintf("it is not known what %s makes of the variable %s, whose value is no text", c.Name, name)}
		}
		if text = given("env", "the variable "+name, text); text != "" || name != "PATH" || !c.EmptyPath {
			st.Env = append(st.Env, name+"="+text)
		}
	}
	err = cmp.Or(err, ferr, stored(env, c, value))
	st.Dir = repo
	cwd, _ := value["cwd"].(string)
	switch {
	case cwd == "" || c.NoCwd:
		cwd = ""
	default:
		cwd = given("cwd", "its cwd", cwd)
		st.Dir = checkout.AbsIn(repo, cwd)
	}
	if scope == clients.ScopeUser && (cwd == "" || c.FromStart && !filepath.IsAbs(cwd)) {
		st.Elsewhere = filepath.Join(env.Sys.Home, cwd)
	}
	if err != nil {
		return st, err
	}
	if info, serr := os.Stat(st.Dir); serr != nil || !info.IsDir() {
		return st, fmt.Errorf("its cwd %s is no directory", st.Dir)
	}
	return st, nil
}

// addedVars returns the variables that a client adds to this environment.
func addedVars(env Env, c *clients.Client, repo string) []clients.AddedVar {
	parse := func(text []byte) (*format.Doc, error) { return env.Parse(c, text) }
	return slices.DeleteFunc(c.FileVars(env.Sys, repo, env.text, parse), func(v clients.AddedVar) bool {
		_, set := lookupVar(env.Sys, v.Name)
		return set
	})
}

// lookupVar finds a variable of this environment. Only here does an empty one count as set.
func lookupVar(sys machine.System, name string) (string, bool) {
	value := sys.Getenv(name)
	real, set := os.LookupEnv(name)
	return value, value != "" || set && real == ""
}
