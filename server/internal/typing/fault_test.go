package typing

import (
	"errors"
	"strings"
	"testing"

	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
	"tmuxmcp/tmux/shell"
)

// TestFaultOf has every kind of error of packages prompt and shell. Three kinds mean one thing
// before a command is typed and another one after.
func TestFaultOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	seen := []string{"a line"}
	for _, c := range []struct {
		err              error
		kind, text, hint string
	}{
		{prompt.State{ID: "%1", Dead: true}.Refusal(), "Refused", "the program in pane %1 has ended", "respawn_pane starts it again"},
		{&shell.Error{Kind: shell.ErrPaneEnded, Pane: "%1", Text: "ended before", Typed: true}, "pane_gone", "ended before", ""},
		{prompt.State{ID: "%1", InMode: true, Mode: "copy-mode"}.Refusal(), "Refused", "pane %1 is in copy-mode, which would take the keys", "exit_copy_mode leaves it"},
		{prompt.State{ID: "%1", Off: true}.Refusal(), "Refused", "the input of pane %1 is off, so keys would be lost", "use another pane, or ask the user to turn it on with tmux select-pane -e"},
		{&prompt.Error{Kind: prompt.ErrNoShell, Pane: "%1", Program: "ssh"}, "Refused", "pane %1 runs ssh: what is behind it cannot be seen", "if the pane shows a shell's prompt, say with remote which shell it is, or sh: " + runner.RemoteShells},
		{&prompt.Error{Kind: prompt.ErrNoShell, Pane: "%1", Program: "vim"}, "Refused", "pane %1 runs vim, and run_command types only at the prompt of a shell: " + runner.Shells, "send_keys types into the program, wait_for_text waits for it, and another pane can run the command; if the program leads to another shell, as ssh does, name that with remote"},
		{&prompt.Error{Kind: prompt.ErrNoRemote, Pane: "%1", Program: "vim", Why: "it is full"}, "Refused", "pane %1 runs vim, behind which there is no remote shell: it is full", "leave out remote at the prompt of a local shell; send_keys types into other programs"},
		{&shell.Error{Kind: shell.ErrNoRemote, Pane: "%1", Program: "ssh", Text: "nothing has run", Screen: seen}, "not_begun", "nothing has run", "snapshot_pane shows the pane: remote is for a shell's prompt behind another program; without it the command runs in the pane's own shell, and send_keys types into anything; the pane shows:\na line"},
		{&prompt.Error{Kind: prompt.ErrBusy, Pane: "%1", Program: "ssh", Why: "no prompt"}, "Refused", "pane %1, which runs ssh, shows no empty prompt: no prompt", "wait_for_text waits for a prompt; send_keys types anyway: C-u deletes what is typed, and Enter shows a new prompt"},
		{&prompt.Error{Kind: prompt.ErrBusy, Pane: "%1", Program: "bash"}, "Refused", "bash in pane %1 is busy: it shows no prompt", "wait_for_text waits for the prompt; send_keys types anyway: Enter shows one that the output of a job in the background hides"},
		{&prompt.Error{Kind: prompt.ErrUnseen, Pane: "%1", Text: "unseen", Err: cause}, "Refused", "unseen: the cause", "send_keys types into it"},
		{&shell.Error{Kind: shell.ErrUnseen, Text: "unseen"}, "Refused", "unseen", "send_keys types, wait_for_text waits; or run tmux-mcp where tmux runs"},
		{&shell.Error{Kind: shell.ErrNotBegun, Pane: "%1", Text: "it waits", Screen: seen, Held: true}, "not_begun", "it waits", "the terminal holds back the shell's output, as after C-s: send_keys with C-q lets it go on; the pane shows:\na line"},
		{&shell.Error{Kind: shell.ErrNotBegun, Pane: "%1", Text: "it waits", Screen: seen}, "not_begun", "it waits", "if C-s has stopped the output, send_keys with C-q lets it go on; the pane shows:\na line"},
		{&shell.Error{Kind: shell.ErrNotBegun, Pane: "%1", Text: "it waits", Screen: seen, Idle: true}, "not_begun", "it waits", "the pane shows:\na line"},
		{&shell.Error{Kind: shell.ErrNotBegun, Pane: "%1", Text: "it waits", Err: cause}, "", "the cause", ""},
		{&shell.Error{Kind: shell.ErrNotBegun, Text: "it waits", Err: &shell.Error{Kind: shell.ErrPaneEnded, Text: "ended before", Typed: true}}, "pane_gone", "ended before", ""},
		{&shell.Error{Kind: shell.ErrNoDir, Pane: "%1", Text: "it has not run", Err: cause}, "ValidationError", "cwd must be a directory: the cause", ""},
		{&shell.Error{Kind: tmux.ErrArgument, Pane: "%1", Text: "no"}, "Refused", "no", "leave it out, or run the command without keep"},
		{&shell.Error{Kind: shell.ErrLost, Pane: "%1", Text: "no"}, "Refused", "no", "capture_pane shows what it printed"},
		{&shell.Error{Kind: shell.ErrUnreadable, Pane: "%1", Text: "no"}, "Refused", "no", "say with remote which shell it is: " + runner.RemoteShells},
		{&shell.Error{Kind: shell.ErrNoSpace, Pane: "%1", Text: "no"}, "Refused", "no", "free some space there, or set XDG_RUNTIME_DIR to a directory of yours that has some and start this server again"},
		{&shell.Error{Kind: shell.ErrNoHome, Pane: "%1", Text: "no"}, "Refused", "no", "mend one of these, or set XDG_RUNTIME_DIR to a directory of your own with mode 0700 and start this server again"},
		{&shell.Error{Kind: shell.ErrNoJob, Text: "no"}, "ObjectNotFound", "no", "list_jobs lists the jobs; one is forgotten an hour after its end, when its tmux server ends, or, if nobody has found it by then, once run_command has returned all of it"},
		{&shell.Error{Kind: shell.ErrServerEnded, Text: "no"}, "ObjectNotFound", "no", "list_jobs lists those of the server that runs there now"},
		{&shell.Error{Kind: shell.ErrServerReplaced, Pane: "%1", Text: "no"}, "Refused", "no", "the user can end that server, or look at the job's pane %1 in a terminal that is attached to it"},
		{&shell.Error{Kind: shell.ErrOtherServer, Pane: "%1", Text: "no"}, "Refused", "no", "give the socket_name of that server; if that has ended, so has the job"},
		{cause, "", "the cause", ""},
	} {
		err := FaultOf(c.err)
		var f *reply.Fault
		kind, text := "", err.Error()
		if errors.As(err, &f) {
			kind, text = f.Kind, f.Text()
		}
		if want := strings.TrimSuffix(c.text+"\n"+c.hint, "\n"); kind != c.kind || text != want {
			t.Errorf("%#v: %s, %q, want %s, %q", c.err, kind, text, c.kind, want)
		}
	}
}
