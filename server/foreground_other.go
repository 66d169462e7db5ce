//go:build !linux

package server

import "tmuxmcp/tmux"

// inForeground is not known here.
func inForeground(tmux.PaneState) bool { return false }
