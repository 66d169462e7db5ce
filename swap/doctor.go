package swap

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/plan"
	"tmuxmcp/swap/journal"
)

// A Finding is one problem, or a fact: a swap that is in force, or what may be as it was meant.
type Finding struct {
	Kind   string        `json:"kind"` // one of the Found constants
	Client string        `json:"client,omitempty"`
	Scope  clients.Scope `json:"scope,omitempty"`
	Server string        `json:"server,omitempty"`
	Path   string        `json:"path,omitempty"`
	By     string        `json:"by,omitempty"` // of a swap: the program that set itself up
	// Meant is set for what may be intended, or so only here and now, which is no problem: a swap in
	// force, an entry switched off, an untrusted folder, a program on another PATH and the like.
	Meant bool `json:"meant,omitempty"`
	// Text describes it, and what to do about it.
	Text string `json:"text"`

	// More is set for a swap in force if Text says more than that: what was edited since, or in
	// which other files it is.
	More bool `json:"-"`
}

// Kinds of a [Finding].
const (
	FoundOtherName   = "other-name"       // the repo is registered under another server name
	FoundTwice       = "twice"            // … in addition to that name
	FoundInForce     = "in-force"         // a swap that is as it was written
	FoundSwapped     = "not-reverted"     // a swap that revert could not undo now
	FoundBack        = "brought-back"     // a reverted swap that is in its config again
	FoundHalf        = "half-finished"    // a swap or revert that was interrupted
	FoundEdited      = "edited-since"     // a swapped entry that was edited since
	FoundNoBackup    = "backup-missing"   // a record whose backup is gone
	FoundNoTarget    = "target-missing"   // a record whose config is gone
	FoundStrayBackup = commit.StrayBackup // a backup without a record
	FoundSpareBackup = commit.SpareBackup // such a backup, equal to its config
	FoundTemp        = commit.TempFile    // left by a killed run
	FoundLogin       = "login-overridden" // an environment variable; its value is not read
	FoundNoCheckout  = "checkout-missing" // an entry that runs something that no longer exists
	FoundNoProgram   = "program-missing"  // a swap whose program is not on PATH, or not at its path
	FoundNotRun      = "not-run"          // an entry that its client does not run, or could not
	FoundStale       = "built-before"     // the checkout was edited since
	FoundConfig      = "config-unreadable"
	FoundRefused     = "config-refused" // a client refuses its whole config because of an entry
	FoundState       = "state-unreadable"
)

// Diagnosis is all that Doctor found.
type Diagnosis struct {
	Repo     string
	Server   string // "" if it could not be derived
	NoServer error  // why not
	Findings []Finding

	published string // the package that the checkout publishes
}

// DoctorOptions say what [Swapper.Doctor] checks.
type DoctorOptions struct {
	Repo   string
	Server string // "": derived from the checkout
}

// Doctor checks for problems and changes nothing.
func (s *Swapper) Doctor(o DoctorOptions) (*Diagnosis, error) {
	d := &Diagnosis{Server: o.Server, Findings: []Finding{}}
	co, err := checkout.Read(o.Repo, "")
	if err == nil {
		d.Repo, d.Server, d.published = co.Dir, cmp.Or(o.Server, co.Server), configs.Publishes(co)
	} else {
		// What does not depend on the server can still be checked.
		if d.Repo, d.NoServer = checkout.RealDir(o.Repo); d.NoServer == nil && o.Server == "" {
			d.NoServer = unnamed(err)
		}
	}
	env := s.Anew()
	st, err := env.Recorded()
	if err != nil {
		var se *journal.StateError
		errors.As(err, &se)
		d.add(Finding{Kind: FoundState, Path: se.Path, Text: err.Error()})
		st = nil
	}
	x := &examination{env, d, st}
	for _, c := range clients.All() {
		x.client(c)
	}
	if st != nil {
		st.Revive(commit.Back(env, st))
		for i := range st.Records {
			x.record(&st.Records[i])
		}
	}
	x.states()
	x.refusals()
	x.files()
	return d, nil
}

