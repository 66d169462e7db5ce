// Package cli is the command line of tmux-mcp.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tmuxmcp/internal/terminal"
	"tmuxmcp/internal/version"
	"tmuxmcp/server"
	"tmuxmcp/server/internal/reply"
)

// Exit codes of Main.
const (
	exitFailed = 1 // the tool, or the server, failed
	exitUsage  = 2 // the command line or the environment is wrong
)

// options are the command-line flags other than those of [server.Settings].
type options struct {
	auditLog string
	pin      bool
	// noTranscripts is set by its flag.
	noTranscripts bool
	audit         *logWriter // of a file; nil without one
	// helpError is why a help could not be shown, which cobra has no place for.
	helpError error
}

// usageError is a mistake in the command line or the environment.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Main runs the command line and returns the exit code. setup may be nil.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, setup Setup) int {
	var o options
	log := newLogWriter(stderr, nil, false)
	root := command(&o, setup, stderr)
	stderr = log
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	shells := terminal.AddCompletion(root)
	for _, c := range append(shells.Commands(), shells) {
		terminal.ShowInherited(c).Args = usage(c.Args)
	}
	// If the client is gone, writes fail; the process must survive to clean up.
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) // a log at the limit of its size
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	cmd, err := root.ExecuteContextC(ctx)
	err = cmp.Or(err, o.helpError)
	stop()
	limit := logTime
	if cmd != root { // what a command prints is all that it is for
		limit = math.MaxInt64
	}
	defer func() {
		if o.audit != nil {
			o.audit.close(logTime)
		}
		log.close(limit)
	}()
	var failed toolFailed
	var usage usageError
	var printed interface{ PrintedExit() int }
	switch {
	case err == nil:
		return 0
	case errors.As(err, &printed):
		return printed.PrintedExit()
	case errors.As(err, &failed):
		return exitFailed // already printed
	case errors.Is(err, syscall.EPIPE):
		return exitFailed // the reader has seen enough
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "tmux-mcp: %v\n  see %s --help\n", err, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(stderr, "tmux-mcp: %v\n", err)
	if hint := server.TmuxHint(err); hint != "" {
		fmt.Fprintf(stderr, "tmux-mcp: %s\n", hint)
	}
	return exitFailed
}

// logTime is how long a server waits for its logs to be written when it ends.
const logTime = 50 * time.Millisecond

// Command returns the whole command, for its man page and completions.
func Command(setup Setup) *cobra.Command { return command(&options{}, setup, os.Stderr) }

