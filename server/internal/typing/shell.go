package typing

import (
	"context"
	"errors"
	"slices"
	"strings"

	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// Shell returns the shell of a pane that was looked at, to be typed into at its prompt.
func (t *Typist) Shell(pane prompt.Pane) *prompt.Shell {
	return &prompt.Shell{Tmux: t.Tmux, Type: t.TypeCommands, Pane: pane, Wait: t.keyboard.PromptWait}
}

// TypeCommands is a [prompt.Typist]: what the commands make appear is the echo of a command
// of run_command. What is typed follows from what the pane shows, so it does not wait for
// somebody else who types there, but fails: see [Alone].
func (t *Typist) TypeCommands(ctx context.Context, pane tmux.PaneID, shows []string, commands []tmux.Command) (row int, sent bool, err error) {
	w := turnOf(t, fails)
	if shows == nil { // keys that may discard a line
		w.interrupting(pane)
	}
	what := screen.Echo{Lines: shows, Command: shows != nil}
	_, err = t.typeBursts(ctx, w, target.AtPane(pane), what, atOnce(func(tmux.Target) ([]tmux.Command, error) { return commands, nil }))
	var refused *reply.Fault
	return t.row, !errors.As(err, &refused), err
}

// FaultOf returns the fault for an error of package prompt; other errors as they are.
func FaultOf(err error) error {
	var e *prompt.Error
	if !errors.As(err, &e) {
		return err
	}
	f := reply.Faultf(reply.KindRefused, "%s", e.Error())
	program := reply.Named(e.Program, "")
	switch e.Kind {
	case prompt.ErrEnded:
		return f.Suggest("respawn_pane starts it again")
	case prompt.ErrInMode:
		return f.Suggest("exit_copy_mode leaves it")
	case prompt.ErrInputOff:
		return f.Suggest("use another pane, or ask the user to turn it on with tmux select-pane -e")
	case prompt.ErrNoShell:
		if slices.Contains(away, e.Program) {
			return reply.Faultf(reply.KindRefused, "pane %s runs %s: what is behind it cannot be seen", e.Pane, program).
				Suggest("if the pane shows a shell's prompt, say with remote which shell it is, or sh: %s", runner.RemoteShells)
		}
		return reply.Faultf(reply.KindRefused, "pane %s runs %s, and run_command types only at the prompt of a shell: %s", e.Pane, program, runner.Shells).
			Suggest("send_keys types into the program, wait_for_text waits for it, and another pane can run the command; if the program leads to another shell, as ssh does, name that with remote")
	case prompt.ErrNoRemote:
		return reply.Faultf(reply.KindRefused, "pane %s runs %s, behind which there is no remote shell: %s", e.Pane, program, e.Why).
			Suggest("leave out remote at the prompt of a local shell; send_keys types into other programs")
	case prompt.ErrBusy:
		if e.Why != "" {
			return reply.Faultf(reply.KindRefused, "pane %s, which runs %s, shows no empty prompt: %s", e.Pane, program, e.Why).
				Suggest("wait_for_text waits for a prompt; send_keys types anyway: C-u deletes what is typed, and Enter shows a new prompt")
		}
		return reply.Faultf(reply.KindRefused, "%s in pane %s is busy: it shows no prompt", program, e.Pane).
			Suggest("wait_for_text waits for the prompt; send_keys types anyway: Enter shows one that the output of a job in the background hides")
	default:
		return f.Suggest("send_keys types into it")
	}
}

// away are programs behind which a shell may run where this server cannot see it.
var away = strings.Fields("ssh autossh slogin telnet et docker podman nerdctl kubectl oc lxc incus nsenter machinectl vagrant multipass sudo doas su script adb")
