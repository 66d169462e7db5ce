//go:build !linux && !darwin

package server

// ancestors is not supported here: it needs a way to find a process's parent.
func ancestors() []ancestor { return nil }

func anyRuns(string, []int) (runs, known bool) { return false, false }
