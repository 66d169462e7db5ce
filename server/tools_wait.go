package server

import (
	"context"
	"slices"
	"time"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var waitForText = newTool(tool{
	name: "wait_for_text", title: "Wait For Text", kind: reads, set: setPanes, core: true, selfBounded: true,
	aim:  target.Default(target.Pane),
	hint: "wait until a build is done, a server is ready or an agent asks",
	desc: "Wait until a pane, or any of several, prints one of patterns (a server being ready, a build being done) or stop, is quiet, or its coding agent " +
		"asks or is done. Also ends when the program ends or the bell rings. Returns which pane, why, and its new lines. Default: any output.",
}, func(ctx context.Context, c *call, in waitForTextIn) (*waitForTextResult, error) {
	w, err := c.newAwait(ctx, in.conditions, in.MatchCase, in.Timeout)
	if err != nil {
		return nil, err
	}
	w.all = in.Until == "all"
	if w.states, err = in.wanted(); err != nil {
		return nil, err
	}
	w.anything = w.anything && w.states == nil
	panes, err := in.which(ctx, c)
	if err != nil {
		return nil, err
	}
	from, err := in.from(c)
	if err != nil {
		return nil, err
	}
	if err := w.run(ctx, time.Duration(in.Interval*float64(time.Second)), panes, from); err != nil {
		return nil, err
	}
	return w.result(ctx), nil
})

type waitForTextIn struct {
	conditions
	target.SelectPane
	Panes     []string `json:"panes,omitempty" desc:"pane ids, session names, or all"`
	State     []string `json:"state,omitempty" desc:"or its coding agent: working, asks, idle, ended"`
	Until     string   `json:"until" default:"any" enum:"any,all" desc:"one of panes, or each"`
	Since     string   `json:"since,omitempty" desc:"what is new: a cursor, screen (also what shows now) or now; default: since you last typed or waited there, else now"`
	Timeout   float64  `json:"timeout" default:"8" desc:"seconds, to 300"`
	Interval  float64  `json:"interval" default:"0.05" min:"0.01" unlisted:"true"`
	MatchCase bool     `json:"match_case,omitempty" desc:"case-sensitive"`
	target.OnSocket
}

// Selected returns the cursor's pane if the call names none.
func (in waitForTextIn) Selected() target.Selection {
	s := in.SelectPane.Selected()
	if s.Zero() && len(in.Panes) == 0 {
		s.Pane = paneOfCursor(in.Since)
	}
	return s
}

func (in waitForTextIn) check(*call) error {
	if in.Interval > maxWait.Seconds() {
		return reply.Argument("interval", "must be at most %v seconds", maxWait.Seconds())
	}
	if in.Panes != nil && len(in.Panes) == 0 {
		return reply.Argument("panes", "must name at least one pane")
	}
	if len(in.Panes) > 0 && !in.SelectPane.Selected().Zero() {
		return reply.Argument("panes", "cannot be combined with another target").Suggest("name all panes in panes")
	}
	return nil
}

// wanted returns the agent states that end the wait.
func (in waitForTextIn) wanted() (states []agents.State, err error) {
	for _, name := range in.State {
		s := agents.State(name)
		if !slices.Contains([]agents.State{agents.Working, agents.Asks, agents.Idle, agents.Ended}, s) {
			return nil, reply.Argument("state", "must be working, asks, idle or ended, not %q", name)
		}
		states = append(states, s)
	}
	return states, nil
}

// maxAwaited is how many panes one call may wait for.
const maxAwaited = 200

// which returns the panes to wait for.
func (in waitForTextIn) which(ctx context.Context, c *call) ([]tmux.PaneID, error) {
	if len(in.Panes) == 0 {
		id, err := target.PaneID(ctx, c.Tmux, c.on)
		return []tmux.PaneID{id}, err
	}
	return c.panesNamed(ctx, "panes", in.Panes)
}

// panesNamed returns the panes that an argument names: by pane id, by the id or name of a
// session for all its panes, or all.
func (c *call) panesNamed(ctx context.Context, argument string, names []string) ([]tmux.PaneID, error) {
	rows, err := tmux.List[target.IDs](ctx, c.Tmux, tmux.ListPanes{All: true})
	if err != nil {
		return nil, err
	}
	var ids []tmux.PaneID
	for _, name := range names {
		found := false
		for _, r := range rows {
			if name != "all" && name != string(r.Pane) && name != string(r.Session) && name != r.Name {
				continue
			}
			found = true
			if !slices.Contains(ids, r.Pane) {
				ids = append(ids, r.Pane)
			}
		}
		if !found {
			return nil, reply.Faultf(reply.KindPane, "%s: there is no pane or session %q", argument, name).Suggest("list_panes shows what there is")
		}
	}
	if len(ids) > maxAwaited {
		return nil, reply.Argument(argument, "names %d panes; the limit is %d", len(ids), maxAwaited)
	}
	return ids, nil
}

// from returns where the wait begins in a pane.
func (in waitForTextIn) from(c *call) (func(tmux.PaneID) begin, error) {
	switch in.Since {
	case "now":
		return func(tmux.PaneID) begin { return begin{} }, nil
	case "screen":
		return func(tmux.PaneID) begin { return begin{screen: true} }, nil
	case "":
		return func(id tmux.PaneID) begin { return begin{bookmark: c.s.places.of(c.Tmux, id)} }, nil
	}
	at, err := c.cursorOf(in.Since)
	if err != nil {
		return nil, err
	}
	if on, ok := c.on.Target.(tmux.PaneID); len(in.Panes) > 0 || ok && on != at.mark.Pane {
		return nil, reply.Argument("since", "is a cursor of pane %s, and the wait is for another", at.mark.Pane).Suggest("leave the target out")
	}
	return func(tmux.PaneID) begin { return begin{bookmark: at, given: true} }, nil
}

type waitForTextResult struct {
	Found            bool        `json:"found"`
	Outcome          string      `json:"outcome" enum:"matched,any_output,stopped,quiet,state,program_ended,bell,pane_gone,timeout"`
	MatchedIndex     *int        `json:"matched_index"`
	MatchedLines     []string    `json:"matched_lines" exact:"true"`
	Tail             []string    `json:"tail" exact:"true"`
	LinesCut         int         `json:"lines_cut" desc:"new lines before these"`
	SawNewOutput     bool        `json:"saw_new_output"`
	MatchedAtEntry   bool        `json:"matched_at_entry"`
	AlternateScreen  bool        `json:"alternate_screen"`
	LinesMissed      bool        `json:"lines_missed"`
	PaneID           tmux.PaneID `json:"pane_id"`
	ElapsedSeconds   float64     `json:"elapsed_seconds"`
	EffectiveTimeout float64     `json:"effective_timeout"`
	// State is the agent's state, with the outcome state; what the agent asks is in
	// MatchedLines.
	State string `json:"state"`
	// Cursor is where capture_since continues.
	Cursor string `json:"cursor"`
	// Others are the other panes that the call waited for.
	Others []otherPane `json:"others"`

	look *tmux.Look // the look whose screen is shown, if any
}

// otherPane is the outcome for one of several panes.
type otherPane struct {
	PaneID       tmux.PaneID `json:"pane_id"`
	Outcome      string      `json:"outcome" desc:"empty: still waiting"`
	State        string      `json:"state"`
	MatchedIndex *int        `json:"matched_index"`
	Tail         []string    `json:"tail" exact:"true"`
	LinesCut     int         `json:"lines_cut"`
}

// result returns the answer: about the first pane that is done or, if all should be, the
// first that is not.
func (w *await) result(ctx context.Context) *waitForTextResult {
	matters := func(p *awaited) int {
		switch {
		case p.outcome == outcomeTimeout && w.all:
			return 2
		case p.outcome == "" || p.outcome == outcomeTimeout:
			return 0
		}
		return 1
	}
	p := w.panes[0]
	for _, o := range w.panes {
		if matters(o) > matters(p) {
			p = o
		}
	}
	most, size := 20, 2000
	matched, _, _ := reply.Limited(p.matched, &most, &size)
	shown, cut := p.shown()
	r := &waitForTextResult{
		State: string(p.state), Outcome: p.outcome, MatchedIndex: p.index, MatchedLines: append([]string{}, matched...), Tail: append([]string{}, shown...), LinesCut: cut,
		SawNewOutput: p.drew, AlternateScreen: p.alt, LinesMissed: p.missed, PaneID: p.id,
		ElapsedSeconds: reply.Seconds(time.Since(w.start)), EffectiveTimeout: w.budget.Seconds(), Others: []otherPane{},
	}
	if p.outcome != outcomeGone {
		r.Cursor = w.c.cursorFor(p.look, p.prompt)
	}
	if p.screen {
		r.look = p.look
	}
	r.Found = r.Outcome == outcomeMatched || r.Outcome == outcomeAnyOutput
	r.MatchedAtEntry = p.atEntry && !r.Found
	for _, o := range w.panes {
		if o == p {
			continue
		}
		shown, cut := o.shown()
		if o.outcome == outcomeState {
			shown = append(slices.Clone(o.matched), shown...)
		}
		r.Others = append(r.Others, otherPane{
			PaneID: o.id, Outcome: o.outcome, State: string(o.state), MatchedIndex: o.index, Tail: append([]string{}, shown...), LinesCut: cut,
		})
	}
	if r.Outcome == outcomeTimeout {
		stdio.Warn(ctx, "No match in pane "+string(r.PaneID)+" before the timeout of "+w.budget.String())
	}
	return r
}
