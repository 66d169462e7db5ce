package script

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
)

// recorder is the T that testscript runs a script with.
type recorder struct {
	verbose    bool
	log        []string
	failed     bool
	skipped    bool
	skipReason string
	panicked   any
}

// text returns the transcript of the script, without what instrument added and without the
// variables that a verbose one starts with.
func (t *recorder) text() string {
	log := strings.Join(t.log, "\n")
	if at := begun.FindStringIndex(log); at != nil {
		log = log[at[0]:]
	}
	lines := slices.DeleteFunc(strings.SplitAfter(log, "\n"), func(l string) bool {
		return strings.HasPrefix(l, "WORK=") || strings.TrimSpace(l) == ""
	})
	return instrumented.ReplaceAllString(strings.Join(lines, ""), "$1")
}

// begun matches the beginning of the script in a transcript.
var begun = regexp.MustCompile(`(?m)^[#>]`)

func (t *recorder) Log(args ...any) {
	t.log = append(t.log, report.Clip(fmt.Sprint(args...), 2*child.MaxOutput))
}
func (t *recorder) Parallel()     {}
func (t *recorder) Verbose() bool { return t.verbose }
func (t *recorder) FailNow()      { t.failed = true; runtime.Goexit() }

func (t *recorder) Fatal(args ...any) {
	t.Log(args...)
	t.FailNow()
}

func (t *recorder) Skip(args ...any) {
	t.skipped, t.skipReason = true, strings.TrimSpace(fmt.Sprintln(args...))
	runtime.Goexit()
}

// Run calls f in its own goroutine, which FailNow and Skip end.
func (t *recorder) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				t.panicked = r
			}
		}()
		f(t)
	}()
	<-done
}
