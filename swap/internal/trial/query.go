// Package trial starts servers as clients would, and asks the clients' own programs what they
// make of them, in temporary home directories with copies of their files.
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

// A Query is a question to a client, whose home directory is ready.
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

// Ask asks the client. To the user, the copies are the files.
func (q *Query) Ask(ctx context.Context) (ask.Answer, error) {
	a, err := ask.Client(ctx, q.row, q.question)
	a.Says = strings.ReplaceAll(a.Says, q.question.Home, q.real)
	if err != nil {
		err = ask.Reworded(err, strings.ReplaceAll(err.Error(), q.question.Home, q.real))
	}
	return a, err
}

// copyHome puts the files that determine a client's answer into a home directory, and returns
// the variables that lead the client there. Each file stays where its variable says it is.
func copyHome(in configs.Env, home string, doc *configs.Document, container []string, project, server string) (env []string, err error) {
	c, sys := doc.Client, in.Sys
	only := ask.Alone{Kind: c.Kind, Server: server, Harmless: c.Harmless}
	for _, scope := range c.ScopesInOrder() {
		only.Containers = append(only.Containers, c.ContainersIn(doc.Doc, scope, project)...)
	}
	e, err := doc.Doc.Lookup(container, server)
	if err != nil {
		return nil, err
	}
	own, vars := c.Dialect.ReadEnv(e.Value), format.Object{}
	for _, name := range c.HomeVars() {
		value := sys.Getenv(name)
		if value == "" || slices.ContainsFunc(own, func(v clients.EnvVar) bool { return strings.EqualFold(v.Name, name) }) {
			continue
		}
		vars = append(vars, format.Field{Name: name, Value: value})
	}
	if len(c.Dialect.ReadArgv(e.Value)) == 0 {
		vars = nil // codex refuses variables for a remote server
	}
	var servers []string
	for _, l := range c.Layers {
		if l.Role != clients.Project {
			servers = append(servers, c.Files(l, sys, "", "")...)
		}
	}
	for _, p := range c.Places(sys) {
		// The client cannot read what is missing or unreadable, either.
		target, err := in.Real(p.Path)
		if err != nil {
			continue
		}
		text, _, err := in.Read(target)
		if err != nil {
			continue
		}
		switch {
		case p.Path == doc.Path:
			text, err = only.Of(doc.Text, container, c.Dialect.EnvName(), vars)
		case slices.Contains(servers, p.Path):
			text, err = only.Of(text, nil, "", nil)
			if err != nil && c.InProfile(sys, p.Path) {
				continue // which the client does not read otherwise
			}
		}
		if err != nil {
			return nil, fmt.Errorf("prepare a copy of %s: %w", p.Path, err)
		}
		text = c.Ask.Files.Replace(text, func(file string) string {
			if rest, ok := strings.CutPrefix(file, "~/"); ok {
				return filepath.Join(sys.Home, rest)
			}
			return checkout.AbsIn(filepath.Dir(target), file)
		})
		name := filepath.Join(home, p.Rel)
		if p.Env != "" {
			dir := filepath.Join(home, "variables", p.Env)
			name = filepath.Join(dir, p.Rel)
			if p.Rel == "." {
				name = filepath.Join(dir, filepath.Base(p.Path))
				dir = name
			} else if filepath.Dir(p.Rel) == ".." {
				name = filepath.Join(dir, filepath.Base(p.Path))
				dir = filepath.Join(dir, filepath.Base(sys.Getenv(p.Env)))
			}
			env = append(env, p.Env+"="+dir)
		} else if p.Rel == "" {
			continue // it reads the file itself
		}
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = os.WriteFile(name, text, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", p.Path, err)
		}
	}
	for _, l := range c.Layers {
		if text := sys.Getenv(l.Var); l.Role == clients.Variable && text != "" {
			if text, err := only.Of([]byte(text), nil, "", nil); err == nil {
				env = append(env, l.Var+"="+string(text))
			}
		}
	}
	return env, nil
}
