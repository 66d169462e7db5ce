package cli

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"tmuxmcp/internal/terminal"
	"tmuxmcp/server"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/watch"
)

func watchCommand(o *options) *cobra.Command {
	var w watch.Options
	var once, noBell, noMessage bool
	var states []string
	all := []string{string(agents.Working), string(agents.Asks), string(agents.Idle), string(agents.Ended), string(agents.Unknown)}
	c := &cobra.Command{
		Use:   "watch",
		Short: "Watch what the agents in panes are doing",
		Long: `Watch shows a line for each agent, with its pane, state, since when, and what it
asks: on a terminal as a table, otherwise as a line for each change. A table
begins with those that ask, and in a narrow pane leaves columns out. When an
agent comes to ask something or becomes idle, it rings the terminals of the
clients that are attached, shows a message in their status lines, and runs the
command of --exec. A change counts when two looks have seen it.

It looks once a second, and asks tmux only if something may have changed, since
tmux logs each command for show-messages. Apart from bells and messages it
changes nothing. A bell is rung only on a terminal that is proven to be yours
and the client's, on Linux; if there is none, on that of watch.

The command of --exec is run by sh, with what it is about in TMUX_MCP_PANE,
TMUX_MCP_PLACE, TMUX_MCP_AGENT, TMUX_MCP_STATE and TMUX_MCP_QUESTION, and the
tmux server in TMUX_MCP_SOCKET_PATH. What it prints goes to standard error;
below a table, the last line of it is shown and, if the command fails, the exit
status. It is killed with its process group after 30 seconds, or when watch
ends; what it has put into a session of its own, as setsid does, is left. The
question is text from a screen: put "$TMUX_MCP_QUESTION" in quotes, after --
where it could be an option, and never in eval.

The exit code is 0 after Ctrl-C, SIGTERM or --once, even if there is no tmux
server, and 1 if standard output is closed.`,
		Example: `  tmux-mcp watch
  tmux-mcp watch --exec 'notify-send -- "$TMUX_MCP_AGENT $TMUX_MCP_STATE" "$TMUX_MCP_QUESTION"'
  tmux-mcp watch --once --state asks`,
		Args: usage(terminal.NoSuchCommand),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range states {
				if !slices.Contains(all, s) {
					return usageError{fmt.Errorf("--state: unknown state %q: want working, asks, idle, ended or unknown", s)}
				}
				w.States = append(w.States, agents.State(s))
			}
			cfg, err := o.config(cmd)
			if err != nil {
				return err
			}
			srv, finder, err := server.Agents(cfg)
			if err != nil {
				return err
			}
			w.Bell, w.Message = !noBell, !noMessage
			w.Out, w.Err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			w.Color = terminal.Color(w.Out)
			w.Env = append(server.WithoutSocket(os.Environ()), "TMUX_MCP_SOCKET_PATH="+srv.SocketPath())
			ctx := cmd.Context()
			if once {
				return watch.Once(ctx, srv, finder, w)
			}
			if !signal.Ignored(syscall.SIGHUP) { // as by nohup
				var stop func()
				ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
				defer stop()
			}
			return watch.Run(ctx, srv, finder, w)
		},
	}
	f := c.Flags()
	f.BoolVar(&once, "once", false, "print what the agents are doing now, and exit")
	f.BoolVar(&w.JSON, "json", false, "print a line of JSON for each change, or with --once for each agent (docs/using.md describes it)")
	f.StringSliceVar(&states, "state", nil, "print and announce only these `states`, with commas: working, asks, idle, ended, unknown (default: print all, announce asks and idle)")
	f.StringVar(&w.Exec, "exec", "", "run this `command` too when something is announced")
	f.BoolVar(&noBell, "no-bell", false, "ring no bell")
	f.BoolVar(&noMessage, "no-message", false, "show no message in status lines")
	if err := c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
	return c
}
