package plan

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
)

// A Source is one client's config, as it was read.
type Source struct {
	client   *clients.Client
	scope    clients.Scope
	path     string
	doc      *configs.Document
	user     *configs.Document // the user's config, even if doc is a project file; nil: none
	weaker   map[string]any    // what weaker layers add to the entry
	stronger map[string]any    // what stronger layers put over it
	makes    bool              // it is created if it does not exist
	twin     error             // set if the config has an entry of the same server already
	name     error             // set if the client does not take the server's name
	ours     error             // why it must not be written, other than being read-only
	err      error             // why it cannot be read
}

// Gather reads the configs that the plan depends on. No others are read before the lock is taken.
func Gather(env configs.Env, want *Wanted, o Options) ([]Source, error) {
	chosen, err := choose(env, want, o)
	if err != nil {
		return nil, err
	}
	if err := env.OwnHome(); err != nil {
		return nil, err
	}
	if want.swaps, err = env.Recorded(); err != nil {
		return nil, err
	}
	named := len(o.Clients) > 0 || want.By != ""
	var out []Source
	for _, client := range chosen {
		unfit := want.URL != "" && client.Dialect.URL == ""
		if unfit && !named {
			env.Warn(client.Name + ": left out: " + errNoURL.Error())
			continue
		}
		c := Source{client: client, scope: cmp.Or(o.Scope, client.ScopesInOrder()[0]), path: client.ConfigPath(env.Sys)}
		c.makes = named || client.InFiles(c.scope)
		if !c.open(env, want, named) {
			env.Warn(fmt.Sprintf("%s: no entry to change, and no %s to make one in, so left out (%s %s %s creates it)", client.Name, c.path, env.Words.Write, env.Words.Client, client.Name))
			continue
		}
		if unfit {
			c.err = errNoURL
		}
		if c.err == nil {
			c.ours = c.doc.Owned()
			c.name = badName(env, c, want)
			c.weaker, c.stronger = c.doc.Around(env, c.scope, want.Repo, want.Name)
			if c.twin = noTwin(env, c, want); want.unnamed && !c.has(want) {
				c.err = c.twin
			} else if c.twin == nil && want.By == "" {
				c.twin = misspelt(env, c, want)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// choose returns the clients whose configs are to be changed.
func choose(env configs.Env, want *Wanted, o Options) ([]*clients.Client, error) {
	chosen, err := clients.Named(env.Sys, o.Clients)
	if err != nil {
		return nil, err
	}
	switch {
	case len(o.Clients) > 0:
	case want.By != "":
		if chosen = installed(env); len(chosen) == 0 {
			return nil, fmt.Errorf("no client is installed here: install one of %s, and start it once", strings.Join(clients.Names(), ", "))
		}
	case o.Scope == clients.ScopeProject:
		chosen = forProject(env, want.Repo)
	default:
		// An installed editor may have no config yet.
		chosen = slices.DeleteFunc(chosen, func(c *clients.Client) bool { return !c.HasConfig(env.Sys) })
		skipped(env)
	}
	if len(chosen) == 0 {
		return nil, errors.New("no client is present (one is when its program is on PATH and its config exists; an editor when its config exists); name one with --cli")
	}
	return chosen, nil
}

// open reads the client's config, or plans to create it. It returns false if the client was not named
// and has only other configs, without the entry.
func (c *Source) open(env configs.Env, want *Wanted, named bool) bool {
	c.user, c.err = configs.OpenFor(env, c.client, want.project, want.Name)
	c.doc = c.user
	switch {
	case c.client.InFiles(c.scope):
		c.fromProject(env, want)
	case c.doc != nil:
		c.path = c.doc.Path
	case machine.Missing(c.path) && named:
		c.doc, c.err = configs.ToCreate(env, c.client, c.path)
	case machine.Missing(c.path) && c.client.HasConfig(env.Sys):
		return false
	}
	return true
}

// installed returns the clients that are certainly installed, even those without a config.
func installed(env configs.Env) (out []*clients.Client) {
	var without, unsure []string
	for _, c := range clients.All() {
		switch config := c.HasConfig(env.Sys); {
		case config && (c.Editor || c.Installed(env.Sys)), evident(env.Sys, c):
			out = append(out, c)
		case config:
			without = append(without, c.Name)
		case c.Installed(env.Sys):
			unsure = append(unsure, c.Name)
		}
	}
	leftOut := func(why string, names []string) {
		if len(names) > 0 {
			env.Warn(fmt.Sprintf("left out, since %s: %s (%s NAME takes it)", why, strings.Join(names, ", "), env.Words.Client))
		}
	}
	leftOut("its program is not on PATH", without)
	leftOut("it has never been started, so its program may be another of that name", unsure)
	return out
}

// evident reports whether a client without a config is certainly installed, and accepts one that is
// created for it: no other program has its name, or it has been started, since its directory exists.
func evident(sys machine.System, c *clients.Client) bool {
	if c.Makes || !c.Installed(sys) {
		return false
	}
	dir := filepath.Dir(c.ConfigPath(sys))
	info, err := os.Stat(dir)
	return c.Sole && c.Binary() != "" || dir != sys.Home && err == nil && info.IsDir()
}

// forProject returns the clients that are installed and support the project scope.
func forProject(env configs.Env, repo string) (out []*clients.Client) {
	var without []string
	for _, c := range clients.All() {
		_, into := c.ProjectFiles(env.Sys, repo, env.Tree(repo))
		switch {
		case !c.Present(env.Sys) && !c.Installed(env.Sys):
		case c.InFiles(clients.ScopeProject) && len(into) == 0:
			without = append(without, c.Name)
		case c.InFiles(clients.ScopeProject) || c.HasConfig(env.Sys):
			out = append(out, c)
		}
	}
	if len(without) > 0 {
		env.Warn("no files of a project, so left out: " + strings.Join(without, ", "))
	}
	return out
}

// skipped warns about installed clients that have no config to write to.
func skipped(env configs.Env) {
	var names []string
	for _, c := range clients.All() {
		if !c.HasConfig(env.Sys) && c.Installed(env.Sys) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		env.Warn(fmt.Sprintf("no config, so left out: %s (%s %s NAME creates one)", strings.Join(names, ", "), env.Words.Write, env.Words.Client))
	}
}

// fromProject reads the project file, or plans to create it.
func (c *Source) fromProject(env configs.Env, want *Wanted) {
	c.doc, c.path, c.err = configs.OpenProject(env, c.client, want.Repo, want.Name, false)
	if c.err == nil && c.doc == nil {
		c.doc, c.err = configs.ToCreate(env, c.client, c.path)
	}
}

// has reports whether the entry is there, or cannot be looked for, which the edit reports.
func (c Source) has(want *Wanted) bool {
	_, e, err := c.doc.Find(c.scope, want.project, want.Name)
	return err != nil || e.Found
}

// badName returns an error if a client does not take the server's name.
func badName(env configs.Env, c Source, want *Wanted) error {
	_, e, err := c.doc.Find(c.scope, want.project, want.Name)
	if err != nil || c.client.Server.Takes(want.Name, e.Found) {
		return nil // the edit reports the error
	}
	return fmt.Errorf("%s; use %s NAME to choose another", c.client.Server.Refused(c.client.Name, want.Name), env.Words.Server)
}
