package shell_test

import (
	"errors"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux/shell"
)

// An exit in a lasting command leaves a shell with errexit alive, which an interrupt ends in some.
func TestLastingExitWithErrexit(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"bash --norc --noprofile -e", "zsh -f -e", "dash -e", "ksh -e", "mksh -e", "busybox sh -e"} {
		name, _, _ := strings.Cut(start, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testtool.Path(t, name)
			pane, runner := inShell(t, "ENV= exec "+start), new(shell.Runner)
			var exit *shell.ExitError
			if res, err := runner.Run(testserver.Context(t), pane, "exit 3", shell.Options{Lasting: true}); !errors.As(err, &exit) || exit.Status != 3 || res.ShellEnded {
				t.Fatalf("%+v, %v", res, err)
			}
			if res, err := runner.Run(testserver.Context(t), pane, "echo lives", shell.Options{}); err != nil || res.Output != "lives\n" {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// The status of a command that is interrupted says so, also where a user has interrupted another
// one before: mksh then takes the status of a trap for it.
func TestInterruptAfterAnother(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"bash --norc --noprofile", "zsh -f", "dash", "ksh", "mksh", "busybox sh"} {
		name, _, _ := strings.Cut(start, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testtool.Path(t, name)
			pane, runner := inShell(t, "ENV= exec "+start), new(shell.Runner)
			keys := func(keys ...string) {
				testserver.Run(t, pane.Server(), "send-keys", append([]string{"-t", "%0"}, keys...)...)
			}
			_, err := runner.Run(testserver.Context(t), pane, "true", shell.Options{}) // it shows its prompt
			ok(t, err)
			keys("/bin/sleep 1000; echo unreached", "Enter")
			testserver.Wait(t, pane.Server(), "%0", "sleep", func() bool {
				return testserver.Run(t, pane.Server(), "display-message", "-p", "-t", "%0", "#{pane_current_command}") == "sleep"
			})
			keys("C-c")
			o := shell.Options{Stdout: writer(func(text string) {
				if strings.Contains(text, "ready") {
					keys("C-c")
				}
			})}
			want := 130
			if name == "ksh" {
				want = 2 // of a subshell that is interrupted
			}
			res, err := runner.Run(testserver.Context(t), pane, "sh -c 'echo ready; exec /bin/sleep 1000'", o)
			if res == nil || res.State != shell.Ended || res.Status != want {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}
