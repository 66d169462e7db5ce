package tmuxtest

import "tmuxmcp/internal/procstat"

// session returns the processes of a session.
func session(leader int) []int { return procstat.Sessions([]int{leader})[leader] }

// stopped reports whether a child of a session's leader is stopped.
func stopped(leader int) bool {
	for _, pid := range session(leader) {
		if p, err := procstat.Of(pid); err == nil && p.Parent == leader && p.State == 'T' {
			return true
		}
	}
	return false
}
