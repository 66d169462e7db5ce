//go:build !linux && !darwin

package caller

// ancestors is not supported here: it needs a way to find a process's parent.
func ancestors() []ancestor { return nil }

// WhichRun is not supported here.
func WhichRun(string, []int) (at map[int]bool, known bool) { return nil, false }
