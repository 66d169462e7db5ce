//go:build !linux && !darwin

package server

// ancestors is not supported here: it needs a way to find a process's parent.
func ancestors() []ancestor { return nil }

func whichRun(string, []int) (at map[int]bool, known bool) { return nil, false }
