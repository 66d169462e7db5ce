package script

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/gap"
)

// The commands of testscript that examine output are replaced by ours, so that a failure ends its
// part and not the script.

// errUsage is the error of a command with wrong arguments.
var errUsage = errors.New("usage")

func (s *script) cmdExamine(ts *testscript.TestScript, args []string) {
	look := map[string]func(*testscript.TestScript, gap.Line, []string) (string, string, error){
		"stdout": matches, "stderr": matches, "grep": matches, "cmp": compares, "cmpenv": compares, "exists": exists,
	}[s.now.Command]
	why, focus, err := look(ts, s.now, args)
	switch {
	case err == errUsage:
		s.usage(ts)
	case err != nil:
		s.misuse(ts, "%v", err)
	case why == "":
		return
	}
	s.focus = focus
	if name := s.missing(s.now.Text, s.req.Another); s.now.Command == "stdout" && name != "" && !s.now.Negated {
		s.fail(ts, Mapping, "the answer has no %s", name)
	}
	s.fail(ts, s.kind(), "%s", why)
}

// read returns what a name means to testscript: the last output or a file.
func read(ts *testscript.TestScript, name string) (text, why string) {
	if name == "stdout" || name == "stderr" {
		return ts.ReadFile(name), ""
	}
	b, err := os.ReadFile(ts.MkAbs(name))
	if err != nil {
		return "", strings.ReplaceAll(err.Error(), ts.MkAbs(name), name)
	}
	return string(b), ""
}

// matches returns why a text does not match a line of stdout, stderr or grep, or "" if it does, and
// the part of the output to show.
func matches(ts *testscript.TestScript, l gap.Line, args []string) (why, focus string, err error) {
	times := 0
	if count, ok := strings.CutPrefix(args[0], "-count="); ok {
		if times, err = strconv.Atoi(count); err != nil || times < 1 || l.Negated {
			return "", "", errUsage
		}
		args = args[1:]
	}
	name := l.Command
	switch {
	case name == "grep" && len(args) == 2:
		name = args[1]
	case name == "grep" || len(args) != 1:
		return "", "", errUsage
	}
	re, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return "", "", err
	}
	text, why := read(ts, name)
	if l.Command == "grep" {
		focus = text
	}
	found := re.FindAllString(text, -1)
	switch {
	case why != "":
	case l.Negated && len(found) > 0:
		why = fmt.Sprintf("unexpected match for %#q found in %s: %s", args[0], name, found[0])
	case !l.Negated && len(found) == 0:
		why = fmt.Sprintf("no match for %#q found in %s", args[0], name)
	case times > 0 && len(found) != times:
		why = fmt.Sprintf("have %d matches for %#q, want %d", len(found), args[0], times)
	}
	return why, focus, nil
}

// compares is [matches] for a line of cmp or cmpenv.
func compares(ts *testscript.TestScript, l gap.Line, args []string) (why, focus string, err error) {
	if args[0] == args[1] {
		return "", "", fmt.Errorf("%s: cannot compare a file against itself", l.Command)
	}
	got, whyNot := read(ts, args[0])
	want, why := read(ts, args[1])
	if l.Command == "cmpenv" {
		want = os.Expand(want, ts.Getenv)
	}
	switch {
	case whyNot != "":
		why = whyNot
	case why != "":
	case l.Negated && got == want:
		why = fmt.Sprintf("%s and %s do not differ", args[0], args[1])
	case !l.Negated && got != want:
		why = fmt.Sprintf("%s and %s differ", args[0], args[1])
	}
	return why, string(diff.Diff(args[0], []byte(got), args[1], []byte(want))), nil
}

// exists is [matches] for a line of exists.
func exists(ts *testscript.TestScript, l gap.Line, args []string) (why, focus string, err error) {
	readonly := args[0] == "-readonly"
	if readonly {
		args = args[1:]
	}
	if len(args) == 0 {
		return "", "", errUsage
	}
	for _, name := range args {
		info, err := os.Stat(ts.MkAbs(name))
		switch {
		case err == nil && l.Negated && info.IsDir():
			return "directory " + name + " unexpectedly exists", "", nil
		case err == nil && l.Negated:
			return "file " + name + " unexpectedly exists", "", nil
		case err != nil && !l.Negated:
			return name + " does not exist", "", nil
		case err == nil && readonly && info.Mode()&0o222 != 0:
			return name + " exists but is writable", "", nil
		}
	}
	return "", "", nil
}
