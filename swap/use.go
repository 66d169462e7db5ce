package swap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// UseLocal has four steps: gather, plan, write (in write.go) and report. A dry run stops
// after plan.

// UseLocal writes the checkout's command into the clients' configs. A client that fails
// does not stop the others; the returned error is for what stops all: bad options
// ([*hint.UsageError]), no checkout, or a server that does not start.
func (s *Swapper) UseLocal(ctx context.Context, o UseOptions) ([]Result, error) {
	g, err := s.gather(o)
	if err != nil {
		return nil, err
	}
	changes := plan(g)
	if o.DryRun {
		return g.use.dryRun(changes, o.ShowSecrets), nil
	}
	s.confirm(changes, o.Force)
	if slices.ContainsFunc(changes, (*change).pending) {
		if g.use.compile != nil {
			if err := s.compile(ctx, g.use.compile); err != nil {
				return nil, err
			}
		}
		if !o.NoPreflight {
			if err := s.preflight(ctx, g.use, changes, o.Timeout); err != nil {
				return nil, err
			}
		}
		if err := s.write(ctx, g.use, changes); err != nil {
			return nil, err
		}
	}
	return s.report(g.use, changes), nil
}

// Gather.

// gathered is everything that a plan depends on. Nothing else is read before the lock.
type gathered struct {
	use     *use
	named   bool // the caller named the clients
	configs []source
}

// A source is one client's config, as it was read.
type source struct {
	client *clients.Client
	scope  clients.Scope
	path   string
	doc    *configs.Document
	user   *configs.Document // the user's config, even if doc is a project file; nil: none
	under  map[string]any    // what weaker layers add to the entry
	twin   error             // set if the config has an entry of the same server already
	ours   error             // why it must not be written, other than being read-only
	err    error             // why it cannot be read
}

func (s *Swapper) gather(o UseOptions) (*gathered, error) {
	u, err := s.wanted(o)
	if err != nil {
		return nil, err
	}
	chosen, err := configs.Named(s.Sys, o.Clients)
	if err != nil {
		return nil, err
	}
	switch {
	case len(o.Clients) > 0:
	case o.Scope == clients.ScopeProject:
		chosen = s.forProject(u.repo)
	default:
		// An installed editor may have no config yet.
		chosen = slices.DeleteFunc(chosen, func(c *clients.Client) bool { return !configs.Exists(s.Sys, c) })
		s.skipped()
	}
	if len(chosen) == 0 {
		return nil, errors.New("no client is present (one is when its program is on PATH and its config exists; an editor when its config exists); name one with --cli")
	}
	if err := s.Env.OwnHome(); err != nil {
		return nil, err
	}
	if _, err := s.Journal.Load(); err != nil {
		return nil, err
	}
	g := &gathered{use: u, named: len(o.Clients) > 0}
	for _, client := range chosen {
		unfit := u.url != "" && client.Dialect.URL == ""
		if unfit && !g.named {
			s.Warn(client.Name + ": left out: " + errNoURL.Error())
			continue
		}
		c := source{client: client, scope: cmp.Or(o.Scope, client.ScopesInOrder()[0]), path: client.ConfigPath(s.Sys)}
		c.user, c.err = configs.OpenFor(s.Env, client, u.project, u.server)
		c.doc = c.user
		switch {
		case client.InFiles(c.scope):
			s.fromProject(&c, u)
		case c.doc != nil:
			c.path = c.doc.Path
		case machine.Missing(c.path) && g.named:
			c.doc, c.err = configs.ToCreate(s.Sys, client, c.path)
		case machine.Missing(c.path) && configs.Exists(s.Sys, client):
			s.Warn(fmt.Sprintf("%s: no entry to change, and no %s to make one in, so left out (use-local --cli %s creates it)", client.Name, c.path, client.Name))
			continue
		}
		if unfit {
			c.err = errNoURL
		}
		if c.err == nil {
			c.ours = c.doc.Ours()
			c.under = c.doc.Weaker(s.Sys, c.scope, u.repo, u.server)
			if c.twin = s.noTwin(c, u); u.unnamed {
				c.err = c.twin
			}
		}
		g.configs = append(g.configs, c)
	}
	return g, nil
}

