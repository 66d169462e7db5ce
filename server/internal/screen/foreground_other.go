//go:build !linux

package screen

// inForeground is not supported here.
func inForeground(int) bool { return false }
