package tmuxtest

import "tmuxmcp/internal/procstat"

// session returns the processes of a session.
func session(leader int) []int { return procstat.Sessions([]int{leader})[leader] }
