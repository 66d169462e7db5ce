// Package trial starts servers as clients would, and queries the clients' own programs about them, in
// temporary home directories with copies of their files.
package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/configs"
)

// A Query is a question to a client, with a home directory prepared for it.
type Query struct {
	row      ask.Row
	question ask.Question
	real     string // the user's home directory
	// Remove removes the temporary one.
	Remove func() error
}

// Prepare copies the files that determine what a client says about an entry.
func Prepare(env configs.Env, doc *configs.Document, container []string, project, server, dir string) (*Query, error) {
	c := doc.Client
	home, remove, err := ask.Home()
	if err != nil {
		return nil, err
	}
	vars, err := copyHome(env, home, doc, container, project, server)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	return &Query{
		row: *c.Ask, real: env.Sys.Home, Remove: remove,
		question: ask.Question{Program: c.Binary(), Server: server, Dir: dir, Home: home, Unset: c.HomeVars(), Env: vars},
	}, nil
}

// Ask asks the client. What it says about the copies names the original files.
func (q *Query) Ask(ctx context.Context) (ask.Answer, error) {
	a, err := ask.Client(ctx, q.row, q.question)
	a.Says = strings.ReplaceAll(a.Says, q.question.Home, q.real)
	if err != nil {
		err = ask.Reworded(err, strings.ReplaceAll(err.Error(), q.question.Home, q.real))
	}
	return a, err
}

// copyHome copies the files that determine a client's answer into a home directory, and returns
// the variables that lead the client to them. Each file stays where its variable says it is.
func copyHome(in configs.Env, home string, doc *configs.Document, container []string, project, server string) (env []string, err error) {
	c, err := newCopier(in, doc, container, project, server)
	if err != nil {
		return nil, err
	}
	for _, p := range doc.Client.Places(in.Sys) {
		text, ok, err := c.text(p.Path)
		if err != nil {
			return nil, fmt.Errorf("prepare a copy of %s: %w", p.Path, err)
		}
		file, value := copyOf(p, in.Sys.Getenv(p.Env), home)
		if !ok || file == "" {
			continue
		}
		if p.Env != "" {
			env = append(env, p.Env+"="+value)
		}
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", p.Path, err)
		}
	}
	for _, l := range doc.Client.Layers {
		if text := in.Sys.Getenv(l.Var); l.Role == clients.Variable && text != "" {
			if text, err := c.alone.Of([]byte(text), nil, "", nil); err == nil {
				env = append(env, l.Var+"="+string(text))
			}
		}
	}
	return env, nil
}

// copyOf returns where the copy of a file goes in a home directory, and what its variable, if it
// has one, must be for the client to find it there. value is what the variable is now. file is ""
// if the client reads the original, which is outside the home directory.
func copyOf(p clients.Place, value, home string) (file, newValue string) {
	dir := filepath.Join(home, "variables", p.Env)
	named := filepath.Join(dir, filepath.Base(p.Path))
	switch {
	case p.Env == "" && p.Rel == "":
		return "", ""
	case p.Env == "":
		return filepath.Join(home, p.Rel), ""
	case p.Rel == ".": // the variable names the file itself
		return named, named
	case filepath.Dir(p.Rel) == "..": // it names another file of the directory
		return named, filepath.Join(dir, filepath.Base(value))
	}
	return filepath.Join(dir, p.Rel), dir
}

// A copier makes the copies of one client's files.
type copier struct {
	configs.Env
	doc       *configs.Document // the config that has the entry
	container []string
	alone     ask.Alone
	vars      format.Object // for the entry, so that its server finds its own files; nil: none
	servers   []string      // the files that may have other servers, except those of projects
}

func newCopier(env configs.Env, doc *configs.Document, container []string, project, server string) (*copier, error) {
	client := doc.Client
	c := &copier{Env: env, doc: doc, container: container}
	c.alone = ask.Alone{Kind: client.Kind, Server: server, Harmless: client.Harmless}
	for _, scope := range client.ScopesInOrder() {
		c.alone.Containers = append(c.alone.Containers, client.ContainersIn(doc.Doc, scope, project)...)
	}
	e, err := doc.Doc.Lookup(container, server)
	if err != nil {
		return nil, err
	}
	if len(client.Dialect.ReadArgv(e.Value)) > 0 { // codex refuses variables for a remote server
		c.vars = homeVars(env, client, client.Dialect.ReadEnv(e.Value))
	}
	for _, l := range client.Layers {
		if l.Role != clients.Project {
			c.servers = append(c.servers, client.Files(l, env.Sys, "", "")...)
		}
	}
	return c, nil
}

// homeVars returns the variables that lead to a home directory and its files, except those that an
// entry sets itself.
func homeVars(env configs.Env, c *clients.Client, own []clients.EnvVar) format.Object {
	vars := format.Object{}
	for _, name := range c.HomeVars() {
		sets := func(v clients.EnvVar) bool { return strings.EqualFold(v.Name, name) }
		if value := env.Sys.Getenv(name); value != "" && !slices.ContainsFunc(own, sets) {
			vars = append(vars, format.Field{Name: name, Value: value})
		}
	}
	return vars
}

// text returns the text of a file's copy, in which no other server can be started and files are named
// by absolute paths. ok is false if the file must not be copied.
func (c *copier) text(path string) (text []byte, ok bool, err error) {
	target, err := c.Real(path)
	if err != nil {
		return nil, false, nil // the client cannot read it either
	}
	if text, _, err = c.Read(target); err != nil {
		return nil, false, nil
	}
	switch {
	case path == c.doc.Path:
		text, err = c.alone.Of(c.doc.Text, c.container, c.doc.Client.Dialect.EnvName(), c.vars)
	case slices.Contains(c.servers, path):
		text, err = c.alone.Of(text, nil, "", nil)
		if err != nil && c.doc.Client.InProfile(c.Sys, path) {
			return nil, false, nil // the client does not read it outside that profile
		}
	}
	if err != nil {
		return nil, false, err
	}
	return c.doc.Client.Ask.Files.Replace(text, func(file string) string {
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			return filepath.Join(c.Sys.Home, rest)
		}
		return checkout.AbsIn(filepath.Dir(target), file)
	}), true, nil
}
