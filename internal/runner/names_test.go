package runner

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
				cmd, err := f.Command(Place{}, Way{}, true, false)
				ok(t, err)
				ok(t, cmd.Write(shell, `/bin/echo ran; /bin/sh -c "exit 7"`))
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

// TestOptionsOfTheShell: a command runs with the options of its shell.
func TestOptionsOfTheShell(t *testing.T) {
	f := ownFiles(t)
	bash := []string{":", "set -o posix", "set -e", "shopt -u sourcepath interactive_comments", "shopt -s expand_aliases", "shopt -s inherit_errexit nullglob"}
	for _, c := range []struct {
		shell, show string
		setups      []string
	}{
		{"bash", "shopt; shopt -o", bash},
		{"zsh", `builtin print -l "${(@kv)options}"; typeset -m "_tmux*"`, []string{":", "setopt noaliases", "setopt ksharrays nounset", "setopt posixaliases errexit"}},
		{"dash", "set -o", []string{":", "set -e"}},
		{"ksh", "set -o", []string{":", "set -e"}},
		{"mksh", "set -o", []string{":", "set -e"}},
	} {
		t.Run(c.shell, func(t *testing.T) {
			path := testtool.Path(t, c.shell)
			for _, setup := range c.setups {
				cmd, err := f.Command(Place{}, Way{}, true, false)
				ok(t, err)
				ok(t, cmd.Write(Foreground{Name: c.shell, shell: dialects[c.shell], path: path}, c.show))
				args := []string{"-c", fmt.Sprintf("%s\n(%s)\necho then\n%s", setup, c.show, strings.TrimSuffix(cmd.Line(Foreground{shell: dialects[c.shell]}), "\r"))}
				if c.shell == "zsh" {
					args[0] = "-fc"
				}
				out, _ := exec.Command(path, args...).CombinedOutput()
				own, rest, _ := strings.Cut(string(out), "then\n")
				lines, _, marked := cmd.Between(strings.Split(rest, "\n"))
				if diff := cmp.Diff(strings.Split(strings.TrimSpace(own), "\n"), lines); diff != "" || !marked {
					t.Errorf("%s: marked %t; options (-shell +command):\n%s", setup, marked, diff)
				}
				cmd.Remove()
			}
		})
	}
}
