package adapter

import (
	"slices"

	"tmuxmcp/internal/procstat"
)

// allDead reports whether all processes of a group are zombies; false where that is not known.
func allDead(group int) bool {
	all := procstat.All()
	return len(all) > 0 && !slices.ContainsFunc(all, func(p procstat.Process) bool { return p.Group == group && p.State != 'Z' })
}
