package conform

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// A TokenChange is a format token that a tmux has and package tmux does not expect of its
// version, or the other way round.
type TokenChange struct {
	Token  string `json:"token"`
	Change string `json:"change"`
	// Scope and Type are those of [tmux.Token]. For an added token they are guessed from
	// its name.
	Scope tmux.Scope `json:"scope"`
	Type  string     `json:"type"`
	// Since and Until are what package tmux says.
	Since string `json:"since,omitempty"`
	Until string `json:"until,omitempty"`
}

// The values of TokenChange.Change.
const (
	TokenAdded   = "added"   // package tmux does not know it
	TokenRemoved = "removed" // package tmux says that this tmux has it, and it does not
	TokenEarly   = "early"   // package tmux says that a later release brought it
	TokenBack    = "back"    // package tmux says that an earlier release was the last
)

// TokenDrift is how the tokens of a tmux differ from those of package tmux.
type TokenDrift struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// From is "binary" if the server was asked for all names in its program, and
	// "server" if only for the known tokens, because the program could not be read.
	From   string `json:"from"`
	Tokens int    `json:"tokens"` // that this tmux has
	// Drift is never nil, so that JSON has a list.
	Drift []TokenChange `json:"drift"`
}

// TakeTokens asks a server of the target's which tokens it has.
func TakeTokens(ctx context.Context, target report.Target) (TokenDrift, error) {
	d := TokenDrift{Name: target.Name, Version: target.Version, From: "server", Drift: []TokenChange{}}
	v, err := tmux.ParseVersion(target.Version)
	if err != nil {
		return d, err
	}
	var names []string
	for _, t := range tmux.Tokens() {
		// They are not safe on tmux 3.2a.
		if !t.Scoped || v.Has(tmux.Version{Major: 3, Minor: 3}) {
			names = append(names, t.Name)
		}
	}
	answer, err := child.Ask(ctx, child.Request{Ask: child.AskTokens, Target: target, Names: names, Timeout: DefaultTimeout})
	child.EndAdopted()
	if err != nil {
		return d, fmt.Errorf("ask tmux %s: %w", target.Name, err)
	}
	for _, known := range answer.Known {
		if known {
			d.Tokens++
		}
	}
	d.Drift = append(d.Drift, tokenChanges(v, answer.Known)...)
	if answer.All {
		d.From = "binary"
	}
	return d, nil
}

// tokenChanges compares what a tmux knows with package tmux. What is not in known was not
// asked.
func tokenChanges(v tmux.Version, known map[string]bool) (changes []TokenChange) {
	// A development version may lack what its release adds, and still have what that removes.
	leadsTo := func(at tmux.Version) bool { return v.Next && at == tmux.Version{Major: v.Major, Minor: v.Minor} }
	unknown := maps.Clone(known)
	for _, t := range tmux.Tokens() {
		has, asked := known[t.Name]
		delete(unknown, t.Name)
		if !asked || has == t.In(v) || leadsTo(t.Since) || leadsTo(tmux.Version{Major: t.Until.Major, Minor: t.Until.Minor + 1}) {
			continue
		}
		c := TokenChange{Token: t.Name, Scope: t.Scope, Type: t.Type}
		if t.Since != (tmux.Version{}) {
			c.Since = t.Since.String()
		}
		if t.Until != (tmux.Version{}) {
			c.Until = t.Until.String()
		}
		switch {
		case !has:
			c.Change = TokenRemoved
		case v.Has(t.Since):
			c.Change = TokenBack
		default:
			c.Change = TokenEarly
		}
		changes = append(changes, c)
	}
	for name := range unknown {
		changes = append(changes, guessed(name))
	}
	slices.SortFunc(changes, func(a, b TokenChange) int { return strings.Compare(a.Token, b.Token) })
	return changes
}

// guessed returns the scope and type that a token's name suggests: a name that ends in _flag is
// a pane's bool.
func guessed(name string) TokenChange {
	c := TokenChange{Token: name, Change: TokenAdded, Scope: tmux.ServerScope, Type: "string"}
	if strings.HasSuffix(name, "_flag") {
		c.Scope, c.Type = tmux.PaneScope, "bool"
	}
	first, _, _ := strings.Cut(name, "_")
	switch scope := tmux.Scope(first); scope {
	case tmux.SessionScope, tmux.WindowScope, tmux.PaneScope, tmux.ClientScope, tmux.BufferScope, tmux.MouseScope:
		c.Scope = scope
	}
	return c
}
