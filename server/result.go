package server

import (
	"fmt"

	"tmuxmcp/server/internal/reply"
)

// paging are the parameters of a tool that lists things.
type paging struct {
	Limit  *int `json:"limit,omitempty" min:"1" desc:"most rows; default: all"`
	Offset int  `json:"offset,omitempty" min:"0" desc:"rows to skip"`
}

// page returns the requested page of the items.
func page[T any](items []T, p paging) reply.List[T] {
	l := reply.List[T]{Total: len(items), Offset: min(p.Offset, len(items))}
	items = items[l.Offset:]
	if p.Limit != nil && len(items) > *p.Limit {
		items = items[:*p.Limit]
	}
	l.Result = append([]T{}, items...)
	return l
}

// screenText is text of a pane's screen.
type screenText struct {
	Result string `json:"result" exact:"true"`
	PaneID string `json:"pane_id"`
	// FirstLine and LastLine are the numbers of the oldest line of the history and the last
	// of the screen, as in start and end. Outside is set if none of the requested lines is
	// between them.
	FirstLine int  `json:"first_line"`
	LastLine  int  `json:"last_line"`
	Outside   bool `json:"outside"`
}

func (t screenText) TextBlock() string {
	if t.Outside {
		return t.where()
	}
	return t.Result
}

// where describes which lines exist.
func (t screenText) where() string {
	return fmt.Sprintf("nothing there: its lines are %d to %d", t.FirstLine, t.LastLine)
}