func command(o *options, setup Setup, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "tmux-mcp",
		Short: "An MCP server over tmux",
		Long: `tmux-mcp lets an agent see and drive tmux. Without a command it is an MCP
server on standard input and output, which is how a client starts it.

Exit status: 0 at the end of input or if the command succeeds, 1 if the server
or a tool fails or doctor finds a problem, 2 if the command line or the
environment is wrong.`,
		Example: `  tmux-mcp -L work --safety readonly
  tmux-mcp call list_panes '{"filters": {"pane_current_command": "vim"}}'
  tmux-mcp setup`,
		Args: usage(terminal.NoSuchCommand),
		RunE: func(cmd *cobra.Command, _ []string) error {
			leavePlugin()
			cfg, err := o.config(cmd)
			if err != nil {
				return err
			}
			s, err := server.New(cfg)
			if err != nil {
				return err
			}
			if terminal.Is(cmd.InOrStdin()) {
				fmt.Fprintln(cmd.ErrOrStderr(), "tmux-mcp: this is an MCP server, for a client to start; see tmux-mcp --help for its other commands")
			}
			// The first collection is due while the client lists the tools. It is put off until it
			// is quiet, and gives back what start has used.
			percent := debug.SetGCPercent(200)
			defer time.AfterFunc(time.Second, func() {
				debug.SetGCPercent(percent)
				debug.FreeOSMemory()
			}).Stop()
			return s.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
		SilenceErrors: true, SilenceUsage: true,
	}
	terminal.ShowVersion(root, version.String())
	terminal.FitHelp(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	terminal.SuggestFlags(root, map[string]string{"server": "name", "cli": "client"}) // of mcp-swap, for setup
	terminal.Instead(root, map[string]string{
		"install": "tmux-mcp setup", "uninstall": "tmux-mcp setup --uninstall", "remove": "tmux-mcp setup --uninstall",
		"detect": "mcp-swap detect", "status": "mcp-swap status --server tmux", "verify": "mcp-swap verify --server tmux", "revert": "mcp-swap revert --server tmux",
	})
	f := root.PersistentFlags()
	for _, setting := range server.Settings() {
		if setting.Flag == "" {
			continue
		}
		f.StringP(setting.Flag, setting.Short, "", setting.Usage)
		if setting.Values == nil {
			continue
		}
		if err := root.RegisterFlagCompletionFunc(setting.Flag, cobra.FixedCompletions(setting.Values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err)
		}
	}
	f.BoolVar(&o.pin, "pin", false, "refuse calls that name another socket")
	f.BoolVar(&o.noTranscripts, "no-transcripts", false, "do not read the transcripts that coding agents write")
	f.StringVar(&o.auditLog, "audit-log", "", "append a JSON record of each call to this `file`; - is standard error")
	if setup != nil {
		root.AddCommand(terminal.ShowInherited(setupCommand(setup, stderr)))
	}
	root.AddCommand(terminal.ShowInherited(toolsCommand(o), "safety", "toolsets", "results"), callCommand(o), doctorCommand(o), terminal.ShowInherited(agentsCommand(o)),
		terminal.ShowInherited(watchCommand(o), "socket-name", "socket-path", "tmux", "transport", "no-transcripts"), terminal.ShowInherited(skillCommand()),
		&cobra.Command{Use: "environment", Short: "The variables that tmux-mcp reads", Long: `A flag overrides its variable. If both of two names are set, the first counts.

` + server.Environment(80)},
		&cobra.Command{Use: "files", Short: "The files of tmux-mcp", Long: `$TMUX_TMPDIR/tmux-UID/NAME
    the socket of the tmux server NAME; plain tmux uses default
$XDG_CONFIG_HOME/tmux-mcp/agents/NAME.toml (default ~/.config)
    your rules for the agent CLI NAME
$XDG_RUNTIME_DIR/tmux-mcp, $XDG_STATE_HOME/tmux-mcp (default ~/.local/state) or
~/.tmux-mcp: the first that nobody else can write to
    the output of run_command's jobs, until an hour after they end`})
	return root
}

// leavePlugin changes to the home directory if the working directory is that of a plugin.
// Clients of Agent Plugins start the server there, but sessions start in the server's
// directory, and a plugin's is not suitable. The clients set PLUGIN_ROOT; for Codex
// versions that do not, the plugin does.
func leavePlugin() {
	root, err := os.Stat(os.Getenv("PLUGIN_ROOT"))
	here, herr := os.Stat(".")
	if err == nil && herr == nil && os.SameFile(root, here) {
		_ = os.Chdir(os.Getenv("HOME")) // otherwise it stays
	}
}

// usage reports wrong arguments as a usageError.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// config returns the environment's configuration, overridden by the flags.
func (o *options) config(cmd *cobra.Command) (server.Config, error) {
	env := os.Environ()
	flags := cmd.Flags()
	given := func(flag string) bool { return flags.Lookup(flag).Value.String() != "" }
	// A flag replaces the variables, also for programs in a tmux server that is started.
	socket := flags.Changed("socket-name") || flags.Changed("socket-path")
	if socket {
		env = server.WithoutSocket(env)
	}
	if given("safety") {
		env = server.WithoutEmptyTier(env)
	}
	cfg, warnings, err := server.FromEnv(env)
	if err != nil {
		return cfg, usageError{err}
	}
	if flags.Changed("safety") && !given("safety") { // a variable of a shell, perhaps, that is not set
		return cfg, usageError{errors.New("--safety is empty: want readonly, mutating or destructive")}
	}
	if err := setFlags(&cfg, flags); err != nil {
		return cfg, usageError{err}
	}
	cfg.Pin = o.pin
	cfg.NoTranscripts = cfg.NoTranscripts || o.noTranscripts
	cfg.Version = version.Number()
	stderr := cmd.ErrOrStderr()
	// A server's log is read by its client. The user of a command reads its output, which
	// contains the tool's error already.
	serving := cmd == cmd.Root()
	if !serving && !given("log-level") {
		cfg.LogLevel = slog.LevelError
	}
	cfg.Log = slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: cfg.LogLevel}))
	for _, w := range warnings {
		if serving {
			cfg.Log.Warn(w)
		} else {
			fmt.Fprintf(stderr, "tmux-mcp: %s\n", w)
		}
	}
	switch o.auditLog {
	case "":
		if cfg.LogLevel <= slog.LevelInfo {
			cfg.Audit = cfg.Log
		}
	case "-":
		cfg.Audit = slog.New(slog.NewJSONHandler(stderr, nil))
	default:
		// It stays open as long as the process runs.
		file, torn, err := openLog(o.auditLog)
		if err != nil {
			return cfg, usageError{fmt.Errorf("open the audit log: %w", err)}
		}
		o.audit = newLogWriter(file, cfg.Log, torn)
		cfg.Audit = slog.New(slog.NewJSONHandler(o.audit, nil))
	}
	return cfg, nil
}

// setFlags applies the flags of [server.Settings] that are not empty.
func setFlags(cfg *server.Config, flags *pflag.FlagSet) error {
	value := func(flag string) string { return flags.Lookup(flag).Value.String() }
	if value("socket-name") != "" && value("socket-path") != "" {
		return errors.New("-L and -S exclude each other")
	}
	for _, setting := range server.Settings() {
		if setting.Flag == "" || value(setting.Flag) == "" {
			continue
		}
		if err := setting.Set(cfg, value(setting.Flag)); err != nil {
			return fmt.Errorf("--%s %s: %w", setting.Flag, value(setting.Flag), err)
		}
	}
	return nil
}

