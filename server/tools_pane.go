package server

import (
	"context"
	"strings"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

var listPanes = newTool(tool{
	name: "list_panes", title: "List tmux Panes", kind: reads, set: setPanes, core: true, alwaysLoad: true,
	aim: narrows(aWindow),
	desc: "See which terminals are open: list tmux panes with id, session:window.pane, size, position, running command, directory. All panes of the server, or of one " +
		"session or window. No screen content: to find text use search_panes.",
}, func(ctx context.Context, c *call, in listPanesIn) (reply.List[paneInfo], error) {
	return answerList[paneInfo](ctx, c, in.narrowing, tmux.ListPanes{All: true, Filter: c.on.within()}, "pane_id")
})

type listPanesIn struct {
	windowSelect
	socket
	narrowing
}

var getPaneInfo = newTool(tool{
	name: "get_pane_info", title: "Get Pane Info", kind: reads, set: setPanes,
	aim:  narrows(aPane),
	desc: "Get one pane's metadata: process id, command, directory, size, position, modes. Defaults to the caller's pane. For the screen use snapshot_pane.",
}, func(ctx context.Context, c *call, in ofPane) (*paneDetail, error) {
	return find[paneDetail](ctx, c, c.on.selection)
})

var findPaneByPosition = newTool(tool{
	name: "find_pane_by_position", title: "Find Pane By Position", kind: reads, set: setPanes,
	aim:  narrows(aWindow),
	desc: "Find the pane in a corner of a window. In a window with one pane, that pane is in every corner.",
}, func(ctx context.Context, c *call, in findPaneByPositionIn) (*paneInfo, error) {
	s := c.on.selection
	list := tmux.ListPanes{All: true, Filter: s.windowFilter()}
	if s.zero() {
		target, err := c.spec(s)
		if err != nil {
			return nil, err
		}
		list = tmux.ListPanes{Target: target}
	}
	rows, err := listRows[paneInfo](ctx, c, new(tmux.Batch), list)
	if err == nil && len(rows) == 0 && !s.zero() {
		err = c.missing(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	var best *paneInfo
	for i := range rows {
		p := &rows[i]
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
	Corner string `json:"corner" enum:"top-left,top-right,bottom-left,bottom-right" desc:"of the window"`
	windowSelect
	socket
}
