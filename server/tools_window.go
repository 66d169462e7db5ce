package server

import (
	"context"

	"tmuxmcp/tmux"
)

var listWindows = newTool(tool{
	name: "list_windows", title: "List tmux Windows", kind: reads, set: setWindows, core: true,
	aim:  narrows(aSession),
	desc: "List tmux windows (tabs of a session): id, session:index, name, size, number of panes, active pane. No screen content: to find text use search_panes.",
}, func(ctx context.Context, c *call, in listWindowsIn) (l list[windowInfo], err error) {
	s := c.on.selection
	only, err := tokensFor[windowInfo](c, in.narrowing, "window_id")
	if err != nil {
		return l, err
	}
	rows, err := c.listWindowsIn(ctx, new(tmux.Batch), tmux.ListWindows{All: true, Filter: s.within()}, only...)
	if err == nil && len(rows) == 0 && !s.zero() {
		err = c.missing(ctx, s)
	}
	if err != nil {
		return l, err
	}
	return narrow(rows, in.narrowing)
})

type listWindowsIn struct {
	sessionSelect
	socket
	narrowing
}

var getWindowInfo = newTool(tool{
	name: "get_window_info", title: "Get tmux Window Info", kind: reads, set: setWindows,
	aim:  narrows(aWindow),
	desc: "Get one window's metadata: size, layout, zoom state, panes, activity flags. Defaults to the caller's window. For several use list_windows.",
}, func(ctx context.Context, c *call, in getWindowInfoIn) (*windowDetail, error) {
	s := c.on.selection
	list, err := c.oneWindow(s)
	if err != nil {
		return nil, err
	}
	var b tmux.Batch
	more := tmux.Rows[windowMore](&b, list)
	rows, err := c.listWindowsIn(ctx, &b, list)
	w, err := only(ctx, c, s, rows, err)
	if err != nil {
		return nil, err
	}
	detail := &windowDetail{*w, (*more)[0]}
	detail.WindowVisibleLayout = detail.WindowVisibleLayout.Classic()
	return detail, nil
})

type getWindowInfoIn struct {
	windowSelect
	socket
}
