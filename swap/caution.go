package swap

import (
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
)

// cautions adds everything that keeps a swapped entry from taking effect.
func (s *Swapper) cautions(res *Result, u *use, o outcome) {
	c := o.change
	caution := func(format string, args ...any) { res.Cautions = append(res.Cautions, fmt.Sprintf(format, args...)) }
	if c.client.Note != "" && o.action != Unchanged {
		caution("%s is %s", c.doc.Path, c.client.Note)
	}
	if readsDifferently(c.client, "args", u.argv...) {
		caution("%s expands $NAME in arguments, and there is a $ in %s", c.client.Name, shown(u.argv))
	}
	for _, v := range u.env {
		if readsDifferently(c.client, "env", v.Value) {
			caution("%s expands $NAME in variables, and there is a $ in %s", c.client.Name, v.Name)
		}
	}
	if c.client.Shell && strings.ContainsAny(strings.Join(u.argv, ""), " \t\n\"'`$&|;<>()*?[]{}#~") {
		caution("%s passes the command to a shell without quotes, which reads it differently: %q", c.client.Name, ask.ShowArgs(u.argv))
	}
	if o.action != Unchanged && !c.doc.Absent() && atomicfile.Links(c.doc.Info) > 1 {
		caution("%s had other hard links, which keep the old text", c.doc.Target)
	}
	if doc, err := configs.Open(s.Disk, c.client, c.doc.Path); err == nil {
		if cs, err := configs.StateOf(s.Env, doc, c.scope, u.repo, u.server); err == nil {
			if cs.When != "" {
				caution("reads %s %s", c.doc.Path, cs.When)
			}
			res.Shadows, res.Merged = cs.Shadows, cs.Merged
		}
	}
	if o.action != Unchanged {
		res.Cautions = append(res.Cautions, c.hidden(u)...)
	}
}

// readsDifferently reports whether a client may make another text of one that was written,
// if the variables that it refers to are set.
func readsDifferently(c *clients.Client, field string, texts ...string) bool {
	set := func(string) (string, bool) { return "", true }
	return c.Expands(field) && slices.ContainsFunc(texts, func(text string) bool {
		got, err := c.Given(field, field, text, set, set)
		return err != nil || got != text
	})
}

// hidden returns cautions about what a user entry still does although a project entry takes
// precedence, and about what the project entry lacks of it.
func (c change) hidden(u *use) (cautions []string) {
	if c.hides == nil {
		return nil
	}
	d := c.client.Dialect
	runs := ask.CommandLine(ask.ShowArgs(d.Runs(c.hides)))
	where := u.project
	if c.client.InFiles(c.scope) {
		if where = u.repo; !configs.Inside(c.doc.Target, where) {
			where = configs.Top(where)
		}
	}
	cautions = append(cautions, fmt.Sprintf("only %s runs what was swapped in; elsewhere the user scope's entry still runs %s; use --scope user to replace that one", where, runs))
	var lost []string
	for _, v := range c.hiddenEnv(d.ReadEnv(c.edit.Value)) {
		lost = append(lost, v.Name)
	}
	if len(lost) > 0 && u.url == "" && !c.client.Merges {
		cautions = append(cautions, fmt.Sprintf("the entry lacks variables that the user scope's sets: %s; use --keep-env to copy that", strings.Join(lost, ", ")))
	}
	return cautions
}

// hiddenEnv returns the variables of the user entry that are neither in own, the project
// entry's, nor added by the edit.
func (c change) hiddenEnv(own []clients.EnvVar) []clients.EnvVar {
	own = slices.Concat(own, c.env)
	return slices.DeleteFunc(c.client.Dialect.ReadEnv(c.hides), func(v clients.EnvVar) bool {
		return slices.ContainsFunc(own, func(o clients.EnvVar) bool { return o.Name == v.Name })
	})
}
