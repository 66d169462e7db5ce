package swap

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/hint"
	"tmuxmcp/swap/machine"
)

// Ask runs the program of a client, given by name or alias, in a directory, and
// returns what it says about a server. The client runs with home as its home
// directory, where it may write anything, and without the variables that would
// lead it to another one.
func Ask(ctx context.Context, client, server, dir, home string) (ask.Answer, error) {
	c := clients.Lookup(client)
	if c == nil {
		return ask.Answer{}, hint.Usagef("", "unknown client %q; the clients are: %s", client, strings.Join(clients.Names(), ", "))
	}
	if c.Ask == nil {
		return ask.Answer{}, fmt.Errorf("%s cannot be queried offline", c.Name)
	}
	program := c.Binary()
	if program == "" {
		return ask.Answer{}, fmt.Errorf("%s is not on PATH", strings.Join(c.Binaries, " or "))
	}
	return ask.Client(ctx, *c.Ask, ask.Question{Program: program, Server: server, Dir: dir, Home: home, Unset: c.HomeVars()})
}

// query runs [Ask] in a temporary home directory with copies of the client's files.
func (s *Swapper) query(ctx context.Context, doc *document, container []string, project, server, dir string) (a ask.Answer, err error) {
	config, files, err := s.copies(doc, container, project, server)
	if err != nil {
		return ask.Answer{}, err
	}
	home, remove, err := ask.Home(config, files)
	if err != nil {
		return ask.Answer{}, fmt.Errorf("%s: %w", doc.config, err)
	}
	defer func() {
		if rerr := remove(); err == nil {
			err = rerr
		}
	}()
	return Ask(ctx, doc.client.Name, server, dir, home)
}

// copies lists the files that decide a client's answer, by their places in a home
// directory in which no variable moves them.
func (s *Swapper) copies(doc *document, container []string, project, server string) (ask.Config, []ask.File, error) {
	c := doc.client
	e, err := doc.doc.Lookup(container, server)
	if err != nil {
		return ask.Config{}, nil, err
	}
	config := ask.Config{Kind: c.Kind, Text: doc.text, Container: container, Server: server, Env: c.Dialect.EnvName(), Vars: format.Object{}}
	for _, scope := range c.ScopesInOrder() {
		config.Containers = append(config.Containers, c.Containers(scope, project)...)
	}
	own := c.Dialect.ReadEnv(e.Value)
	for _, name := range c.HomeVars() {
		value := s.Sys.Getenv(name)
		if value == "" || slices.ContainsFunc(own, func(v clients.EnvVar) bool { return strings.EqualFold(v.Name, name) }) {
			continue
		}
		config.Vars = append(config.Vars, format.Field{Name: name, Value: value})
	}

	plain := machine.System{GOOS: s.Sys.GOOS, Home: s.Sys.Home, Getenv: func(string) string { return "" }}
	var files []ask.File
	for _, l := range c.Locations() {
		from, to := l.Resolve(s.Sys), l.Resolve(plain)
		for i := range from {
			place, err := filepath.Rel(plain.Home, to[i])
			if err != nil {
				return ask.Config{}, nil, fmt.Errorf("copy %s: %w", from[i], err)
			}
			if from[i] == doc.config {
				config.Path = place
				continue
			}
			// The client cannot read what is missing or unreadable here, either.
			target, err := filepath.EvalSymlinks(from[i])
			if err != nil {
				continue
			}
			if text, _, err := (atomicfile.Disk{}).Read(target); err == nil {
				files = append(files, ask.File{Path: place, Text: text})
			}
		}
	}
	return config, files, nil
}
