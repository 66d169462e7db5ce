// Package guard decides whether a call may do what it is about to do: by its tier and, where
// the agent's own pane is concerned, by asking the user.
package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Every tool declares what it acts on and what it may do to it. Before the handler runs, a
// [Guard] resolves the object that the call names, and the handler's commands are guarded:
// they do not run if that object is, or contains, the pane in which the agent itself runs
// (see presence.go).

// Harm is what a tool may do to its object, as seen by a program that runs in it.
type Harm int

const (
	// UnknownHarm: the tool does not say.
	UnknownHarm Harm = iota
	// Harmless: the tool does nothing that the program would notice.
	Harmless
	// Types: the tool types into the program. Whether that is in the agent's own pane is
	// checked in the same round trip that types.
	Types
	// Disturbs: the tool pipes, clears, resizes or moves the pane.
	Disturbs
	// Ends: the tool ends the program.
	Ends
)

// Verb describes what a tool is about to do.
func (h Harm) Verb() string {
	return map[Harm]string{Types: "type into", Disturbs: "change", Ends: "end"}[h]
}

// Declared is what a tool says about itself.
type Declared struct {
	Tool     string // its name
	Aim      target.Aim
	Harm     Harm
	ReadOnly bool
}

// Rules are what a call may do.
type Rules struct {
	Tier    Tier     // of the call: the server's or, in a batch, the batch's
	Most    Tier     // the server's
	Effects []string // of the tools that the server offers; nil for all
	// Connect returns the tmux server of another socket.
	Connect func(socket string) (*tmux.Server, error)
}

// Guard guards one call.
type Guard struct {
	Declared
	rules Rules
	tmux  *tmux.Server
	here  caller.Here
	ask   *Asker

	mu  sync.Mutex // guards own: a call may type into several panes at a time
	own *Presence  // nil until it is known
	// spared are the conditions under which the call may harm its objects, doing is the harm
	// and held says what they guard.
	spared []tmux.Require
	doing  Harm
	held   string
}

// New returns the guard of a call of a tool on a tmux server.
func New(d Declared, srv *tmux.Server, here caller.Here, r Rules, ask *Asker) *Guard {
	return &Guard{Declared: d, rules: r, tmux: srv, here: here, ask: ask}
}

// Pause lets other calls run while this one waits for something other than tmux. resume waits
// until it may continue.
func (g *Guard) Pause() (resume func(context.Context) error) { return g.ask.pause() }

// At resolves a selection as the tool declares, and guards the object.
func (g *Guard) At(ctx context.Context, s target.Selection) (target.Object, error) {
	on, err := g.resolve(ctx, s)
	if err != nil {
		return on, err
	}
	return on, g.Spare(ctx, g.Harm, g.Aim.Object, on)
}

// All does what At does for several selections, with one question for all of them.
func (g *Guard) All(ctx context.Context, selections []target.Selection) (all []target.Object, err error) {
	for _, s := range selections {
		on, err := g.resolve(ctx, s)
		if err != nil {
			return nil, err
		}
		all = append(all, on)
	}
	return all, g.Spare(ctx, g.Harm, g.Aim.Object, all...)
}

// Server guards the whole tmux server, if that is the object of the call.
func (g *Guard) Server(ctx context.Context) error {
	if g.Aim.Object != target.Server {
		return nil
	}
	return g.Spare(ctx, g.Harm, target.Server, target.Object{})
}

// resolve resolves a selection as the tool declares.
func (g *Guard) resolve(ctx context.Context, s target.Selection) (on target.Object, err error) {
	on.Selection = s
	switch g.Aim.Rule {
	case target.AimNone:
		return on, nil
	case target.AimFilter:
		return on, s.Check()
	}
	if g.ReadOnly && s.Pane == "" && s.Window != "" {
		s = target.Selection{Window: s.Window} // it is the same in every session
	}
	var own Presence
	if g.Harm == Disturbs || g.Harm == Ends {
		if own, err = g.Presence(ctx); err != nil {
			return on, err
		}
	}
	switch {
	case s.Zero() && g.Aim.Rule == target.AimDefault:
	case own.None():
		on.Selection, err = target.Resolve(ctx, g.tmux, g.Tool, g.Aim.Object, s)
	default:
		on.Selection, err = g.identify(ctx, s)
	}
	if err != nil {
		return on, err
	}
	on.Target, err = on.Selection.TargetFor(g.here.Own())
	return on, err
}

