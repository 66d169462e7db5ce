package swap

import (
	"bytes"
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
)

// UseLocal has four steps: gather, plan, write (in write.go) and report. A dry run stops
// after plan.

// UseLocal writes the checkout's command into the clients' configs. A client that fails
// does not stop the others; the returned error is for what stops all: bad options
// ([*hint.UsageError]), no checkout, or a server that does not start.
func (s *Swapper) UseLocal(ctx context.Context, o UseOptions) ([]Result, error) {
	u, sources, err := s.gather(o)
	if err != nil {
		return nil, err
	}
	changes := plan(u, sources)
	if o.DryRun {
		return dryRun(u, changes, o.ShowSecrets), nil
	}
	changes = s.confirm(changes, o.Force)
	if !slices.ContainsFunc(changes, change.pending) {
		return s.results(u, unwritten(changes)), nil
	}
	if u.compile != nil {
		if err := s.compile(ctx, u.compile); err != nil {
			return nil, err
		}
	}
	if !o.NoPreflight {
		if changes, err = s.preflight(ctx, u, changes, o.Timeout); err != nil {
			return nil, err
		}
	}
	outcomes, err := s.write(ctx, u, changes)
	if err != nil {
		return nil, err
	}
	return s.results(u, outcomes), nil
}

// Gather.

// A source is one client's config, as it was read.
type source struct {
	client *clients.Client
	scope  clients.Scope
	path   string
	doc    *configs.Document
	user   *configs.Document // the user's config, even if doc is a project file; nil: none
	under  map[string]any    // what weaker layers add to the entry
	makes  bool              // it is created if it does not exist
	twin   error             // set if the config has an entry of the same server already
	ours   error             // why it must not be written, other than being read-only
	err    error             // why it cannot be read
}

