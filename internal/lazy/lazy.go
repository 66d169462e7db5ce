// Package lazy makes values when they are first used, so that a program does not wait at its start for
// what it may never use.
package lazy

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp returns a function that returns the compiled expression. A wrong one panics when it
// is first used, in a test at once.
func Regexp(expr string) func() *regexp.Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	if strings.HasSuffix(os.Args[0], ".test") {
		compiled()
	}
	return compiled
}
