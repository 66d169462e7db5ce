//go:build !linux

package server

import "tmuxmcp/tmux"

// inForeground is not supported here.
func inForeground(tmux.PaneState) bool { return false }
