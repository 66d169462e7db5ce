package conform

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

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
	answer, err := ask(ctx, request{Ask: askForTokens, Target: target, Names: names, Timeout: DefaultTimeout})
	endAdopted()
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
	// What a development version has not yet, or has still, of the release that it leads
	// to is no drift.
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

// guessed goes by the name alone. A flag is mostly a pane's.
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

// tokens is the child's side: it starts a server of the target's and asks it for the
// known tokens, and for every name in the program that runs it.
func (r request) tokens(ctx context.Context) (message, error) {
	run, err := r.prober(ctx)
	if err != nil {
		return message{}, err
	}
	pid, err := run("set-buffer", "x", ";", "display-message", "-p", "#{pid}")
	if err != nil {
		return message{}, err
	}
	m := message{}
	if m.Known, err = tokensAmong(run, r.Names); err != nil {
		return m, err
	}
	program, err := os.Open("/proc/" + pid + "/exe")
	if err != nil {
		return m, nil // not on Linux, or not this server's
	}
	defer program.Close()
	text, err := io.ReadAll(io.LimitReader(program, maxProgram))
	if err != nil {
		return m, err
	}
	// An option's name expands to its value.
	options, err := run("show-options", "-s", ";", "show-options", "-g", ";", "show-options", "-gw")
	if err != nil {
		return m, err
	}
	known := map[string]bool{"command": true} // of the command that expands the format
	for _, t := range tmux.Tokens() {
		known[t.Name] = true
	}
	for line := range strings.Lines(options) {
		known[option.FindString(line)] = true
	}
	found, err := tokensAmong(run, namesIn(text, known))
	for name, is := range found {
		if is {
			m.Known[name] = true
		}
	}
	m.All = err == nil
	return m, err
}

const (
	// maxProgram is the most that is read of a program, and maxNames the most names that
	// are taken from it; tmux has 8 MB with everything for a debugger, and 12,000.
	maxProgram = 32 << 20
	maxNames   = 50_000
)

var (
	option = regexp.MustCompile(`^[a-z0-9-]*`)
	word   = regexp.MustCompile(`\b[a-z][a-z0-9_]{2,39}\x00`)
)

// namesIn returns the texts in a program that could name tokens. A linker stores "pid"
// only as the end of "client_pid".
func namesIn(program []byte, except map[string]bool) (names []string) {
	for _, w := range word.FindAll(program, -1) {
		for name := string(w[:len(w)-1]); name != "" && len(names) < maxNames; _, name, _ = strings.Cut(name, "_") {
			if !except[name] && word.MatchString(name+"\x00") {
				except[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// tokensAmong reports of each name whether a server knows it as a token. The server must be
// a throwaway one, with a session and a paste buffer: the names stay in its environment.
//
// An unknown token and a token without a value both expand to nothing, also with
// display-message -v. So each name is set as an environment variable: tmux looks for a
// name among its tokens first and then in the environment, and stops at the tokens even if
// there is no value.
func tokensAmong(run func(args ...string) (string, error), names []string) (map[string]bool, error) {
	const mark = "not-a-token"
	known := make(map[string]bool, len(names))
	// tmux takes about 16 KB of arguments, and from 3.7 at most 1000 words.
	for part := range slices.Chunk(names, 100) {
		var set []string
		var format strings.Builder
		for _, name := range part {
			set = append(set, "set-environment", "-g", name, mark, ";")
			// Other values may hold anything.
			fmt.Fprintf(&format, "#{==:#{%s},%s}", name, mark)
		}
		out, err := run(append(set, "display-message", "-p", format.String())...)
		if err != nil {
			return nil, fmt.Errorf("ask for tokens: %w", err)
		}
		if len(out) != len(part) || strings.Trim(out, "01") != "" {
			return nil, fmt.Errorf("ask for tokens: want %d digits, 0 or 1, got %q", len(part), out)
		}
		for i, name := range part {
			known[name] = out[i] == '0'
		}
	}
	return known, nil
}
