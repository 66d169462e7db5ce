package tools

import (
	"context"
	"strconv"
	"strings"

	"tmuxmcp/server/internal/jobs"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux/shell"
)

func runCommand(k *typing.Keyboard, r *jobs.Runner, st *launch.Starter) *tool.Tool {
	return typing.Tool(k, tool.Decl{
		Name: "run_command", Title: "Run Command", Kind: tool.Shell, Set: tool.Input, Core: true, SelfBounded: true, AlwaysLoad: true,
		Aim:  target.Need(target.Pane),
		Hint: "start a dev server and wait until it is ready",
		Desc: "Run a shell command in a pane, wait until it ends, and return its output and exit status: builds, tests, git. " +
			"To start a dev server use ready: returns once it is, or has ended. To activate a venv, cd or export use keep; otherwise nothing lasts. " +
			"At a shell's prompt; behind ssh or docker exec with remote. " +
			"After ready or the timeout it goes on as a job: see get_job. In several panes: detach, in a batch.",
		Defaults: map[string]string{"suppress_history": strconv.FormatBool(!r.Record)},
	}, func(ctx context.Context, t *typing.Typist, on target.Object, in runCommandIn) (*jobs.Result, error) {
		limit, err := k.Screens.Budget(in.Timeout, "a command that takes longer goes on as a job, as with detach")
		if err != nil {
			return nil, err
		}
		if in.Remote == "" && (in.Cwd == "~" || strings.HasPrefix(in.Cwd, "~/")) {
			if in.Cwd, err = st.Path(in.Cwd); err != nil {
				return nil, err
			}
		}
		cmd := jobs.Command{Text: in.Command, Limit: limit, Detach: in.Detach, Dir: in.Cwd, Keep: in.Keep, Remote: shell.Remote(in.Remote), Record: r.Record && in.Remote == "", Output: in.Output}
		if in.SuppressHistory != nil {
			cmd.Record = !*in.SuppressHistory
		}
		return r.Run(ctx, t, on, cmd)
	})
}

type runCommandIn struct {
	Command string `json:"command" desc:"command line or script"`
	target.SelectPane
	Remote  string  `json:"remote,omitempty" enum:"sh,bash,zsh,ksh,mksh,dash,busybox,fish" desc:"shell behind ssh, su; sh: any"`
	Cwd     string  `json:"cwd,omitempty" desc:"directory"`
	Keep    bool    `json:"keep,omitempty" desc:"cd, export, functions last"`
	Timeout float64 `json:"timeout" default:"30" desc:"seconds"`
	Detach  bool    `json:"detach,omitempty" desc:"return a job_id at once"`
	jobs.Output
	SuppressHistory *bool `json:"suppress_history,omitempty" desc:"keep out of history"`
	target.OnSocket
}

func (in runCommandIn) Waits() bool { return !in.Detach }

func (in *runCommandIn) Check(tool.Limits) error {
	switch what, why := shell.Invalid(in.Command, in.Cwd); {
	case what == "directory":
		return reply.Argument("cwd", "%s", why)
	case what != "":
		return reply.Argument(what, "%s", why)
	case in.Cwd != "" && in.Keep:
		return reply.Argument("cwd", "is only for a command without keep: with it, begin the command with cd")
	case in.Keep && (in.Remote == "sh" || in.Remote == "fish"):
		return reply.Argument("keep", "is not for the remote shells sh and fish, whose commands run in a new shell: begin the command with cd or export, or name the shell that it is")
	case in.Remote != "" && in.SuppressHistory != nil && !*in.SuppressHistory:
		return reply.Argument("suppress_history", "must be true for a remote shell, whose history cannot be changed")
	case in.Detach && in.Awaits():
		return reply.Argument("detach", "does not wait: leave it out, or ready and stop")
	}
	return in.Output.Check()
}
