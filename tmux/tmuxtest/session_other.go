//go:build !linux

package tmuxtest

// session returns the processes of a session, where the system shows them.
func session(int) []int { return nil }

// stopped reports whether a child of a session's leader is stopped, where the system shows it.
func stopped(int) bool { return false }