// lister returns a server that only lists its tools, and so does not need tmux.
func (o *options) lister(cmd *cobra.Command, all bool) (*server.Server, error) {
	cfg, err := o.config(cmd)
	if err != nil {
		return nil, err
	}
	if cfg.Tmux, err = os.Executable(); err != nil {
		return nil, err
	}
	if all {
		cfg.Tier, cfg.Toolsets = server.Destructive, nil
	}
	return server.New(cfg)
}

func toolsCommand(o *options) *cobra.Command {
	var asJSON, asMarkdown, all bool
	c := &cobra.Command{
		Use:     "tools",
		Short:   "Print the tools that a client would see",
		Example: "  tmux-mcp tools --safety readonly\n  tmux-mcp tools --json --toolsets core | wc -c",
		Args:    usage(terminal.NoSuchCommand),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := o.lister(cmd, all)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				return terminal.EncodeJSON(out, s.Tools(), "")
			case asMarkdown:
				return s.WriteMarkdown(out)
			}
			return s.WriteTools(out, terminal.Width(out))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the JSON that a client gets")
	c.Flags().BoolVar(&asMarkdown, "markdown", false, "print Markdown, as in docs/tools.md")
	c.Flags().BoolVar(&all, "all", false, "include all tiers and toolsets")
	c.MarkFlagsMutuallyExclusive("json", "markdown")
	return c
}

// toolFailed reports that a tool returned an error, or doctor found a problem, that has
// already been printed.
type toolFailed struct{}

func (toolFailed) Error() string { return "the tool failed" }

func callCommand(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "call TOOL [JSON]",
		Short:   "Run one tool and print its result",
		Long:    "Call runs one tool and prints its result: the text that a model would read, or\nwith --json the typed form. If the tool fails, its error goes to standard error\nand the exit code is 1. run_command does not fail if its command does. What the\ntyped form has no place for, such as what a hook printed, also goes to standard\nerror.\n\ntmux-mcp call TOOL --help shows the parameters of a tool.",
		Example: "  tmux-mcp call capture_pane '{\"pane_id\": \"%1\"}'\n  tmux-mcp call run_command --help\n  tmux-mcp call --json list_sessions | jq .total",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageError{fmt.Errorf("call takes the name of a tool and, in quotes, one JSON object with its arguments: got %s", reply.Count(len(args), "argument"))}
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			s, err := o.lister(cmd, false)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, t := range s.Tools() {
				names = append(names, t.Name+"\t"+t.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var arguments json.RawMessage
			if len(args) == 2 {
				arguments = json.RawMessage(args[1])
				if !json.Valid(arguments) {
					return usageError{errors.New(`the arguments are not JSON, such as '{"pane_id": "%1"}'`)}
				}
			}
			cfg, err := o.config(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				cfg.Results = server.ResultsJSON
			}
			s, err := server.New(cfg)
			if err != nil {
				// A misspelt name is said first, also where there is no tmux.
				if lister, errList := o.lister(cmd, false); errList == nil {
					if errName := lister.WriteTool(io.Discard, args[0], 0); errName != nil {
						return noTool(errName)
					}
				}
				return err
			}
			defer s.Close()
			res, err := s.Call(cmd.Context(), args[0], arguments)
			if err != nil {
				return noTool(err)
			}
			if res.IsError {
				fmt.Fprintln(cmd.ErrOrStderr(), server.Text(res))
				return toolFailed{}
			}
			text := server.Text(res)
			if raw, ok := res.StructuredContent.(json.RawMessage); ok {
				text = string(raw)
			}
			// Of a text it is a part.
			if notice := server.Notice(res); notice != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "tmux-mcp:", notice)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the typed form, one line of JSON")
	// The help of a tool is what it takes.
	help := c.HelpFunc()
	c.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		name := cmd.Flags().Arg(0)
		if name == "" {
			help(cmd, args)
			return
		}
		s, err := o.lister(cmd, false)
		if err == nil {
			if err = s.WriteTool(cmd.OutOrStdout(), name, terminal.Width(cmd.OutOrStdout())); err != nil {
				err = noTool(err)
			}
		}
		o.helpError = err
	})
	return c
}

// noTool is the error of a name that no tool has.
func noTool(err error) error { return usageError{fmt.Errorf("%w\n  tmux-mcp tools lists all", err)} }

func doctorCommand(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show what the server would connect to, and check for problems",
		Long: `Doctor shows what the server would connect to, and checks for problems. It exits
with 1 if it finds any. A tmux server that is not running yet is not a problem.`,
		Example: "  tmux-mcp doctor -L work\n  tmux-mcp doctor --json | jq -r '.findings[].text'",
		Args:    usage(terminal.NoSuchCommand),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.config(cmd)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fine := false
			if asJSON {
				d := server.Diagnose(cmd.Context(), cfg)
				fine = d.OK()
				err = terminal.EncodeJSON(out, d, "  ")
			} else {
				fine = server.Doctor(cmd.Context(), cfg, out)
			}
			if err == nil && !fine {
				err = toolFailed{}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (docs/using.md describes it)")
	return c
}
