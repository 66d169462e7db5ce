package tools

import (
	"fmt"
)

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
