package server

import (
	"context"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var listWindows = newTool(tool{
	name: "list_windows", title: "List tmux Windows", kind: reads, set: setWindows, core: true,
	aim:  target.Filter(target.Session),
	desc: "List tmux windows (tabs of a session): id, session:index, name, size, number of panes, active pane. No screen content: to find text use search_panes.",
}, func(ctx context.Context, c *call, in rows.ListInSession) (reply.List[rows.Window], error) {
	return rows.Answer[rows.Window](ctx, c.Source, c.on, in.Narrowing, tmux.ListWindows{All: true, Filter: c.on.Within()}, "window_id")
})

var getWindowInfo = newTool(tool{
	name: "get_window_info", title: "Get tmux Window Info", kind: reads, set: setWindows,
	aim:  target.Filter(target.Window),
	desc: "Get one window's metadata: size, layout, zoom state, panes, activity flags. Defaults to the caller's window. For several use list_windows.",
}, func(ctx context.Context, c *call, in target.OfWindow) (*rows.WindowDetail, error) {
	return rows.Find[rows.WindowDetail](ctx, c.Source, c.on.Selection)
})
