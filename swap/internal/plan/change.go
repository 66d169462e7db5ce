package plan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/patch"
	"tmuxmcp/swap/journal"
)

// A Change is one client's part of a UseLocal. It is a value; its methods return modified copies.
type Change struct {
	Client    *clients.Client
	Scope     clients.Scope
	Path      string            // of the config, as output names it
	Doc       *configs.Document // what the edit was made from; nil if it could not be read
	user      *configs.Document // the user's config, with the entry that a project's hides
	Makes     bool              // create a missing config
	Weaker    map[string]any    // what weaker layers add to the entry
	Stronger  map[string]any    // what stronger layers put over it
	Container []string
	Old       format.Entry
	Edit      format.Edit
	Added     []clients.EnvVar // what the edit adds to the entry's environment
	hides     map[string]any   // the user entry that a project entry hides; nil: none
	Force     bool             // it may be read-only
	Cautions  []string
	Err       error // why it is not made
}

// Pending reports whether the change has to be written.
func (c Change) Pending() bool { return c.Err == nil && c.Edit.Changed() }

// Failed returns the change as one that is not made because of err.
func (c Change) Failed(err error) Change {
	c.Err = err
	return c
}

// Caution returns the change with one more caution for the user.
func (c Change) Caution(format string, args ...any) Change {
	c.Cautions = append(slices.Clip(c.Cautions), fmt.Sprintf(format, args...))
	return c
}

// Action returns what the change does to the entry.
func (c Change) Action() string {
	if c.Old.Found {
		return journal.Replaced
	}
	return journal.Added
}

// Make returns the changes of all sources. It edits in memory and reads nothing, so that what cannot
// be edited is known before the server is started.
func Make(env configs.Env, want *Wanted, from []Source) []Change {
	out := make([]Change, len(from))
	seen := map[string][]byte{} // planned texts, for configs that share a file
	for i, src := range from {
		c, err := want.planned(env, src, seen)
		if err != nil {
			c = c.Failed(err)
		} else {
			seen[c.Doc.Target] = c.Edit.Out
			if c.Edit.Changed() {
				env.Gave(c.Client, c.Doc.Target, c.Edit.Out, c.Edit.Doc())
			}
		}
		out[i] = c
	}
	return out
}

// planned returns the change of one config. seen has the texts that earlier changes produce.
func (want *Wanted) planned(env configs.Env, from Source, seen map[string][]byte) (Change, error) {
	c := Change{Client: from.client, Scope: from.scope, Path: from.path, Doc: from.doc, user: from.user, Makes: from.makes, Weaker: from.weaker, Stronger: from.stronger}
	if from.err != nil {
		return c, from.err
	}
	if text := seen[c.Doc.Target]; text != nil {
		doc := *c.Doc
		doc.Text = text
		if err := doc.Parse(env); err != nil {
			return c, err
		}
		c.Doc = &doc
	}
	c, err := want.edited(c)
	if err == nil && c.Edit.Changed() {
		err = cmp.Or(from.name, from.ours)
	}
	if err == nil && from.twin != nil {
		c = c.Caution("%v", from.twin)
	}
	if lost := want.loses(c); err == nil && c.Edit.Changed() && lost != "" {
		c = c.Caution("%s", lost)
	}
	return c, err
}

// Again returns the same change of the config as it is now.
func (c Change) Again(env configs.Env, want *Wanted, now *configs.Document) (Change, error) {
	if now.Target == c.Doc.Target && bytes.Equal(now.Text, c.Doc.Text) {
		now.Doc, c.Doc = c.Doc.Doc, now
		return c, nil
	}
	if err := now.Parse(env); err != nil {
		return c, err
	}
	c.Doc = now
	return want.edited(c)
}

