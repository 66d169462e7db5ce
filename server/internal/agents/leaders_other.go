//go:build !linux

package agents

import "tmuxmcp/tmux"

type leaders struct{ of int }

func (l leaders) equal(m leaders) bool { return l == m }

// leadersOf sees none here.
func leadersOf(tmux.Process, leaders) (leaders, bool) { return leaders{}, true }
