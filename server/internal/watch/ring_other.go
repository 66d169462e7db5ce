//go:build !linux

package watch

// ring does nothing, as nothing proves that a terminal is a client's.
func ring(string, int) bool { return false }