// identify finds the id of the one object that a selection names: names and positions may
// change from one round trip to the next, and what is guarded is what is acted on.
func (g *Guard) identify(ctx context.Context, s target.Selection) (target.Selection, error) {
	if err := s.Required(g.Tool, g.Aim.Object); err != nil || s.Pane != "" {
		return s, err
	}
	if s.Window != "" && s.Name != "" { // the name is that of the session to act in
		var err error
		if s, err = target.Resolve(ctx, g.tmux, g.Tool, g.Aim.Object, s); err != nil {
			return s, err
		}
	}
	named, err := tmux.List[target.IDs](ctx, g.tmux, tmux.ListPanes{All: true, Filter: g.Aim.FilterFor(s)})
	if err := target.NoneIsEmpty(err); err != nil {
		return s, err
	}
	if len(named) == 0 {
		return s, target.Missing(ctx, g.tmux, s)
	}
	at := named[0]
	switch g.Aim.Object {
	case target.Pane:
		return target.Selection{Pane: at.Pane}, nil
	case target.Window:
		if s.Window == "" {
			s.Session = at.Session
		}
		return target.Selection{Window: at.Window, Session: s.Session}, nil
	}
	return target.Selection{Session: at.Session}, nil
}

// Spare guards the agent's own pane against what the call does to objects. Where it may be
// any pane, the user is asked at once.
func (g *Guard) Spare(ctx context.Context, h Harm, kind target.Kind, objects ...target.Object) error {
	if h != Disturbs && h != Ends {
		return nil
	}
	own, err := g.Presence(ctx)
	if err != nil || own.None() {
		return err
	}
	g.doing, g.held = h, own.What(objects...)
	if kind == target.Server {
		g.held = own.whole()
	} else if own.Every {
		return g.Consent(ctx, h, g.held)
	}
	for _, on := range objects {
		g.spared = append(g.spared, own.spares(kind, on)...)
	}
	return nil
}

// Proceed does harm to the objects of the call, unless that reaches the agent's own pane
// and the user does not agree.
func (g *Guard) Proceed(ctx context.Context, act func(context.Context) error) error {
	conditions := make([]guarded.Condition, len(g.spared))
	for i, r := range g.spared {
		conditions[i].Format = string(r.Condition)
		if r.Target != nil { // a server has none
			if conditions[i].Target = r.Target.TargetSpec(); conditions[i].Target == "" {
				return fmt.Errorf("%w: a condition for no object", tmux.ErrArgument)
			}
		}
	}
	err := act(guarded.With(ctx, conditions...))
	if !errors.Is(err, guarded.Err) {
		return err
	}
	if err := g.Consent(ctx, g.doing, g.held); err != nil {
		return err
	}
	return act(ctx)
}

// Cleared does what Proceed does, for harm that is not done by a tmux command.
func (g *Guard) Cleared(ctx context.Context) error {
	if len(g.spared) == 0 {
		return nil
	}
	var b tmux.Batch
	for _, condition := range g.spared {
		tmux.Add(&b, condition)
	}
	err := b.Do(ctx, g.tmux)
	if errors.Is(err, tmux.ErrUnmet) {
		err = g.Consent(ctx, g.doing, g.held)
	}
	return err
}

// SafetyVariable is the environment variable that sets the server's tier.
const SafetyVariable = "TMUX_MCP_SAFETY"

// Permit refuses arguments that need a higher tier than the tool itself. why says what the
// call would do.
func (g *Guard) Permit(need Tier, why string) error {
	// Anything that needs the highest tier may end up running a program.
	if has := g.rules.Effects; has != nil && !slices.Contains(has, DoesExecute) {
		return reply.Faultf(reply.KindTier, "this call of %s needs the toolset %s: %s", g.Tool, DoesExecute, why)
	}
	if g.rules.Tier.Allows(need) {
		return nil
	}
	f := reply.Faultf(reply.KindTier, "this call of %s needs the tier %s: %s", g.Tool, need, why)
	if g.rules.Most.Allows(need) {
		return f.Suggest("call it by itself: this batch runs what the tier %s may", g.rules.Tier)
	}
	return f.Suggest("its user can start this server with --safety %s or %s=%s", need, SafetyVariable, need)
}
