//go:build !linux

package follow

import (
	"context"

	"tmuxmcp/tmux"
)

type ttyWatch struct{}

func (*ttyWatch) add(context.Context, PaneState, chan<- wake) bool { return false }
func (*ttyWatch) remove(tmux.PaneID)                               {}
