package swap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
)

// A start is how a client starts the server of an entry: with the values that it would give
// it, in its environment, and where it would.
type start struct {
	ask.Command
	// elsewhere is another directory in which it must start, because the client may be
	// started anywhere; "" if it starts the server in Dir only.
	elsewhere string
}

// startOf returns how a client would start the server of a flat entry. Its error is why it
// could not, or a [*clients.UnclearError].
func (s *Swapper) startOf(c *clients.Client, scope clients.Scope, value map[string]any, repo string) (st start, err error) {
	added := s.added(c, repo)
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
		if value, set := s.lookup(name); set {
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
	for i, word := range c.Dialect.ReadArgv(value) {
		field, label := "args", fmt.Sprintf("argument %d", i)
		if i == 0 {
			field, label = "command", "the command"
		}
		st.Argv = append(st.Argv, given(field, label, word))
	}
	if c.Passes != nil && s.Sys.GOOS != "windows" {
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
		st.elsewhere = filepath.Join(s.Sys.Home, cwd)
	}
	if err != nil {
		return st, err
	}
	if info, serr := os.Stat(st.Dir); serr != nil || !info.IsDir() {
		return st, fmt.Errorf("its cwd %s is no directory", st.Dir)
	}
	return st, nil
}

// added returns the variables that a client adds to this environment.
func (s *Swapper) added(c *clients.Client, repo string) []clients.AddedVar {
	read := func(file string) ([]byte, error) {
		text, _, err := s.Disk.Read(file)
		return text, err
	}
	return slices.DeleteFunc(c.FileVars(s.Sys, repo, read), func(v clients.AddedVar) bool {
		_, set := s.lookup(v.Name)
		return set
	})
}

// lookup finds a variable of this environment. Only here does an empty one count as set.
func (s *Swapper) lookup(name string) (string, bool) {
	value := s.Sys.Getenv(name)
	real, set := os.LookupEnv(name)
	return value, value != "" || set && real == ""
}

// tried is the outcome of a start.
type tried struct {
	hello   ask.Hello
	seconds float64
	err     error
	only    error // why the server does not start elsewhere
}

// attempts starts servers, each once.
type attempts map[string]tried

func (t attempts) start(ctx context.Context, c ask.Command) tried {
	key := fmt.Sprintf("%q", [][]string{c.Argv, c.Env, c.Only, {c.Dir}})
	if done, ok := t[key]; ok {
		return done
	}
	begin := time.Now()
	var out tried
	out.hello, out.err = ask.Server(ctx, c)
	out.seconds = seconds(begin)
	t[key] = out
	return out
}

// try starts a server wherever the client may start it.
func (t attempts) try(ctx context.Context, st start) tried {
	out := t.start(ctx, st.Command)
	if out.err != nil || st.elsewhere == "" || st.elsewhere == st.Dir {
		return out
	}
	away := st.Command
	away.Dir, away.Tools = st.elsewhere, false
	info, err := os.Stat(away.Dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err == nil {
		err = t.start(ctx, away).err
	}
	if err != nil {
		out.only = fmt.Errorf("it starts in %s but not in %s, and clients start servers in other directories: %w", st.Dir, st.elsewhere, err)
		out.err = ctx.Err()
	}
	return out
}

// lacksVariables returns advice if a server did not start in the environment of a client
// that passes only some variables, and does in this one.
func (t attempts) lacksVariables(ctx context.Context, client string, st start) []string {
	if st.Only == nil || len(st.Argv) == 0 {
		return nil
	}
	st.Only = nil
	if t.try(ctx, st).err != nil {
		return nil
	}
	return []string{
		fmt.Sprintf("it starts with this whole environment, but %s passes servers little more than HOME and PATH", client),
		"if it needs a variable, use-local --env NAME=VALUE writes it into the entry",
	}
}

// shown returns a command for people.
func shown(argv []string) string { return strings.Join(ask.ShowArgs(argv), " ") }