// forProject returns the clients that are installed and support the project scope.
func (s *Swapper) forProject(repo string) (out []*clients.Client) {
	var without []string
	for _, c := range clients.All {
		_, into := c.ProjectFiles(s.Sys, repo, configs.Tree(repo))
		switch {
		case !configs.Present(s.Sys, c) && !configs.Installed(s.Sys, c):
		case c.InFiles(clients.ScopeProject) && len(into) == 0:
			without = append(without, c.Name)
		case c.InFiles(clients.ScopeProject) || configs.Exists(s.Sys, c):
			out = append(out, c)
		}
	}
	if len(without) > 0 {
		s.Warn("no files of a project, so left out: " + strings.Join(without, ", "))
	}
	return out
}

// fromProject reads the project file, or arranges for it to be created.
func (s *Swapper) fromProject(c *source, u *use) {
	c.doc, c.path, c.err = configs.OpenProject(s.Env, c.client, u.repo, u.server, false)
	if c.err == nil && c.doc == nil {
		c.doc, c.err = configs.ToCreate(s.Sys, c.client, c.path)
	}
}

// Plan.

// A change is one client's part of a UseLocal.
type change struct {
	client    *clients.Client
	scope     clients.Scope
	doc       *configs.Document
	user      *configs.Document // the user's config, with the entry that a project's hides
	container []string
	under     map[string]any // what weaker layers add to the entry
	old       format.Entry
	edit      format.Edit
	env       []clients.EnvVar // what the edit adds to the entry's environment
	hides     map[string]any   // the user entry that a project entry hides; nil: none
	force     bool             // it may be read-only
	named     bool             // a missing config is created
	result    Result

	// What writing has recorded about it.
	prior *journal.Record // the record of an earlier swap of the entry
	fresh string          // the backup made for this one
	made  []string        // the directories made for it
}

// pending reports whether it still has to be written.
func (c *change) pending() bool { return c.result.Outcome == "" && c.edit.Changed() }

func (c *change) fail(err error) {
	c.result.Outcome, c.result.Err = Failed, configs.OnceWritable(err, "run use-local again")
}

func (c *change) action() string {
	if c.old.Found {
		return Replaced
	}
	return Added
}

// plan makes all edits in memory and reads nothing, so that what cannot be edited is known
// before the server is started.
func plan(g *gathered) []*change {
	var out []*change
	seen := map[string][]byte{} // planned texts, for configs that share a file
	for _, from := range g.configs {
		c := &change{client: from.client, scope: from.scope, doc: from.doc, user: from.user, under: from.under}
		c.named = g.named || c.client.InFiles(c.scope)
		c.result = Result{
			Client: c.client.Name, Scope: c.scope, Label: c.client.Label(c.scope),
			Server: g.use.server, Repo: g.use.repo, Config: from.path, Command: ask.ShowArgs(g.use.argv),
		}
		if g.use.url != "" {
			c.result.Tag = &Tag{Kind: TagRemote, URL: ask.ShowURL(g.use.url)}
		}
		out = append(out, c)
		err := from.err
		if err == nil && seen[c.doc.Target] != nil {
			c.doc.Text = seen[c.doc.Target]
			err = c.doc.Parse()
		}
		if err == nil {
			err = g.use.edit(c)
		}
		if err == nil && c.edit.Changed() {
			err = from.ours
		}
		if err == nil && from.twin != nil {
			c.result.Cautions = append(c.result.Cautions, from.twin.Error())
		}
		if err != nil {
			c.fail(err)
			continue
		}
		seen[c.doc.Target] = c.edit.Out
	}
	return out
}