// An examination is one run of Doctor.
type examination struct {
	configs.Env
	*Diagnosis
	recorded *journal.State // nil if it cannot be read
}

// Failed reports whether there is a problem.
func (d *Diagnosis) Failed() bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return !f.Meant })
}

func (d *Diagnosis) add(f Finding) { d.Findings = append(d.Findings, f) }

// client checks one client's config and environment.
func (x *examination) client(c *clients.Client) {
	if c.HasConfig(x.Sys) || c.Binary() != "" {
		for _, name := range c.Login {
			if x.Sys.Getenv(name) != "" {
				x.add(Finding{Kind: FoundLogin, Client: c.Name, Meant: true, Text: fmt.Sprintf("%s is set and overrides the login of %s; start it with env -u %s to use the login", name, c.Name, name)})
			}
		}
	}
	for _, config := range c.UserFiles(x.Sys) {
		if _, err := configs.Open(x.Env, c, config); err != nil {
			x.add(Finding{Kind: FoundConfig, Client: c.Name, Path: config, Text: err.Error()})
		}
	}
	if x.Repo == "" {
		return
	}
	all := configs.All(x.Env, c, x.Repo)
	for _, in := range all {
		if in.Project && !c.HasConfig(x.Sys) && !c.Installed(x.Sys) {
			continue
		}
		for _, scope := range in.Scopes {
			x.entries(in.Doc, scope, in.Project, all)
		}
	}
	for _, d := range plan.Doubles(x.Env, c, x.Repo) {
		x.add(Finding{Kind: FoundTwice, Client: c.Name, Scope: d.Scopes[0], Server: d.Name, Path: d.Doc.Path, Text: d.Text})
	}
}

// entries finds entries that run the repository, or the package that it publishes, under another
// name, and entries that run a checkout that no longer exists.
func (x *examination) entries(doc *configs.Document, scope clients.Scope, project bool, all []configs.Held) {
	c := doc.Client
	beside := configs.Holds(all, x.Project(x.Repo), x.Server)
	for _, container := range c.ContainersIn(doc.Doc, scope, x.Project(x.Repo)) {
		names, err := doc.Doc.Names(container)
		if err != nil {
			continue
		}
		own, _ := doc.Doc.Lookup(container, x.Server)
		for _, name := range names {
			e, err := doc.Doc.Lookup(container, name)
			if err != nil || !e.Found {
				continue
			}
			f := Finding{Client: c.Name, Scope: scope, Server: name, Path: doc.Path}
			tag := configs.Classify(x.Sys, c, e.Value, project || scope == clients.ScopeProject, x.Repo)
			runs, perhaps := tag.RunsServer(x.published)
			f.Meant = perhaps != "" && !tag.Missing
			switch {
			case tag.Missing:
				f.Kind = FoundNoCheckout
				f.Text = fmt.Sprintf("%s runs %q from %s, which does not exist", c.Label(scope), name, tag.Path)
			case runs == "" || x.Server == "" || name == x.Server:
				continue
			case own.Found, beside == doc.Path:
				f.Kind = FoundTwice
				f.Text = fmt.Sprintf("%s %sruns %s as %q beside %q, so every tool is %sthere twice; remove one", c.Label(scope), perhaps, runs, name, x.Server, perhaps)
			case beside != "":
				f.Kind = FoundTwice
				f.Text = fmt.Sprintf("%s %sruns %s as %q, in %s, beside %q, in %s, so every tool is %sthere twice; remove one", c.Label(scope), perhaps, runs, name, doc.Path, x.Server, beside, perhaps)
			default:
				f.Kind, f.Meant = FoundOtherName, true
				f.Text = fmt.Sprintf("%s %sruns %s as %q, not as %q; %s", c.Label(scope), perhaps, runs, name, x.Server, plan.PassServer(name, ""))
			}
			x.add(f)
		}
	}
}

