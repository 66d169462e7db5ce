package tools

import (
	"context"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

var listWindows = tool.New(tool.Decl{
	Name: "list_windows", Title: "List tmux Windows", Kind: tool.Reads, Set: tool.Windows, Core: true,
	Aim:  target.Filter(target.Session),
	Desc: "List tmux windows (tabs of a session): id, session:index, name, size, number of panes, active pane. No screen content: to find text use search_panes.",
}, func(ctx context.Context, c tool.Call, in rows.ListInSession) (reply.List[rows.Window], error) {
	return rows.Answer[rows.Window](ctx, c.Source, c.On, in.Narrowing, tmux.ListWindows{All: true, Filter: c.On.Within()}, "window_id")
})

var getWindowInfo = tool.New(tool.Decl{
	Name: "get_window_info", Title: "Get tmux Window Info", Kind: tool.Reads, Set: tool.Windows,
	Aim:  target.Filter(target.Window),
	Desc: "Get one window's metadata: size, layout, zoom state, panes, activity flags. Defaults to the caller's window. For several use list_windows.",
}, func(ctx context.Context, c tool.Call, in target.OfWindow) (*rows.WindowDetail, error) {
	return rows.Find[rows.WindowDetail](ctx, c.Source, c.On.Selection)
})
