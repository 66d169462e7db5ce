// Package procstat reads what Linux knows about a process: its name, its parent, its
// terminal and the terminal's foreground. Elsewhere it is empty.
package procstat
