package report

import (
	"fmt"
	"strings"
)

// section is a part of a report that is a list, in every format for people.
type section struct {
	ID, Heading string
	Items       []item
}

// Wrapper reports whether the section is about a wrapper or a server that is not this module's.
func (s section) Wrapper() bool { return s.ID == "server" || strings.HasPrefix(s.ID, "api-") }

// item is a statement about a gap, or about all gaps if Gap is 0. Link is further reading. Extra is
// set for one about an extra, which a terminal has no room for.
type item struct {
	Gap        int
	Text, Link string
	Extra      bool
}

// sections returns the sections that are not empty, without failures, whose evidence the page
// shows apart.
func (r *Report) sections() []section {
	var all []section
	put := func(id, heading string, items []item) {
		if items != nil {
			all = append(all, section{id, heading, items})
		}
	}
	add := func(id, heading string, found []group, text func(g group) item) {
		var items []item
		for _, g := range found {
			items = append(items, text(g))
		}
		put(id, heading, items)
	}
	for _, in := range foreign(r) {
		items, id, heading := []item(nil), "server", "The MCP server"
		if a := apiOf(r, in.API); a != nil {
			id, heading = "api-"+strings.ReplaceAll(a.Name, " ", "-"), a.heading()
		}
		for _, text := range in.answer(r) {
			items = append(items, item{Text: text})
		}
		for _, v := range in.verdicts(r) {
			if v.Text != closed && v.Text != notHere {
				items = append(items, item{Gap: v.Gap, Text: v.Text + r.where(v.Targets), Extra: strings.HasPrefix(v.Text, extra)})
			}
		}
		put(id, heading, items)
	}
	add("refuted", "Claims that tmux refutes", r.refutations(), func(g group) item {
		return item{Gap: g.Gap, Text: "\"" + g.Claim.Text + "\": " + g.Claim.Why + r.where(g.Targets)}
	})
	stopped := r.stopped()
	ended := func(c *Cell) bool { return stopped != "" && (c.Reason == FailFast || c.Reason == Interrupted) }
	for _, s := range []struct {
		status      Status
		id, heading string
	}{{NotApplicable, "na", "Not for this tmux"}, {Skip, "skipped", "Skipped"}, {Flaky, "flaky", "Flaky"}} {
		// What was not run because the run was ended is said once.
		add(s.id, s.heading, r.groups(func(c result) any {
			switch {
			case c.Status != s.status || c.Reason == "":
				return nil
			case ended(c.Cell):
				return stopped
			}
			return [2]any{c.Gap, c.Reason}
		}), func(g group) item {
			if ended(g.Cell) {
				return item{Text: stopped}
			}
			return item{Gap: g.Gap, Text: g.Reason + " (" + strings.Join(g.Targets, ", ") + ")"}
		})
	}
	add("known", "Known failures", r.failures(true), func(g group) item {
		return item{Text: g.What() + ": " + g.Claim.Known.Reason, Link: g.Claim.Known.Link}
	})
	var stale []item
	for _, s := range r.Stale {
		stale = append(stale, item{Text: s.String(), Link: s.Link})
	}
	put("stale", "Stale: known failures that do not fail", stale)
	return all
}

// where returns the targets of a finding in parentheses, or "" if they are all.
func (r *Report) where(targets []string) string {
	if len(targets) == len(r.Targets) {
		return ""
	}
	return " (" + strings.Join(targets, ", ") + ")"
}

// reproduce returns the command that prints the failure's reproducer, or "" if there is none.
func (f group) reproduce(r *Report) string {
	if f.Reproducer == "" {
		return ""
	}
	words := []string{"mcp-conform", "reproduce", fmt.Sprintf("%d/%s/%s", f.Gap, f.Layer, f.Tmux)}
	if a := apiOf(r, f.API); a != nil && a.Command != "" {
		command := a.Command
		if a.Described == nil || a.Name != a.Described.String() {
			command = a.Name + "=" + command
		}
		words = append(words, "--api", command)
	}
	if t := r.target(f.Tmux); t.Name != "" {
		spec := t.Spec
		if !strings.Contains(spec, "=") && t.Name != t.Version {
			spec = t.Name + "=" + spec
		}
		words = append(words, "--tmux", spec)
	}
	if r.Scripts != "" {
		words = append(words, "--scripts", r.Scripts)
	}
	if r.Server != "" && f.Layer == MCPLayer {
		words = append(words, "--server", r.Server)
		if r.DialectFile != "" {
			words = append(words, "--dialect", r.DialectFile)
		}
	}
	return CommandLine(words)
}

func (k Known) String() string { return item{Text: k.Reason, Link: k.Link}.String() }

func (i item) String() string {
	if i.Link == "" {
		return i.Text
	}
	return i.Text + " (" + i.Link + ")"
}

func (s Stale) String() string {
	what := "remove the entry"
	if s.Partly {
		what = "take it out of the entry's target"
	}
	return fmt.Sprintf("%s: %s does not fail with tmux %s: %s: %s", s.Entry, s.Claim, strings.Join(s.Tmux, ", "), what, s.Reason)
}
