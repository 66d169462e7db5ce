package server

import (
	"context"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var listWindows = newTool(tool{
	name: "list_windows", title: "List tmux Windows", kind: reads, set: setWindows, core: true,
	aim:  target.Filter(target.Session),
	desc: "List tmux windows (tabs of a session): id, session:index, name, size, number of panes, active pane. No screen content: to find text use search_panes.",
}, func(ctx context.Context, c *call, in listInSession) (reply.List[windowInfo], error) {
	return answerList[windowInfo](ctx, c, in.narrowing, tmux.ListWindows{All: true, Filter: c.on.Within()}, "window_id")
})

var getWindowInfo = newTool(tool{
	name: "get_window_info", title: "Get tmux Window Info", kind: reads, set: setWindows,
	aim:  target.Filter(target.Window),
	desc: "Get one window's metadata: size, layout, zoom state, panes, activity flags. Defaults to the caller's window. For several use list_windows.",
}, func(ctx context.Context, c *call, in target.OfWindow) (*windowDetail, error) {
	return find[windowDetail](ctx, c, c.on.Selection)
})
