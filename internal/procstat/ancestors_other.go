//go:build !linux && !darwin

package procstat

// Ancestors is not supported here: it needs a way to find a process's parent.
func Ancestors() []Process { return nil }
