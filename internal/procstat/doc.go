// Package procstat reads what Linux knows about a process: its name, its parent, its
// terminal and the terminal's foreground. Elsewhere there is only [Ancestors].
package procstat
