package tools

import (
	"context"
	"time"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func waitForText(r *screen.Reader) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "wait_for_text", Title: "Wait For Text", Kind: tool.Reads, Set: tool.Panes, Core: true, SelfBounded: true,
		Aim:  target.Default(target.Pane),
		Hint: "wait until a build is done, a server is ready or an agent asks",
		Desc: "Wait until a pane, or any of several, prints one of patterns (a server being ready, a build being done) or stop, or is quiet. Also ends when the " +
			"program ends, the bell rings or its coding agent asks. Returns which pane, why, and its new lines. Default: any output.",
	}, func(ctx context.Context, c tool.Call, in waitForTextIn) (*screen.Result, error) {
		w, err := r.Wait(ctx, c.Source, in.Conditions, in.MatchCase, in.Timeout)
		if err != nil {
			return nil, err
		}
		w.All = in.Until == "all"
		states, err := agents.StatesNamed(in.State)
		if err != nil {
			return nil, err
		}
		w.AlsoFor(states)
		panes, err := in.which(ctx, c)
		if err != nil {
			return nil, err
		}
		from, err := in.from(r, c)
		if err != nil {
			return nil, err
		}
		if err := w.Run(ctx, time.Duration(in.Interval*float64(time.Second)), panes, from); err != nil {
			return nil, err
		}
		return w.Result(ctx), nil
	})
}

type waitForTextIn struct {
	screen.Conditions
	target.SelectPane
	Panes     []string `json:"panes,omitempty" desc:"pane ids, session names, or all"`
	State     []string `json:"state,omitempty" desc:"or its coding agent: working, asks, idle, ended" unlisted:"true"`
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
		s.Pane = screen.PaneOfCursor(in.Since)
	}
	return s
}

func (in waitForTextIn) Check(tool.Limits) error {
	if in.Interval > screen.MaxWait.Seconds() {
		return reply.Argument("interval", "must be at most %v seconds", screen.MaxWait.Seconds())
	}
	if in.Panes != nil && len(in.Panes) == 0 {
		return reply.Argument("panes", "must name at least one pane")
	}
	if len(in.Panes) > 0 && !in.SelectPane.Selected().Zero() {
		return reply.Argument("panes", "cannot be combined with another target").Suggest("name all panes in panes")
	}
	return nil
}

// which returns the panes to wait for.
func (in waitForTextIn) which(ctx context.Context, c tool.Call) ([]tmux.PaneID, error) {
	if len(in.Panes) == 0 {
		id, err := target.PaneID(ctx, c.Tmux, c.On)
		return []tmux.PaneID{id}, err
	}
	return target.PanesNamed(ctx, c.Tmux, "panes", in.Panes)
}

// from returns where the wait begins in a pane.
func (in waitForTextIn) from(r *screen.Reader, c tool.Call) (func(tmux.PaneID) screen.Begin, error) {
	switch in.Since {
	case "now":
		return func(tmux.PaneID) screen.Begin { return screen.Begin{} }, nil
	case "screen":
		return func(tmux.PaneID) screen.Begin { return screen.Begin{Screen: true} }, nil
	case "":
		return func(id tmux.PaneID) screen.Begin { return screen.Begin{Bookmark: r.Bookmark(c.Tmux, id)} }, nil
	}
	at, err := r.BookmarkOf(in.Since)
	if err != nil {
		return nil, err
	}
	if on, ok := c.On.Target.(tmux.PaneID); len(in.Panes) > 0 || ok && on != at.Mark.Pane {
		return nil, reply.Argument("since", "is a cursor of pane %s, and the wait is for another", at.Mark.Pane).Suggest("leave the target out")
	}
	return func(tmux.PaneID) screen.Begin { return screen.Begin{Bookmark: at, Given: true} }, nil
}
