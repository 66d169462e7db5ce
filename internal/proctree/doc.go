// Package proctree ends processes with all that they have started, also what has made itself
// a session of its own, on Linux. Elsewhere there is no way to adopt a daemon's processes,
// and it does next to nothing.
package proctree
