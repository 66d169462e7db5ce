package screen

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// Result is the answer of a wait.
type Result struct {
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
	AtPrompt         bool        `json:"at_prompt"`
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

	look *follow.Look // the look whose screen is shown, if any
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

// Result returns the answer: about the first pane that is done or, if all should be, the
// first that is not.
func (w *Wait) Result(ctx context.Context) *Result {
	matters := func(p *waitedPane) int {
		switch {
		case p.outcome == outcomeTimeout && w.All:
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
	r := &Result{
		State: string(p.state.Value), Outcome: p.outcome, MatchedIndex: p.index, MatchedLines: append([]string{}, matched...), Tail: append([]string{}, shown...), LinesCut: cut,
		SawNewOutput: p.drew, AlternateScreen: p.alt, LinesMissed: p.missed, PaneID: p.id,
		ElapsedSeconds: reply.Seconds(time.Since(w.start)), EffectiveTimeout: w.budget.Seconds(), Others: []otherPane{},
	}
	if p.outcome != outcomeGone {
		r.Cursor = w.reader.cursorFor(w.src.Form, w.reader.bookmark(w.src.Tmux, p.look, p.began, p.prompt))
		r.AtPrompt = p.prompt || p.proven
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
			PaneID: o.id, Outcome: o.outcome, State: string(o.state.Value), MatchedIndex: o.index, Tail: append([]string{}, shown...), LinesCut: cut,
		})
	}
	if r.Outcome == outcomeTimeout {
		stdio.Warn(ctx, "No match in pane "+string(r.PaneID)+" before the timeout of "+w.budget.String())
	}
	return r
}

func (r *Result) View() reply.View {
	v := reply.View{Lines: r.Tail}
	if r.Outcome == outcomeState {
		v.Lines = append(slices.Clone(r.MatchedLines), r.Tail...)
	}
	v.Fact("%s %s after %s", r.PaneID, outcomeWords(r.Outcome, r.State, r.MatchedIndex), reply.Elapsed(r.ElapsedSeconds))
	missed := reply.Words("lines may have been missed")
	if r.Outcome == outcomeTimeout {
		missed += ", and a match in them"
	}
	v.FactIf(r.LinesMissed, "%s", missed)
	v.FactIf(r.LinesCut > 0, "%s before these left out", reply.Count(r.LinesCut, "line"))
	if r.Outcome == outcomeTimeout {
		v.FactIf(!r.SawNewOutput, "nothing was printed yet")
		v.FactIf(r.AtPrompt, "the shell is at its prompt")
		v.FactIf(r.MatchedAtEntry, "a pattern was on the screen before the wait: since=screen counts it")
	}
	var waiting []string
	own := len(v.Lines)
	for _, o := range r.Others {
		if o.Outcome == "" || o.Outcome == outcomeTimeout && r.Outcome == outcomeTimeout {
			waiting = append(waiting, string(o.PaneID))
			continue
		}
		var cut reply.Words
		if o.LinesCut > 0 {
			cut = reply.Say(", %s before these left out", reply.Count(o.LinesCut, "line"))
		}
		says := reply.Say("[%s %s%s, %s]", o.PaneID, outcomeWords(o.Outcome, o.State, o.MatchedIndex), cut, reply.Count(len(o.Tail), "line"))
		v.Lines = append(append(v.Lines, string(says)), o.Tail...)
	}
	// The contents of one pane cannot be taken for the next pane.
	v.FactIf(len(v.Lines) > own, "%s", reply.Count(own, "line"))
	v.FactIf(len(waiting) > 0 && len(waiting) <= 20, "nothing yet in %s", strings.Join(waiting, " "))
	v.FactIf(len(waiting) > 20, "nothing yet in %d others", len(waiting))
	if r.look != nil {
		v.Fact("terminal cursor %d,%d", r.look.CursorX, r.look.CursorY)
	}
	v.FactIf(r.Cursor != "", "cursor %s", r.Cursor)
	return v
}

// outcomeWords describes the outcome of a wait for a pane to a model.
func outcomeWords(outcome, state string, pattern *int) string {
	if pattern != nil && *pattern > 0 {
		return outcome + " by pattern " + strconv.Itoa(*pattern)
	}
	switch outcome {
	case outcomeState:
		return state
	case outcomeAnyOutput:
		return "new output"
	case outcomeBell:
		return "bell rang"
	case outcomeGone:
		return "is gone"
	}
	return strings.ReplaceAll(outcome, "_", " ")
}
