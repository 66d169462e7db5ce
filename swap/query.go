package swap

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
)

// Ask runs the program of a client, given by name or alias, in a directory, and
// returns what it says about a server. The client runs with home as its home
// directory, where it may write anything, and without the variables that would
// lead it to another one.
func Ask(ctx context.Context, client, server, dir, home string) (ask.Answer, error) {
	c := lookupClient(client)
	if c == nil {
		return ask.Answer{}, usagef("", "unknown client %q; the clients are: %s", client, strings.Join(ClientNames(), ", "))
	}
	if c.Ask == nil {
		return ask.Answer{}, fmt.Errorf("%s cannot be queried offline", c.Name)
	}
	program := c.binary()
	if program == "" {
		return ask.Answer{}, fmt.Errorf("%s is not on PATH", strings.Join(c.Binaries, " or "))
	}
	return ask.Client(ctx, *c.Ask, ask.Question{Program: program, Server: server, Dir: dir, Home: home, Unset: c.homeVars()})
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
	config := ask.Config{Kind: c.Kind, Text: doc.text, Container: container, Server: server, Env: c.Dialect.envName(), Vars: format.Object{}}
	for _, scope := range c.scopes() {
		config.Containers = append(config.Containers, c.containers(scope, project)...)
	}
	own := c.Dialect.env(e.Value)
	for _, name := range c.homeVars() {
		value := s.Sys.Getenv(name)
		if value == "" || slices.ContainsFunc(own, func(v EnvVar) bool { return strings.EqualFold(v.Name, name) }) {
			continue
		}
		config.Vars = append(config.Vars, format.Field{Name: name, Value: value})
	}

	plain := System{GOOS: s.Sys.GOOS, Home: s.Sys.Home, Getenv: func(string) string { return "" }}
	var files []ask.File
	for _, l := range c.files() {
		from, to := l.resolve(s.Sys), l.resolve(plain)
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

// homeVars names the variables that say where the client's files are.
func (c *Client) homeVars() []string {
	names := []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"}
	for _, l := range c.files() {
		for _, dirs := range l.Dirs {
			for _, d := range dirs {
				if d.Env != "" && !slices.Contains(names, d.Env) {
					names = append(names, d.Env)
				}
			}
		}
	}
	return names
}

// files are the places of all files that decide what the client answers.
func (c *Client) files() []location {
	out := []location{c.Config}
	if c.Trust != nil && c.Trust.File != nil {
		out = append(out, *c.Trust.File)
	}
	return append(out, c.Also...)
}
