package runner

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// TestEndsIn: a command that turns on errexit is known by its text.
func TestEndsIn(t *testing.T) {
	for command, want := range map[string]bool{
		"set -e": true, "set -eu; make": true, "set -u -e": true, "set -euo pipefail": true, "set -o errexit": true,
		"cd /x && set -e\nmake": true, "if true; then set -e; fi": true, "{ set -e; }": true, "builtin set -e": true, "setopt errexit": true, "setopt nomatch ERR_EXIT": true,
		"set +e": false, "set -u": false, "set -o pipefail": false, "set -- -e": false, "set x -e": true, "echo set -e": false, "grep -e x": false,
		"setx -e": false, "offset -e": false, "set -x": false, "make set-e": false, "": false,
	} {
		if got := (Foreground{shell: dialects["bash"]}).EndsIn(command); got != want {
			t.Errorf("%q: %t", command, got)
		}
		if (Foreground{shell: dialects["fish"]}).EndsIn(command) {
			t.Errorf("fish, which erases variables with set -e: %q", command)
		}
	}
}

// TestLastingNames: functions and traps of the shell have no effect on what surrounds a lasting
// command, and it leaves nothing behind but its own changes.
func TestLastingNames(t *testing.T) {
	f := ownFiles(t)
	names := "printf test read set kill trap eval unset typeset alias unalias"
	functions := ""
	for name := range strings.FieldsSeq(names) {
		functions += name + "() { /bin/echo WRONG; }; "
	}
	for _, c := range []struct {
		shell  string
		args   []string
		setups []string
	}{
		{"bash", []string{"-c"}, []string{":", functions, "trap '/bin/echo WRONG' ERR; trap - ERR", "set -o posix", "set -C", "set -u"}},
		{"zsh", []string{"-fc"}, []string{":", functions, "setopt noclobber nounset ksharrays", "setopt errexit"}},
		{"dash", []string{"-c"}, []string{":", "test() { /bin/echo WRONG; }; printf() { /bin/echo WRONG; }", "set -C", "set -u"}},
		{"ksh", []string{"-c"}, []string{":", "test() { /bin/echo WRONG; }; printf() { /bin/echo WRONG; }", "set -C", "set -u"}},
		{"mksh", []string{"-c"}, []string{":", "test() { /bin/echo WRONG; }; printf() { /bin/echo WRONG; }", "set -C", "set -u"}},
		{"busybox", []string{"sh", "-c"}, []string{":", "test() { /bin/echo WRONG; }; printf() { /bin/echo WRONG; }", "set -C", "set -u"}},
	} {
		t.Run(c.shell, func(t *testing.T) {
			path := testtool.Path(t, c.shell)
			shell := Foreground{Name: c.shell, shell: dialects[strings.Replace(c.shell, "busybox", "ash", 1)], path: path}
			for _, setup := range c.setups {
				cmd, err := f.Command(Place{}, Way{Lasting: true}, true, false)
				ok(t, err)
				ok(t, cmd.Write(shell, "/bin/echo ran; kept=1; cd /; /bin/sh -c 'exit 7'"))
				show := `code=$?; /bin/echo "after $kept $PWD $code $(set | grep -c '^_tmux_mcp')"`
				line := strings.TrimSuffix(cmd.Line(shell), "\r")
				out, _ := exec.Command(path, append(c.args, setup+"\n"+line+"\n"+show)...).CombinedOutput()
				lines, begun, marked := cmd.Between(strings.Split(string(out), "\n"))
				s := cmd.Look()
				shows := slices.Contains(strings.Split(string(out), "\n"), "after 1 / 7 0") || strings.Contains(setup, "errexit")
				if s.Phase != Ended || s.Status != 7 || !begun || !marked || strings.Join(lines, "|") != "ran" || !shows {
					t.Errorf("%s: %+v, begun %t, marked %t, between the marks %q:\n%s", setup, s, begun, marked, lines, out)
				}
				cmd.Remove()
			}
		})
	}
}
