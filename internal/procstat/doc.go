// Package procstat reads what Linux knows of a process: its name, its parent, its
// terminal and who reads from that. Elsewhere it is empty.
package procstat
