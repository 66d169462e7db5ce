package typing

import (
	"context"
	"errors"

	"tmuxmcp/internal/prompt"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
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

// ByKeys says how to run a command at the prompt of a shell that run_command does not reach.
const ByKeys = `send_keys with "COMMAND; echo status=$?", patterns ["status=\\d"] and regex=true returns the output and the status`

// FaultOf returns the fault for an error of package prompt; other errors as they are.
func FaultOf(err error) error {
	var e *prompt.Error
	if !errors.As(err, &e) {
		return err
	}
	f := reply.Faultf(reply.KindRefused, "%s", e.Error())
	program := reply.Named("", e.Program, "")
	switch e.Kind {
	case prompt.ErrEnded:
		return f.Suggest("respawn_pane starts it again")
	case prompt.ErrInMode:
		return f.Suggest("exit_copy_mode leaves it")
	case prompt.ErrInputOff:
		return f.Suggest("use another pane, or ask the user to turn it on with tmux select-pane -e")
	case prompt.ErrNoShell:
		f := reply.Faultf(reply.KindRefused, "pane %s runs %s, and run_command types only at the prompt of a shell: %s", e.Pane, program, runner.Shells)
		if how, leads := away[e.Program]; leads {
			return f.Suggest("at a shell's prompt there, %s; so does run_command in another pane with %s", ByKeys, how)
		}
		return f.Suggest("send_keys types into the program, wait_for_text waits for it, and another pane can run the command")
	case prompt.ErrBusy:
		return reply.Faultf(reply.KindRefused, "%s in pane %s is busy: it shows no prompt", program, e.Pane).
			Suggest("wait_for_text waits for the prompt; send_keys types anyway: Enter shows one that the output of a job in the background hides")
	default:
		return f.Suggest("send_keys types into it")
	}
}

// away are programs behind which a shell may run where this server cannot see it, as on another
// machine, with the command that runs one there.
var away = map[string]string{
	"ssh": "ssh HOST COMMAND", "autossh": "ssh HOST COMMAND", "mosh-client": "ssh HOST COMMAND", "slogin": "ssh HOST COMMAND",
	"docker": "docker exec CONTAINER COMMAND", "podman": "podman exec CONTAINER COMMAND", "nerdctl": "nerdctl exec CONTAINER COMMAND",
	"kubectl": "kubectl exec POD -- COMMAND", "oc": "oc exec POD -- COMMAND",
	"lxc": "lxc exec CONTAINER -- COMMAND", "incus": "incus exec CONTAINER -- COMMAND",
	"sudo": "sudo COMMAND", "doas": "doas COMMAND", "su": "su USER -c COMMAND",
}
