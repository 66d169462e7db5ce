// Package color decides whether output is colored.
package color

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Wanted reports whether to color what goes to w: on a terminal that is not dumb, unless
// NO_COLOR is set, and wherever FORCE_COLOR is set to anything but 0.
func Wanted(w io.Writer) bool {
	if force := os.Getenv("FORCE_COLOR"); force != "" {
		return force != "0"
	}
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
