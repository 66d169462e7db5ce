//go:build !linux

package tmuxtest

// session returns the processes of a session, where the system shows them.
func session(int) []int { return nil }
