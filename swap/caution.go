package swap

import (
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/plan"
)

// addCautions adds to a result whatever keeps the entry from taking effect.
func addCautions(env configs.Env, res *Result, want *plan.Wanted, o commit.Outcome) {
	c := o.Change
	caution := func(format string, args ...any) { res.Cautions = append(res.Cautions, fmt.Sprintf(format, args...)) }
	if c.Client.Note != "" && o.Action != Unchanged {
		caution("%s is %s", c.Doc.Path, c.Client.Note)
	}
	if readsDifferently(c.Client, "args", want.Argv...) {
		caution("%s expands $NAME in arguments, and there is a $ in %s", c.Client.Name, strings.Join(ask.ShowArgs(want.Argv), " "))
	}
	for _, v := range want.Env {
		if readsDifferently(c.Client, "env", v.Value) {
			caution("%s expands $NAME in variables, and there is a $ in %s", c.Client.Name, v.Name)
		}
	}
	if c.Client.Shell && strings.ContainsAny(strings.Join(want.Argv, ""), " \t\n\"'`$&|;<>()*?[]{}#~") {
		caution("%s passes the command to a shell without quotes, which reads it differently: %q", c.Client.Name, ask.ShowArgs(want.Argv))
	}
	if o.Action != Unchanged && !c.Doc.Absent() && atomicfile.Links(c.Doc.Info) > 1 {
		caution("%s had other hard links, which keep the old text", c.Doc.Target)
	}
	if doc, err := configs.Open(env, c.Client, c.Doc.Path); err == nil {
		if cs, err := configs.StateOf(env, doc, c.Scope, want.Repo, want.Name); err == nil {
			if cs.When != "" {
				caution("reads %s %s", c.Doc.Path, cs.When)
			}
			res.Shadows, res.Merged, res.Stale = cs.Shadows, cs.Merged, cs.Stale
		}
	}
	if o.Action != Unchanged {
		res.Cautions = append(res.Cautions, c.Hidden(want)...)
	}
}

// readsDifferently reports whether a client may change a text that was written, because the
// variables that it refers to are set.
func readsDifferently(c *clients.Client, field string, texts ...string) bool {
	set := func(string) (string, bool) { return "", true }
	return c.Expands(field) && slices.ContainsFunc(texts, func(text string) bool {
		got, err := c.Given(field, field, text, set, set)
		return err != nil || got != text
	})
}
