// Package cli is the command line of mcp-swap: flags, help, and the presentation of results
// and errors. Package swap implements the commands.
//
// Exit codes: 0, success; 1, a client failed, or there was nothing to do; 2, bad usage.
// Results go to stdout, diagnostics to stderr.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"tmuxmcp/internal/terminal"
	"tmuxmcp/internal/version"
	"tmuxmcp/swap"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/hint"
	"tmuxmcp/swap/internal/machine"
)

// Main runs the command and returns its exit code. If interrupted, it ends early, but never
// in the middle of a write.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ask.Adopt()
	a := &app{stdout: newPrinter(stdout), err: newPrinter(stderr), stderr: stderr}
	a.out = a.stdout
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.out.w)
	root.SetErr(a.err.w)
	terminal.AddCompletion(root)
	cmd, err := a.execute(ctx, root)
	return a.end(cmd, err)
}

// end prints how a command ended, and returns the exit code.
func (a *app) end(cmd *cobra.Command, err error) (code int) {
	if err == nil && a.out.err != nil {
		err = fmt.Errorf("write to standard output: %w", a.out.err)
	}
	var quiet *silent
	if err == nil {
		code = exitOK
	} else if errors.As(err, &quiet) {
		code = quiet.code
	} else {
		code, a.doc.Error = exitFailed, err.Error()
		a.err.problem(a.doc.Error)
		if errors.As(err, new(*hint.UsageError)) || a.running == nil { // the latter: cobra's own
			code = exitUsage
			a.err.linef("  see %s --help", cmd.CommandPath())
		}
	}
	if a.json && (a.running != nil || err != nil) { // else --help was given too
		a.doc.Command = cmd.Name()
		if err := a.document(); err != nil && code == exitOK {
			a.err.problem(fmt.Sprintf("write to standard output: %v", err))
			code = exitFailed
		}
	}
	return code
}

// execute runs the command named on the command line, and turns a panic into an error.
func (a *app) execute(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, err error) {
	defer func() {
		if r := recover(); r != nil {
			a.running = cmp.Or(a.running, root)
			cmd = a.running
			err = fmt.Errorf("internal error: %v (please report it; MCP_SWAP_DEBUG=1 shows where)", r)
			if os.Getenv("MCP_SWAP_DEBUG") != "" {
				fmt.Fprintf(a.stderr, "%s", debug.Stack())
			}
		}
	}()
	return root.ExecuteContextC(ctx)
}

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// silent ends the command with an exit code once everything has been printed.
type silent struct{ code int }

func (s *silent) Error() string { return "exit code " + strconv.Itoa(s.code) }

// app is one run of the command.
type app struct {
	stdout, err *printer
	out         *printer // stdout or, with --json, nothing: then stdout gets doc at the end
	stderr      io.Writer
	running     *cobra.Command // set once the command line has been parsed

	exact bool // diffs are for patch(1)
	json  bool
	doc   document
	noted sync.Mutex // guards doc.Notes
}

// verb wraps a command's function, giving it a Swapper for this machine.
func (a *app) verb(f func(context.Context, *swap.Swapper) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		a.running = cmd
		if a.json {
			a.out = newPrinter(io.Discard)
		}
		if err := givenTwice(cmd); err != nil {
			return err
		}
		a.doc.DryRun, _ = cmd.Flags().GetBool("dry-run") // false where there is no such flag
		if f := cmd.Flags().Lookup("server"); f != nil {
			a.doc.Server = f.Value.String()
		}
		if f := cmd.Flags().Lookup("repo"); f != nil && f.Value.String() != "" {
			a.doc.Repo, _ = checkout.RealDir(f.Value.String())
		}
		sys, err := machine.ThisSystem()
		if err != nil {
			return err
		}
		s := swap.New(sys, a.note)
		if terminal.Is(cmd.InOrStdin()) && terminal.Is(a.stderr) {
			s.Confirm = func(question string) bool { return a.err.ask(cmd.Context(), cmd.InOrStdin(), question) }
		}
		if terminal.Is(a.stderr) && os.Getenv("TERM") != "dumb" {
			s.Progress = a.progress
		}
		return f(cmd.Context(), s)
	}
}

