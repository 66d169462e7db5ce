//go:build !linux

package tmux

import "context"

type ttyWatch struct{}

func (*ttyWatch) add(context.Context, PaneState, chan<- wake) bool { return false }
func (*ttyWatch) remove(PaneID)                                    {}
