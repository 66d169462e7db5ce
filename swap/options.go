package swap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tmuxmcp/swap/checkout"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/hint"
)

// UseOptions say what [Swapper.UseLocal] writes, and where.
type UseOptions struct {
	Repo        string           // the checkout; "" is the current directory
	Server      string           // "": derived from the checkout
	Entry       string           // "": derived from the checkout
	Env         []clients.EnvVar // added to the entry's; wins
	KeepEnv     bool             // copy what a new project entry hides of the user entry's environment
	Clients     []string         // none: all that are present
	Scope       clients.Scope    // "" is ScopeProject; matters for claude alone
	Mode        checkout.Mode    // "" is ModeDev
	Ref         string           // version, for ModeReleased
	PR          int              // head of a pull request instead of a mode
	DryRun      bool             // return diffs and write nothing
	Force       bool             // also edit a config that is read-only
	ShowSecrets bool             // in the diffs of DryRun, which patch(1) then applies
	NoPreflight bool
}

// use is what a UseLocal wants, the same for all clients.
type use struct {
	repo    string
	server  string
	argv    []string
	compile []string
	env     []clients.EnvVar
	keepEnv bool
	project string
}

// wanted checks the options and reads the checkout.
func (s *Swapper) wanted(o UseOptions) (*use, error) {
	if err := s.checkOptions(o); err != nil {
		return nil, err
	}
	if o.PR > 0 {
		// Before an entry is asked for, which would not help.
		if err := checkout.CheckPR(o.Repo); err != nil {
			return nil, err
		}
	}
	co, err := checkout.Read(o.Repo, o.Entry)
	if err != nil {
		return nil, err
	}
	u := &use{repo: co.Dir, server: cmp.Or(o.Server, co.Server), env: o.Env, keepEnv: o.KeepEnv, project: checkout.ClaudeProject(co.Dir)}
	if o.PR > 0 {
		u.argv, err = co.PRCommand(o.PR)
	} else {
		u.argv, u.compile, err = co.Command(o.Mode, o.Ref, s.Sys.BuildDir())
	}
	if err != nil {
		return nil, err
	}
	for _, text := range append([]string{u.server, u.project}, u.argv...) {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%q is not UTF-8, so it cannot be written to a config", text)
		}
	}
	return u, nil
}

func (s *Swapper) checkOptions(o UseOptions) error {
	if err := checkScope(o.Scope); err != nil {
		return err
	}
	if o.PR < 0 {
		return hint.Usagef(hint.OptionPR, "%d is not a positive number", o.PR)
	}
	if o.PR > 0 && (o.Mode != "" && o.Mode != checkout.ModeDev || o.Ref != "") {
		return hint.Usagef(hint.OptionPR, "cannot be combined with a mode or a version")
	}
	if o.Mode != "" && !slices.Contains(checkout.Modes, o.Mode) {
		return hint.Usagef(hint.OptionMode, "%q is not one of dev, build, installed, released", string(o.Mode))
	}
	if o.Ref != "" && o.Mode != checkout.ModeReleased {
		return hint.Usagef(hint.OptionRef, "needs mode released")
	}
	if _, err := s.clients(o.Clients); err != nil {
		return err
	}
	if strings.ContainsAny(o.Ref, " \t\n") || strings.HasPrefix(o.Ref, "-") {
		return hint.Usagef(hint.OptionRef, "%q is not a version", o.Ref)
	}
	return nil
}