func (want *Wanted) edited(c Change) (Change, error) {
	var err error
	if c.Client.InFiles(c.Scope) {
		if err = c.Doc.Leads(want.Repo); err != nil {
			return c, err
		}
	}
	if c.Container, c.Old, err = c.Doc.Find(c.Scope, want.project, want.Name); err != nil {
		return c, err
	}
	c.Added, c.hides = want.Env, nil
	from := c.Doc
	if c.Client.InFiles(c.Scope) {
		from = c.user
	}
	if c.Scope == clients.ScopeProject && from != nil {
		if _, e, err := from.Find(clients.ScopeUser, want.project, want.Name); err == nil && e.Found {
			c.hides = e.Value
		}
	}
	if want.keepEnv {
		c.Added = append(c.hiddenEnv(c.Client.Dialect.ReadEnv(c.Old.Value)), c.Added...)
	}
	if len(c.Weaker) > 0 && want.URL != "" {
		return c, fmt.Errorf("%s: a weaker file has an entry %q too, which %s would merge with the URL",
			c.Doc.Path, want.Name, c.Client.Name)
	}
	if want.URL == "" && c.Client.Dialect.Type == "" && clients.Remote(c.Client.Dialect.Flat(c.Weaker)) != "" {
		return c, fmt.Errorf("%s: a weaker file has an entry %q of a remote server, whose URL %s would merge with the command",
			c.Doc.Path, want.Name, c.Client.Name)
	}
	if c.Edit, err = c.Doc.Doc.Set(c.Container, want.Name, want.named(want.change(c, c.Old))); err != nil {
		return c, fmt.Errorf("%s: %w", c.Doc.Path, err)
	}
	if c.Edit.Changed() {
		err = want.mayReplace(c)
	}
	return c, err
}

var errNoURL = errors.New("it is not known how its config names a server by URL")

// change returns what an entry becomes.
func (want *Wanted) change(c Change, old format.Entry) format.Change {
	if want.URL != "" {
		return c.Client.ChangeRemote(want.URL, old)
	}
	return c.Client.Change(want.ArgvFor(c.Client, old), c.Added, old, c.Weaker)
}

// named inserts the server's name where an entry contains it.
func (want *Wanted) named(ch format.Change) format.Change {
	for _, fields := range []format.Object{ch.New, ch.Set} {
		for i, f := range fields {
			if f.Value == ask.ServerName {
				fields[i].Value = want.Name
			}
		}
	}
	return ch
}

// runs returns what clients run, or the server's address.
func (want *Wanted) runs() []string {
	if want.URL != "" {
		return []string{want.URL}
	}
	return want.Argv
}

// Hidden returns cautions about what a user entry still does although a project entry takes
// precedence, and about its variables that the project entry does not have.
func (c Change) Hidden(want *Wanted) (cautions []string) {
	if c.hides == nil {
		return nil
	}
	d := c.Client.Dialect
	runs := ask.CommandLine(ask.ShowArgs(d.Runs(c.hides)))
	where := want.project
	if c.Client.InFiles(c.Scope) {
		if where = want.Repo; !configs.Inside(c.Doc.Target, where) {
			where = configs.Top(where)
		}
	}
	cautions = append(cautions, fmt.Sprintf("only %s runs what was swapped in; elsewhere the user scope's entry still runs %s; use --scope user to replace that one", where, runs))
	var lost []string
	for _, v := range c.hiddenEnv(d.ReadEnv(c.Edit.Value)) {
		lost = append(lost, v.Name)
	}
	if len(lost) > 0 && want.URL == "" && !c.Client.Merges {
		cautions = append(cautions, fmt.Sprintf("the entry lacks variables that the user scope's sets: %s; use --keep-env to copy that", strings.Join(lost, ", ")))
	}
	return cautions
}

// hiddenEnv returns the variables of the user entry that are neither in own, the project
// entry's, nor added by the edit.
func (c Change) hiddenEnv(own []clients.EnvVar) []clients.EnvVar {
	own = slices.Concat(own, c.Added)
	return slices.DeleteFunc(c.Client.Dialect.ReadEnv(c.hides), func(v clients.EnvVar) bool {
		return slices.ContainsFunc(own, func(o clients.EnvVar) bool { return o.Name == v.Name })
	})
}

// Before returns the entry in a text, and what undoes its swap.
func (want *Wanted) Before(c Change, text []byte) (map[string]any, format.Undo, error) {
	doc, err := c.Client.Parse(text)
	if err != nil {
		return nil, format.Undo{}, err
	}
	old, err := doc.Lookup(c.Container, want.Name)
	if err != nil {
		return nil, format.Undo{}, err
	}
	e, err := doc.Set(c.Container, want.Name, want.change(c, old))
	return old.Value, e.Undo, err
}

// Diff returns a diff of the change, and whether secrets in it are masked.
func (c Change) Diff(want *Wanted, showSecrets bool) (text string, masked bool) {
	f := patch.Differ{Kind: c.Client.Kind, Created: c.Doc.Creating()}
	if !showSecrets {
		f.Visible = c.Client.Visible(c.Doc.Doc, c.Container, c.Old.Value, c.Edit.Value)
	}
	return f.Unified(c.Doc.Target, c.Doc.Text, c.Edit.Out)
}
