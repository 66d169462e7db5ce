package runner

import (
	"os/exec"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// TestNamesThatAreTaken: whatever functions, aliases and traps a user has, a command runs
// once, with its output between the marks and its exit status recorded.
func TestNamesThatAreTaken(t *testing.T) {
	f := ownFiles(t)
	const regular = "printf test kill read echo history print "
	const special = "[ set trap unset exit exec eval export return : "
	functions := func(names string) (text string) {
		for name := range strings.FieldsSeq(names) {
			text += name + "() { /bin/echo WRONG; }\n"
		}
		return text
	}
	aliases := func(names string) (text string) {
		for name := range strings.FieldsSeq(names) {
			text += "alias " + name + "='/bin/echo WRONG'\n"
		}
		return text
	}
	traps := []string{"trap '/bin/echo WRONG' ERR DEBUG", "set -E; trap '/bin/echo WRONG' ERR"}
	posix := []string{functions(regular), functions("command"), aliases(regular + "command set trap unset exit")}
	for _, c := range []struct {
		shell  string
		args   []string
		setups []string
	}{
		{"bash", []string{"-O", "expand_aliases", "-c"}, append(traps, functions(regular+special), functions("builtin"), functions(regular+special+"builtin command"), aliases(regular+special+"builtin"), "set -o posix; "+functions("builtin"))},
		{"zsh", []string{"-fc"}, append(traps[:1:1], functions(regular+special), functions("builtin"), functions(regular+"builtin"), aliases(regular+"set trap unset exit exec eval export return builtin"), "TRAPZERR() { /bin/echo WRONG; }")},
		{"dash", []string{"-c"}, posix},
		{"sh", []string{"-c"}, posix},
		{"busybox", []string{"sh", "-c"}, posix},
		{"mksh", []string{"-c"}, append(posix, traps[0])},
		{"ksh", []string{"-c"}, append(posix, traps[0])},
		{"fish", []string{"-c"}, []string{"function printf; /bin/echo WRONG; end", "function builtin; /bin/echo WRONG; end"}},
	} {
		t.Run(c.shell, func(t *testing.T) {
			path := testtool.Path(t, c.shell)
			shell := Foreground{Name: c.shell, shell: dialects[strings.Replace(c.shell, "busybox", "ash", 1)], path: path}
			for _, setup := range append(c.setups, ":") {
				cmd, err := f.Command(Place{}, true, false)
				ok(t, err)
				ok(t, cmd.Write(shell, `/bin/echo ran; /bin/sh -c "exit 7"`, false))
				out, _ := exec.Command(path, append(c.args, setup+"\n"+strings.TrimSuffix(cmd.Line(shell), "\r"))...).CombinedOutput()
				lines, begun, marked := cmd.Between(strings.Split(string(out), "\n"))
				s := cmd.Look()
				if c.shell == "ksh" && strings.HasPrefix(setup, "command()") {
					if s.Phase != Waiting || begun || !cmd.Revoke() {
						t.Errorf("%s: it has begun:\n%s", setup, out)
					}
				} else if s.Phase != Ended || s.Status != 7 || !begun || !marked || strings.Join(lines, "|") != "ran" {
					t.Errorf("%s: %+v, begun %t, marked %t, between the marks %q:\n%s", setup, s, begun, marked, lines, out)
				}
				cmd.Remove()
			}
		})
	}
}
