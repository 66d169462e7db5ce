package server

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// foreground is the program that reads what is typed into a pane.
type foreground struct {
	pid  int
	name string
	// shell is its dialect; nil when it is not a shell that a person types into.
	shell *dialect
	path  string // of the shell's program
	// prompt is that the shell waits for a line.
	prompt bool
	// age is how long it has run.
	age time.Duration
}

// shellOf is the dialect of a shell by its program's path or by the name it was
// started by; nil for what is no shell here.
func shellOf(path, name string) *dialect {
	for _, s := range []string{filepath.Base(path), name} {
		if d := dialects[s]; d != nil {
			return d
		}
	}
	return nil
}

// optionsWithValue are the options of shells that have a value of their own.
var optionsWithValue = []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"}

// interactive tells from the words a shell was started with whether it reads
// lines from its terminal, and not a script or a command.
func interactive(args []string) bool {
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case slices.Contains(optionsWithValue, a):
			i++
		case a == "--" || a == "-":
			return i == len(args)-1
		case a == "" || a[0] != '-' && a[0] != '+':
			return false
		case a == "--command" || strings.HasPrefix(a, "--command="):
			return false
		case strings.HasPrefix(a, "--"):
		case strings.Contains(a, "c"):
			return false
		case strings.Contains(a, "s"):
			return true
		}
	}
	return true
}
