//go:build !linux

package lost

// serverOf finds no server on this system.
func serverOf(string) int { return 0 }
