package swap

import (
	"fmt"
	"slices"
	"time"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/journal"
)

// A Swap is a recorded swap with the current state of its entry.
type Swap struct {
	ClientState
	Server string    `json:"server"`
	Repo   string    `json:"repo"` // the checkout that it was swapped to, or where the command was given
	Time   time.Time `json:"time"`
	// Reverted is when it was reverted, if it has come back since; Back says so.
	Reverted time.Time `json:"reverted,omitzero"`
	Back     string    `json:"-"`
	Listed   bool      `json:"listed"` // it is the entry of one of [Status.Clients]
}

// addSwaps adds the recorded swaps that the options select, oldest first.
func addSwaps(env configs.Env, st *Status, o StatusOptions, chosen []*clients.Client) {
	state, err := env.Recorded()
	if err != nil {
		env.Warn(err.Error())
		return
	}
	state.Revive(commit.Back(env, state))
	slices.SortFunc(state.Records, func(a, b journal.Record) int { return a.Seq - b.Seq })
	for _, r := range state.Records {
		c := clients.Lookup(r.Client)
		switch {
		case c == nil, // doctor reports it
			len(o.Clients) > 0 && !slices.Contains(chosen, c),
			o.Scope != "" && o.Scope != clients.Scope(r.Scope),
			o.Server != "" && o.Server != r.Server:
			continue
		}
		sw := swapOf(env, c, r)
		if sw.Tag != nil && r.Repo != st.Repo {
			sw.Tag.ThisRepo = false
		}
		sw.Listed = r.Server == st.Server && slices.ContainsFunc(st.Clients, func(cs ClientState) bool {
			return cs.Client == r.Client && cs.Config == r.Config && slices.ContainsFunc(
				c.Containers(cs.Scope, env.Project(st.Repo)),
				func(path []string) bool { return slices.Equal(path, r.Container) })
		})
		if sw.Reverted = r.Reverted; !r.Reverted.IsZero() {
			sw.Back = broughtBack(sw.Label, &r)
		}
		st.Swaps = append(st.Swaps, sw)
	}
}

// broughtBack returns a message that a reverted swap is back, and what undoes it.
func broughtBack(label string, r *journal.Record) string {
	undo := ask.CommandLine([]string{"mcp-swap", "revert", "--cli", r.Client, "--server", r.Server})
	return fmt.Sprintf("%s: %q, reverted %s, is in its config again, as if a client had saved it from memory; %s undoes it",
		label, r.Server, shortTime(r.Reverted), undo)
}

// shortTime returns a time as output shows it.
func shortTime(t time.Time) string { return t.Local().Format(time.DateTime) }

// clientsSwapped returns the names of the clients with a recorded swap of a server, for all projects
// or for this one.
func clientsSwapped(env configs.Env, repo, server string) (names []string) {
	st, err := env.Recorded()
	if err != nil {
		env.Warn(err.Error())
		return nil
	}
	for _, r := range st.Records {
		if r.Server == server && (r.Repo == repo || r.Scope == string(clients.ScopeUser)) {
			names = append(names, r.Client)
		}
	}
	return names
}

// swapOf reads the config of a record, even if the environment names another one now.
func swapOf(env configs.Env, c *clients.Client, r journal.Record) Swap {
	scope := clients.Scope(r.Scope)
	sw := Swap{Server: r.Server, Repo: r.Repo, Time: r.Time}
	if sw.ClientState = configs.NewState(c, scope, r.Config); !sw.Exists {
		return sw
	}
	doc, err := configs.Open(env, c, r.Config)
	if err == nil {
		sw.ClientState, err = configs.StateOf(env, doc, scope, r.Repo, r.Server)
	}
	if err != nil {
		sw.Error = err.Error()
	}
	sw.Given(c, &r, r.Server)
	return sw
}

// Servers returns, sorted, the servers that are swapped and, if all is true, those in the
// clients' configs for a directory.
func (s *Swapper) Servers(repo string, all bool) []string {
	var out []string
	env := s.Anew()
	if st, err := env.Recorded(); err == nil {
		for _, r := range slices.Concat(st.Records, st.Reverted) {
			out = append(out, r.Server)
		}
	}
	read := clients.All()
	if !all {
		read = nil
	}
	dir, err := checkout.RealDir(repo)
	if err == nil {
		repo = checkout.ClaudeProject(dir)
	}
	for _, c := range read {
		inProject, _ := c.ProjectFiles(s.Sys, dir, env.Tree(dir))
		for _, config := range append(c.UserFiles(s.Sys), inProject...) {
			doc, err := configs.Open(env, c, config)
			if err != nil {
				continue
			}
			for _, scope := range c.ScopesInOrder() {
				for _, container := range c.ContainersIn(doc.Doc, scope, repo) {
					names, _ := doc.Doc.Names(container)
					out = append(out, names...)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
