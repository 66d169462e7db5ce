//go:build !linux

package server

import "context"

// ttyWrites cannot watch a terminal on this system.
func ttyWrites(context.Context, paneState, chan<- bool) bool { return false }
