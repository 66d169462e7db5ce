package tools

import (
	"context"
	"strconv"
	"strings"

	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/jobs"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
)

func runCommand(k *typing.Keyboard, r *jobs.Runner, st *launch.Starter) *tool.Tool {
	return typing.Tool(k, tool.Decl{
		Name: "run_command", Title: "Run Command", Kind: tool.Shell, Set: tool.Input, Core: true, SelfBounded: true, AlwaysLoad: true,
		Aim:  target.Need(target.Pane),
		Hint: "start a dev server and wait until it is ready",
		Desc: "Run a shell command in a pane, wait until it ends, and return its output and exit status: builds, tests, git. " +
			"To start a dev server use ready: returns once it is, or has ended. To activate a venv, cd or export use keep; otherwise nothing lasts. " +
			"Only at the prompt of " + runner.Shells + ". " +
			"After ready or the timeout it goes on as a job: see get_job. In several panes: detach, in a batch.",
		Defaults: map[string]string{"suppress_history": strconv.FormatBool(!r.Record)},
	}, func(ctx context.Context, t *typing.Typist, on target.Object, in runCommandIn) (*jobs.Result, error) {
		limit, err := k.Screens.Budget(in.Timeout)
		if err != nil {
			return nil, err
		}
		if in.Cwd == "~" || strings.HasPrefix(in.Cwd, "~/") {
			if in.Cwd, err = st.Path(in.Cwd); err != nil {
				return nil, err
			}
		}
		cmd := jobs.Command{Text: in.Command, Limit: limit, Detach: in.Detach, Dir: in.Cwd, Keep: in.Keep, Record: r.Record, Output: in.Output}
		if in.SuppressHistory != nil {
			cmd.Record = !*in.SuppressHistory
		}
		return r.Run(ctx, t, on, cmd)
	})
}

type runCommandIn struct {
	Command string `json:"command" desc:"command line or script"`
	target.SelectPane
	Cwd     string  `json:"cwd,omitempty" desc:"directory"`
	Keep    bool    `json:"keep,omitempty" desc:"in the shell itself: cd, export, source, functions last"`
	Timeout float64 `json:"timeout" default:"30" desc:"seconds"`
	Detach  bool    `json:"detach,omitempty" desc:"do not wait: return a job_id"`
	jobs.Output
	SuppressHistory *bool `json:"suppress_history,omitempty" desc:"keep it out of the history"`
	target.OnSocket
}

func (in runCommandIn) Waits() bool { return !in.Detach }

func (in runCommandIn) Check(tool.Limits) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return reply.Argument("command", "must not be blank")
	case strings.IndexByte(in.Command, 0) >= 0:
		return reply.Argument("command", "must not have a NUL character")
	case strings.IndexByte(in.Cwd, 0) >= 0:
		return reply.Argument("cwd", "must not have a NUL character")
	case in.Cwd != "" && in.Keep:
		return reply.Argument("cwd", "is only for a command without keep: with it, begin the command with cd")
	case in.Detach && in.Awaits():
		return reply.Argument("detach", "does not wait: leave it out, or ready and stop")
	}
	return in.Output.Check()
}
