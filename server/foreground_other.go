//go:build !linux

package server

// inForeground is not supported here.
func inForeground(int) bool { return false }