// Command returns the whole command, for its man page and completions.
func Command() *cobra.Command {
	root := new(app).root()
	describe(root)
	return root
}

// describe completes the texts that name the clients, which only help needs.
func describe(root *cobra.Command) {
	root.Long = strings.Replace(root.Long, "CLIENTS", terminal.Wrap(strings.Join(clients.Names(), ", "), 80, len("Clients: ")), 1)
	for _, c := range root.Commands() {
		if c.Name() == "environment" {
			c.Long = environment()
		}
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mcp-swap",
		Short: "Point agent CLIs at a local MCP server, and put everything back",
		Long: `mcp-swap points the agent CLIs on this machine at a local checkout of an MCP
server, shows what each of them runs, and puts everything back. A config that
nothing else has written to since gets its exact old bytes.

Clients: CLIENTS.

Only the server's entry in a config is changed. Every change is recorded, and
the old config is backed up first.

Exit status: 0 on success, 1 if a client failed or there was nothing to do, 2 if
the command line is wrong.`,
		Example: `  mcp-swap detect               # which clients are installed
  mcp-swap use-local --dry-run  # what would change, as a diff
  mcp-swap use-local            # run the checkout in the current directory
  mcp-swap status               # what each client runs now
  mcp-swap verify               # start it, and query the clients
  mcp-swap revert               # put everything back`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          terminal.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(a.err.w)
			_ = cmd.Help()
			return &silent{exitUsage}
		},
	}
	terminal.ShowVersion(root, version.String())
	terminal.FitHelp(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		describe(root)
		help(cmd, args)
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	terminal.SuggestFlags(root, map[string]string{"name": "server", "client": "cli"}) // of setup
	terminal.Instead(root, map[string]string{"install": "mcp-swap use-local", "setup": "mcp-swap use-local", "uninstall": "mcp-swap revert", "remove": "mcp-swap revert"})
	root.AddCommand(a.detect(), a.status(), a.useLocal(), a.verify(), a.revert(), a.forget(), a.doctor())
	for _, c := range root.Commands() {
		c.Flags().BoolVar(&a.json, "json", false, "print one JSON document (docs/mcp-swap.schema.json describes it)")
		c.Flags().VisitAll(countFlag)
		if c.Args == nil {
			c.Args, c.ValidArgsFunction = flagsOnly, cobra.NoFileCompletions
		}
	}
	root.AddCommand(
		&cobra.Command{Use: "environment", Short: "The variables that mcp-swap reads"},
		&cobra.Command{Use: "files", Short: "The files of mcp-swap", Long: `~/.local/state/mcp-swap/state.json
    the record of what was swapped
CONFIG.bak.mcp-swap-TIME
    the backup of a config, beside it
~/.cache/mcp-swap/build
    programs of --mode build

The configs of the clients are where "mcp-swap detect" shows them.`})
	return root
}

// environment documents the variables that mcp-swap reads.
func environment() string {
	var b strings.Builder
	b.WriteString(`HOME, on Windows USERPROFILE
    the home directory, which has the configs
XDG_STATE_HOME
    the record of swaps is in mcp-swap below it (default ~/.local/state)
XDG_CACHE_HOME, on Windows LOCALAPPDATA
    programs of --mode build are in mcp-swap/build below it (default ~/.cache, on
    macOS ~/Library/Caches)
PATH
    where mcp-swap looks for clients
MCP_SWAP_DEBUG
    if set, an internal error shows where it happened
XDG_CONFIG_HOME, XDG_DATA_HOME, on Windows APPDATA, ProgramData
    where clients have their configs (default: the clients' own)
` + terminal.Environment + "\n\nEach client's variables, for where its config is and what is in force:\n\n")
	for _, c := range clients.All() {
		if names := c.Variables(); len(names) > 0 {
			fmt.Fprintf(&b, "%s\n    %s\n", c.Name, terminal.Wrap(strings.Join(names, ", "), 80, 4))
		}
	}
	return b.String()
}

// flagsOnly refuses arguments of a command: a directory is named by --repo.
func flagsOnly(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.Flags().Lookup("repo") != nil:
		return fmt.Errorf("unexpected argument %q; name a checkout with --repo, a client with --cli", args[0])
	}
	return fmt.Errorf("unexpected argument %q", args[0])
}
