package server

import (
	"context"

	"tmuxmcp/tmux"
)

var listWindows = tool[listWindowsIn, list[windowInfo]]{
	name: "list_windows", title: "List tmux Windows", kind: reads, set: setWindows, core: true, alwaysLoad: true,
	aim:  narrows(aSession),
	desc: "List tmux windows (terminal workspace) of a session or the server: name, index, size, layout, active pane. Metadata only: search_panes finds text.",
	run: func(ctx context.Context, c *call, in listWindowsIn) (l list[windowInfo], err error) {
		s := c.on.selection
		only, err := tokensFor[windowInfo](in.narrowing, "window_id")
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
	},
}

type listWindowsIn struct {
	sessionSelect
	socket
	narrowing
}

var getWindowInfo = tool[getWindowInfoIn, *windowDetail]{
	name: "get_window_info", title: "Get tmux Window Info", kind: reads, set: setWindows,
	aim:  narrows(aWindow),
	desc: "Describe one tmux window: size, layout, zoom, panes. Without a target: the caller's, else the current one.",
	run: func(ctx context.Context, c *call, in getWindowInfoIn) (*windowDetail, error) {
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
		return &windowDetail{*w, (*more)[0]}, nil
	},
}

type getWindowInfoIn struct {
	windowSelect
	socket
}
