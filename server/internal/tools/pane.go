package tools

import (
	"context"
	"strings"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

var listPanes = tool.New(tool.Decl{
	Name: "list_panes", Title: "List tmux Panes", Kind: tool.Reads, Set: tool.Panes, Core: true, AlwaysLoad: true,
	Aim: target.Filter(target.Window),
	Desc: "See which terminals are open: list tmux panes with id, session:window.pane, size, position, running command, directory. All panes of the server, or of one " +
		"session or window. No screen content: to find text use search_panes.",
}, func(ctx context.Context, c tool.Call, in listPanesIn) (reply.List[rows.Pane], error) {
	return rows.Answer[rows.Pane](ctx, c.Source, c.On, in.Narrowing, tmux.ListPanes{All: true, Filter: c.On.Within()}, "pane_id")
})

type listPanesIn struct {
	target.SelectWindow
	target.OnSocket
	rows.Narrowing
}

var getPaneInfo = tool.New(tool.Decl{
	Name: "get_pane_info", Title: "Get Pane Info", Kind: tool.Reads, Set: tool.Panes,
	Aim:  target.Filter(target.Pane),
	Desc: "Get one pane's metadata: process id, command, directory, size, position, modes. Defaults to the caller's pane. For the screen use snapshot_pane.",
}, func(ctx context.Context, c tool.Call, in target.OfPane) (*rows.PaneDetail, error) {
	return rows.Find[rows.PaneDetail](ctx, c.Source, c.On.Selection)
})

var findPaneByPosition = tool.New(tool.Decl{
	Name: "find_pane_by_position", Title: "Find Pane By Position", Kind: tool.Reads, Set: tool.Panes,
	Aim:  target.Filter(target.Window),
	Desc: "Find the pane in a corner of a window. In a window with one pane, that pane is in every corner.",
}, func(ctx context.Context, c tool.Call, in findPaneByPositionIn) (*rows.Pane, error) {
	s := c.On.Selection
	list := tmux.ListPanes{All: true, Filter: s.WindowFilter()}
	if s.Zero() {
		at, err := s.TargetFor(c.Here.Own())
		if err != nil {
			return nil, err
		}
		list = tmux.ListPanes{Target: at}
	}
	listed, err := rows.List[rows.Pane](ctx, c.Source, new(tmux.Batch), list)
	if err == nil && len(listed) == 0 && !s.Zero() {
		err = target.Missing(ctx, c.Tmux, s)
	}
	if err != nil {
		return nil, err
	}
	var best *rows.Pane
	for i := range listed {
		p := &listed[i]
		vertical, horizontal, _ := strings.Cut(in.Corner, "-")
		touches := (vertical == "top" && p.PaneAtTop || vertical == "bottom" && p.PaneAtBottom) &&
			(horizontal == "left" && p.PaneAtLeft || horizontal == "right" && p.PaneAtRight)
		if touches && (best == nil || p.PaneLeft+p.PaneTop > best.PaneLeft+best.PaneTop) {
			best = p
		}
	}
	if best == nil {
		return nil, reply.Faultf(reply.KindPane, "there is no pane at the %s of the window", in.Corner)
	}
	return best, nil
})

type findPaneByPositionIn struct {
	Corner string `json:"corner" enum:"top-left,top-right,bottom-left,bottom-right"`
	target.SelectWindow
	target.OnSocket
}