// gather reads everything that a plan depends on. Nothing else is read before the lock.
func (s *Swapper) gather(o UseOptions) (*use, []source, error) {
	u, err := s.wanted(o)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := configs.Named(s.Sys, o.Clients)
	if err != nil {
		return nil, nil, err
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
		return nil, nil, errors.New("no client is present (one is when its program is on PATH and its config exists; an editor when its config exists); name one with --cli")
	}
	if err := s.Env.OwnHome(); err != nil {
		return nil, nil, err
	}
	if _, err := s.Journal.Load(); err != nil {
		return nil, nil, err
	}
	named := len(o.Clients) > 0
	var out []source
	for _, client := range chosen {
		unfit := u.url != "" && client.Dialect.URL == ""
		if unfit && !named {
			s.Warn(client.Name + ": left out: " + errNoURL.Error())
			continue
		}
		c := source{client: client, scope: cmp.Or(o.Scope, client.ScopesInOrder()[0]), path: client.ConfigPath(s.Sys)}
		c.makes = named || client.InFiles(c.scope)
		c.user, c.err = configs.OpenFor(s.Env, client, u.project, u.server)
		c.doc = c.user
		switch {
		case client.InFiles(c.scope):
			s.fromProject(&c, u)
		case c.doc != nil:
			c.path = c.doc.Path
		case machine.Missing(c.path) && named:
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
		out = append(out, c)
	}
	return u, out, nil
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

// A change is one client's part of a UseLocal. It is a value: what is known later makes another
// one.
type change struct {
	client    *clients.Client
	scope     clients.Scope
	path      string            // of the config, as output names it
	doc       *configs.Document // what the edit was made from; nil if it could not be read
	user      *configs.Document // the user's config, with the entry that a project's hides
	makes     bool              // a missing config is created
	under     map[string]any    // what weaker layers add to the entry
	container []string
	old       format.Entry
	edit      format.Edit
	env       []clients.EnvVar // what the edit adds to the entry's environment
	hides     map[string]any   // the user entry that a project entry hides; nil: none
	force     bool             // it may be read-only
	cautions  []string
	err       error // why it is not made
}

// pending reports whether it is to be written.
func (c change) pending() bool { return c.err == nil && c.edit.Changed() }

// failed returns a change that is not made.
func (c change) failed(err error) change {
	c.err = err
	return c
}

// caution returns the change with one more caution for the user.
func (c change) caution(format string, args ...any) change {
	c.cautions = append(slices.Clip(c.cautions), fmt.Sprintf(format, args...))
	return c
}

// action returns what the change does to the entry.
func (c change) action() string {
	if c.old.Found {
		return Replaced
	}
	return Added
}

// plan makes all edits in memory and reads nothing, so that what cannot be edited is known
// before the server is started.
func plan(u *use, from []source) []change {
	out := make([]change, len(from))
	seen := map[string][]byte{} // planned texts, for configs that share a file
	for i, src := range from {
		c, err := u.planned(src, seen)
		if err != nil {
			c = c.failed(err)
		} else {
			seen[c.doc.Target] = c.edit.Out
		}
		out[i] = c
	}
	return out
}

// planned returns the change of one config. seen has the texts that the changes before it make.
func (u *use) planned(from source, seen map[string][]byte) (change, error) {
	c := change{client: from.client, scope: from.scope, path: from.path, doc: from.doc, user: from.user, makes: from.makes, under: from.under}
	if from.err != nil {
		return c, from.err
	}
	if text := seen[c.doc.Target]; text != nil {
		doc := *c.doc
		doc.Text = text
		if err := doc.Parse(); err != nil {
			return c, err
		}
		c.doc = &doc
	}
	c, err := u.edited(c)
	if err == nil && c.edit.Changed() {
		err = from.ours
	}
	if err == nil && from.twin != nil {
		c = c.caution("%v", from.twin)
	}
	return c, err
}

// again returns the same change to a config as it is now.
func (c change) again(u *use, now *configs.Document) (change, error) {
	if now.Target == c.doc.Target && bytes.Equal(now.Text, c.doc.Text) {
		now.Doc, c.doc = c.doc.Doc, now
		return c, nil
	}
	if err := now.Parse(); err != nil {
		return c, err
	}
	c.doc = now
	return u.edited(c)
}

// edited returns a change with the edit of its document.
func (u *use) edited(c change) (change, error) {
	var err error
	if c.client.InFiles(c.scope) {
		if err = c.doc.Leads(u.repo); err != nil {
			return c, err
		}
	}
	if c.container, c.old, err = c.doc.Find(c.scope, u.project, u.server); err != nil {
		return c, err
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
		return c, fmt.Errorf("%s: a weaker file has an entry %q too, which %s would merge with the URL",
			c.doc.Path, u.server, c.client.Name)
	}
	if u.url == "" && c.client.Dialect.Type == "" && clients.Remote(c.client.Dialect.Flat(c.under)) != "" {
		return c, fmt.Errorf("%s: a weaker file has an entry %q of a remote server, whose URL %s would merge with the command",
			c.doc.Path, u.server, c.client.Name)
	}
	if c.edit, err = c.doc.Doc.Set(c.container, u.server, u.named(u.change(c, c.old))); err != nil {
		return c, fmt.Errorf("%s: %w", c.doc.Path, err)
	}
	return c, nil
}

var errNoURL = errors.New("it is not known how its config names a server by URL")

// change returns what an entry becomes.
func (u *use) change(c change, old format.Entry) format.Change {
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

// confirm asks about read-only configs, each once. Those that must not be written fail.
func (s *Swapper) confirm(changes []change, force bool) []change {
	out := slices.Clone(changes)
	for i, c := range out {
		if !c.pending() {
			continue
		}
		if err := c.doc.Writable(s.Confirm, force); err != nil {
			out[i] = c.failed(err)
			continue
		}
		out[i].force = force || !c.doc.Absent() && configs.ReadOnly(c.doc.Info.Mode())
	}
	return out
}

// Report.

// resultOf returns the result of an outcome.
func resultOf(u *use, o outcome) Result {
	c := o.change
	res := Result{
		Client: c.client.Name, Scope: c.scope, Label: c.client.Label(c.scope),
		Server: u.server, Repo: u.repo, Config: c.path, Command: ask.ShowArgs(u.argv),
		Outcome: o.action, Detail: o.detail, Backup: o.backup, Cautions: c.cautions, Err: o.err,
	}
	if u.url != "" {
		res.Tag = &Tag{Kind: TagRemote, URL: ask.ShowURL(u.url)}
	}
	return res
}

// results returns the results of what was written, with what the user should know about it.
func (s *Swapper) results(u *use, outcomes []outcome) []Result {
	out := make([]Result, len(outcomes))
	for i, o := range outcomes {
		out[i] = resultOf(u, o)
		if o.action != Failed {
			s.cautions(&out[i], u, o)
		}
	}
	return out
}

// dryRun returns the results of what would change.
func dryRun(u *use, changes []change, show bool) []Result {
	out := make([]Result, len(changes))
	for i, o := range unwritten(changes) {
		c := o.change
		if c.pending() {
			o.action = c.action()
		}
		res := resultOf(u, o)
		if c.pending() {
			res.Cautions = append(res.Cautions, c.hidden(u)...)
			runs := u.argv
			if u.compile != nil {
				runs = u.compile
			}
			if err := (ask.Command{Argv: runs}).Look(); err != nil {
				res.Shadows = []string{err.Error()}
			} else if u.unbuilt != nil {
				res.Shadows = []string{u.unbuilt.Error()}
			}
			f := differ{kind: c.client.Kind, created: c.doc.Creating()}
			if !show {
				f.visible = c.client.Plain(u.runs(), c.old.Value)
			}
			res.Diff, res.Masked = f.unified(c.doc.Target, c.doc.Text, c.edit.Out)
		}
		out[i] = res
	}
	return out
}