// states reports what keeps clients from running the server's entries and those that were
// swapped, except for stronger entries.
func (x *examination) states() {
	var all []ClientState
	var servers []string // their names
	if x.Server != "" && x.Repo != "" {
		all = configs.States(x.Env, slices.DeleteFunc(slices.Clone(clients.All()), func(c *clients.Client) bool { return !c.Present(x.Sys) && !c.HasConfig(x.Sys) }), "", x.Repo, x.Server)
	}
	for range all {
		servers = append(servers, x.Server)
	}
	if x.recorded != nil {
		for _, r := range x.recorded.Records {
			if c := clients.Lookup(r.Client); c != nil && r.Reverted.IsZero() {
				all, servers = append(all, swapOf(x.Env, c, r).ClientState), append(servers, r.Server)
			}
		}
	}
	for i, cs := range all {
		if cs.Stale != "" {
			f := Finding{Kind: FoundStale, Client: cs.Client, Scope: cs.Scope, Server: servers[i], Path: cs.Config, Meant: true,
				Text: fmt.Sprintf("%s: %q in %s: %s", cs.Label, servers[i], cs.Config, cs.Stale)}
			if !slices.Contains(x.Findings, f) {
				x.add(f)
			}
		}
		if len(cs.Shadows) < len(cs.Won) {
			continue
		}
		for _, why := range cs.Shadows[:len(cs.Shadows)-len(cs.Won)] {
			f := Finding{Kind: FoundNotRun, Client: cs.Client, Scope: cs.Scope, Server: servers[i], Path: cs.Config,
				Text: fmt.Sprintf("%s: %q in %s: %s", cs.Label, servers[i], cs.Config, why)}
			f.Meant = slices.Contains(cs.Meant, why)
			said := slices.ContainsFunc(x.Findings, func(o Finding) bool {
				return o == f || o.Kind == FoundNoProgram && o.Client == f.Client && o.Server == f.Server && strings.Contains(o.Text, why)
			})
			if !said {
				x.add(f)
			}
		}
	}
}

// refusals reports the entries for which a client refuses its whole config, in any layer, unless
// they were reported already.
func (x *examination) refusals() {
	for _, c := range clients.All() {
		if !c.HasConfig(x.Sys) && !c.Present(x.Sys) {
			continue
		}
		for _, r := range configs.Refusals(x.Env, c, x.Repo, "", nil) {
			said := slices.ContainsFunc(x.Findings, func(o Finding) bool {
				return o.Kind == FoundNotRun && o.Client == c.Name && strings.Contains(o.Text, r.Fault) && strings.Contains(o.Text, r.Path)
			})
			if !said {
				x.add(Finding{Kind: FoundRefused, Client: c.Name, Server: r.Server, Path: r.Path, Meant: r.Later, Text: r.Text})
			}
		}
	}
}

// record compares a record with the files on disk.
func (x *examination) record(r *journal.Record) {
	f := Finding{Client: r.Client, Scope: clients.Scope(r.Scope), Server: r.Server, Path: r.Config, By: r.By}
	c := clients.Lookup(r.Client)
	label := r.Client
	if c != nil {
		label = c.Label(f.Scope)
	}
	if !r.Reverted.IsZero() {
		x.add(f.says(FoundBack, "%s", broughtBack(label, r)))
		return
	}
	what := fmt.Sprintf("%s: %q, swapped %s", label, r.Server, shortTime(r.Time))
	if r.Backup != "" && !commit.HasBackup(x.Env, x.recorded, r) {
		x.add(f.says(FoundNoBackup, "%s: its backup %s is gone; revert works from the record alone", what, r.Backup))
	}
	if c == nil {
		x.add(f.says(FoundSwapped, "%s: this version does not know that client; the old file is %s", what, r.Backup))
		return
	}
	v, err := commit.Judge(x.Env, c, x.recorded, r)
	if len(v.Elsewhere) > 0 && !v.Unread {
		what += ", and also in " + strings.Join(v.Elsewhere, " and ")
		f.More = true
	}
	kind, why := x.unfinished(r, v, err)
	switch {
	case kind != "":
		x.add(f.says(kind, "%s: %s", what, why))
	case v.Edited():
		f.Meant, f.More = true, true
		stays := "stays"
		if r.Action == journal.Added {
			stays = "goes with the entry"
		}
		x.add(f.says(FoundInForce, "%s; %s since, which %s: %s undoes the swap", what, v.Edits(), stays, Undo(r.By)))
	default:
		x.inForce(f, c, v.Landed.Value, what)
	}
}

