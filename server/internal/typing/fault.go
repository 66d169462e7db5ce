package typing

import (
	"errors"
	"slices"
	"strings"

	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
	"tmuxmcp/tmux/shell"
)

// faults has, for the kinds of errors of which that is all, the type of the fault and what to
// do instead.
var faults = map[error]struct{ kind, suggestion string }{
	prompt.ErrInMode:     {reply.KindRefused, "exit_copy_mode leaves it"},
	prompt.ErrInputOff:   {reply.KindRefused, "use another pane, or ask the user to turn it on with tmux select-pane -e"},
	tmux.ErrArgument:     {reply.KindRefused, "leave it out, or run the command without keep"},
	shell.ErrLost:        {reply.KindRefused, "capture_pane shows what it printed"},
	shell.ErrUnreadable:  {reply.KindRefused, "say with remote which shell it is: " + runner.RemoteShells},
	shell.ErrNoSpace:     {reply.KindRefused, "free some space there, or set XDG_RUNTIME_DIR to a directory of yours that has some and start this server again"},
	shell.ErrNoHome:      {reply.KindRefused, "mend one of these, or set XDG_RUNTIME_DIR to a directory of your own with mode 0700 and start this server again"},
	shell.ErrNoJob:       {reply.KindNotFound, "list_jobs lists the jobs; one is forgotten an hour after its end, when its tmux server ends, or, if nobody has found it by then, once run_command has returned all of it"},
	shell.ErrServerEnded: {reply.KindNotFound, "list_jobs lists those of the server that runs there now"},
	shell.ErrOtherServer: {reply.KindRefused, "give the socket_name of that server; if that has ended, so has the job"},
}

// FaultOf returns the fault for an error of packages prompt and shell; other errors as they are.
func FaultOf(err error) error {
	var e *prompt.Error
	if !errors.As(err, &e) {
		return err
	}
	f := reply.Faultf(reply.KindRefused, "%s", e.Error())
	program := reply.Named(e.Program, "")
	switch e.Kind {
	case prompt.ErrEnded:
		if e.Typed {
			f.Kind = reply.KindPaneGone
			return f
		}
		return f.Suggest("respawn_pane starts it again")
	case prompt.ErrNoShell:
		if slices.Contains(away, e.Program) {
			return reply.Faultf(reply.KindRefused, "pane %s runs %s: what is behind it cannot be seen", e.Pane, program).
				Suggest("if the pane shows a shell's prompt, say with remote which shell it is, or sh: %s", runner.RemoteShells)
		}
		return reply.Faultf(reply.KindRefused, "pane %s runs %s, and run_command types only at the prompt of a shell: %s", e.Pane, program, runner.Shells).
			Suggest("send_keys types into the program, wait_for_text waits for it, and another pane can run the command; if the program leads to another shell, as ssh does, name that with remote")
	case prompt.ErrNoRemote:
		if e.Why != "" {
			return reply.Faultf(reply.KindRefused, "pane %s runs %s, behind which there is no remote shell: %s", e.Pane, program, e.Why).
				Suggest("leave out remote at the prompt of a local shell; send_keys types into other programs")
		}
		f.Kind = reply.KindNotBegun
		return f.Suggest("snapshot_pane shows the pane: remote is for a shell's prompt behind another program; without it the command runs in the pane's own shell, and send_keys types into anything").
			Showing("the pane shows", e.Screen)
	case prompt.ErrBusy:
		if e.Why != "" {
			return reply.Faultf(reply.KindRefused, "pane %s, which runs %s, shows no empty prompt: %s", e.Pane, program, e.Why).
				Suggest("wait_for_text waits for a prompt; send_keys types anyway: C-u deletes what is typed, and Enter shows a new prompt")
		}
		return reply.Faultf(reply.KindRefused, "%s in pane %s is busy: it shows no prompt", program, e.Pane).
			Suggest("wait_for_text waits for the prompt; send_keys types anyway: Enter shows one that the output of a job in the background hides")
	case prompt.ErrUnseen:
		if e.Pane == "" { // nothing on this tmux server can be seen
			return f.Suggest("send_keys types, wait_for_text waits; or run tmux-mcp where tmux runs")
		}
		return f.Suggest("send_keys types into it")
	case shell.ErrNotBegun:
		if e.Err != nil {
			return FaultOf(e.Err)
		}
		f.Kind = reply.KindNotBegun
		switch {
		case e.Held:
			f = f.Suggest("the terminal holds back the shell's output, as after C-s: send_keys with C-q lets it go on")
		case !e.Idle: // what it does may not be known
			f = f.Suggest("if C-s has stopped the output, send_keys with C-q lets it go on")
		}
		return f.Showing("the pane shows", e.Screen)
	case shell.ErrNoDir:
		return reply.Argument("cwd", "must be a directory: %v", e.Err)
	case shell.ErrServerReplaced:
		return f.Suggest("the user can end that server, or look at the job's pane %s in a terminal that is attached to it", e.Pane)
	}
	if other, ok := faults[e.Kind]; ok {
		f.Kind, f.Suggestion = other.kind, other.suggestion
	}
	return f
}

// away are programs behind which a shell may run where this server cannot see it.
var away = strings.Fields("ssh autossh slogin telnet et docker podman nerdctl kubectl oc lxc incus nsenter machinectl vagrant multipass sudo doas su script adb")