// edit makes a change's edit.
func (u *use) edit(c *change) error {
	var err error
	if c.client.InFiles(c.scope) {
		if err = c.doc.Leads(u.repo); err != nil {
			return err
		}
	}
	if c.container, c.old, err = c.doc.Find(c.scope, u.project, u.server); err != nil {
		return err
	}
	c.env, c.hides = u.env, nil
	from := c.doc
	if c.client.InFiles(c.scope) {
		from = c.user
	}
	if c.scope == clients.ScopeProject && from != nil {
		if _, e, err := from.Find(clients.ScopeUser, u.project, u.server); err == nil && e.Found {
			c.hides = e.Value
		}
	}
	if u.keepEnv {
		c.env = append(c.hiddenEnv(c.client.Dialect.ReadEnv(c.old.Value)), c.env...)
	}
	if len(c.under) > 0 && u.url != "" {
		return fmt.Errorf("%s: a weaker file has an entry %q too, which %s would merge with the URL",
			c.doc.Path, u.server, c.client.Name)
	}
	if u.url == "" && c.client.Dialect.Type == "" && clients.Remote(c.client.Dialect.Flat(c.under)) != "" {
		return fmt.Errorf("%s: a weaker file has an entry %q of a remote server, whose URL %s would merge with the command",
			c.doc.Path, u.server, c.client.Name)
	}
	if c.edit, err = c.doc.Doc.Set(c.container, u.server, u.named(u.change(c, c.old))); err != nil {
		return fmt.Errorf("%s: %w", c.doc.Path, err)
	}
	return nil
}

var errNoURL = errors.New("it is not known how its config names a server by URL")

// change returns what an entry becomes.
func (u *use) change(c *change, old format.Entry) format.Change {
	if u.url != "" {
		return c.client.ChangeRemote(u.url, old)
	}
	return c.client.Change(u.argv, c.env, old, c.under)
}

// named inserts the server's name where an entry contains it.
func (u *use) named(ch format.Change) format.Change {
	for _, fields := range []format.Object{ch.New, ch.Set} {
		for i, f := range fields {
			if f.Value == ask.ServerName {
				fields[i].Value = u.server
			}
		}
	}
	return ch
}

// runs returns what clients run, or the server's address.
func (u *use) runs() []string {
	if u.url != "" {
		return []string{u.url}
	}
	return u.argv
}

// confirm asks about read-only configs, each once.
func (s *Swapper) confirm(changes []*change, force bool) {
	for _, c := range changes {
		if !c.pending() {
			continue
		}
		if err := c.doc.Writable(s.Confirm, force); err != nil {
			c.fail(err)
			continue
		}
		c.force = force || !c.doc.Absent() && configs.ReadOnly(c.doc.Info.Mode())
	}
}

// Report.

// report completes the results and warns about what the user should know.
func (s *Swapper) report(u *use, changes []*change) []Result {
	for _, c := range changes {
		c.result.Outcome = cmp.Or(c.result.Outcome, Unchanged)
		s.cautions(c, u)
		c.hidden(u)
	}
	return results(changes)
}

// dryRun reports what would change.
func (u *use) dryRun(changes []*change, show bool) []Result {
	for _, c := range changes {
		if !c.pending() {
			c.result.Outcome = cmp.Or(c.result.Outcome, Unchanged)
			continue
		}
		c.result.Outcome = c.action()
		c.hidden(u)
		runs := u.argv
		if u.compile != nil {
			runs = u.compile
		}
		if err := (ask.Command{Argv: runs}).Look(); err != nil {
			c.result.Shadows = []string{err.Error()}
		} else if u.unbuilt != nil {
			c.result.Shadows = []string{u.unbuilt.Error()}
		}
		f := differ{kind: c.client.Kind, created: c.doc.Creating()}
		if !show {
			f.visible = c.client.Plain(u.runs(), c.old.Value)
		}
		c.result.Diff, c.result.Masked = f.unified(c.doc.Target, c.doc.Text, c.edit.Out)
	}
	return results(changes)
}

func results(changes []*change) []Result {
	out := make([]Result, len(changes))
	for i, c := range changes {
		out[i] = c.result
	}
	return out
}