// says returns the finding with a kind and a text.
func (f Finding) says(kind, format string, args ...any) Finding {
	f.Kind, f.Text = kind, fmt.Sprintf(format, args...)
	return f
}

// unfinished returns what is wrong with a swap and what to do about it; kind is "" if it is in force
// and can be reverted. v and err are what [commit.Judge] returned.
func (x *examination) unfinished(r *journal.Record, v commit.Verdict, err error) (kind, why string) {
	if commit.Gone(err) || v.AsBefore() || r.Undone {
		if still := commit.StillReads(x.Env, x.recorded, r, nil, nil); len(still) > 0 {
			return FoundHalf, fmt.Sprintf("it is undone in its config, but %v; remove the entry there, and mcp-swap revert finishes it", commit.StillRead(r, still))
		}
	}
	switch {
	case commit.Gone(err) && x.recorded.Files[r.Target].Created:
		return FoundHalf, "the config that the swap created does not exist: a run was interrupted, or it was deleted; mcp-swap revert finishes it"
	case commit.Gone(err):
		return FoundNoTarget, fmt.Sprintf("%v; the old file is %s; mcp-swap forget removes the record and that", err, r.Backup)
	case err != nil:
		return FoundSwapped, fmt.Sprintf("revert could not undo it now: %v", err)
	case v.Unread:
		return FoundHalf, fmt.Sprintf("it is only in %s, which its client does not read any more; mcp-swap revert undoes it there", r.Target)
	case v.AsBefore() || r.Undone:
		return FoundHalf, "a run was interrupted, or the entry was put back by hand; mcp-swap revert finishes it"
	case v.Edited() && v.Conflicts():
		return FoundEdited, fmt.Sprintf("the entry was edited since the swap (%s), so mcp-swap revert leaves it; %s", v.Edits(), commit.ForceEdited)
	case v.Edited():
		return "", ""
	case v.Landed == nil:
		return FoundEdited, "the entry was removed since the swap, so mcp-swap revert leaves it; " + commit.ForceEdited
	case v.Landed != &r.Writes[len(r.Writes)-1]:
		return FoundHalf, "a second swap of it was interrupted; use-local or mcp-swap revert finishes it"
	}
	return "", ""
}

// inForce completes and adds f for a swap whose entry is as it was written. It also reports a program
// that is missing.
func (x *examination) inForce(f Finding, c *clients.Client, entry map[string]any, what string) {
	if tag := configs.Classify(x.Sys, c, entry, false, ""); tag.Missing {
		x.Findings = slices.DeleteFunc(x.Findings, func(o Finding) bool { // what entries found there
			return o.Kind == FoundNoCheckout && o.Client == f.Client && o.Scope == f.Scope && o.Server == f.Server && o.Path == f.Path
		})
		x.add(f.says(FoundNoCheckout, "%s: it runs %s, which does not exist; mcp-swap revert undoes it", what, tag.Path))
		return
	}
	argv := c.Dialect.ReadArgv(entry)
	if err := (ask.Command{Argv: argv}).Look(); err != nil {
		if filepath.IsAbs(argv[0]) {
			x.add(f.says(FoundNoProgram, "%s: %v; mcp-swap revert undoes it", what, err))
			return
		}
		x.add(f.says(FoundNoProgram, "%s: %v", what, err))
	}
	f.Meant = true
	x.add(f.says(FoundInForce, "%s; %s undoes it", what, Undo(f.By)))
}

// Undo returns the command that undoes swaps: by is the program that set itself up, or "".
func Undo(by string) string {
	if by != "" {
		return by + " setup --uninstall"
	}
	return "mcp-swap revert"
}

// files reports what killed runs left behind.
func (x *examination) files() {
	for _, f := range commit.Strays(x.Env, x.recorded) {
		x.add(Finding{Kind: f.Kind, Client: f.Client, Path: f.Path, Text: f.Text})
	}
}
