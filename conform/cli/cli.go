// Package cli is the command mcp-conform: its flags, its output and its exit
// codes, over package conform.
package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/internal/version"
)

// The exit codes, besides 128 and the signal's number for a run that was
// interrupted.
const (
	exitOK     = 0
	exitFailed = 1 // some cell failed
	exitUsage  = 2 // nothing could be run
)

// errFailed ends the command with exitFailed; the report has said why.
var errFailed = errors.New("some cell failed")

// Main runs the command with its arguments, without the program's name, and
// returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == conform.ChildArg {
		return conform.Main(stdin, stdout)
	}
	if len(args) == 1 && args[0] == conform.APIArg {
		if err := conform.ServeAPI(stdin, stdout); err != nil {
			fmt.Fprintf(stderr, "mcp-conform: %v\n", err)
			return exitFailed
		}
		return exitOK
	}
	conform.Adopt()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := onSignal(cancel)
	defer stop()

	cmd := Command()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	terminal.AddCompletion(cmd)
	ran, err := cmd.ExecuteContextC(ctx)
	var sig signalled
	var code exitCode
	switch {
	case errors.As(context.Cause(ctx), &sig):
		fmt.Fprintf(stderr, "mcp-conform: %v\n", sig)
		return 128 + int(sig.Signal.(syscall.Signal))
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.As(err, &code):
		return int(code)
	}
	// The write that failed may be the last, before SIGPIPE has been noticed.
	if unread(os.Stdout) || unread(os.Stderr) {
		return 128 + int(syscall.SIGPIPE)
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.HasPrefix(line, "  ") {
			line = "mcp-conform: " + line
		}
		fmt.Fprintln(stderr, report.Printable(line))
	}
	if ran.Name() == "verdict" {
		return exitAbort
	}
	return exitUsage
}

// signalled is the cause of a context that a signal has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return "ended by signal: " + s.Signal.String() }

// onSignal calls cancel at the first SIGINT, SIGTERM or SIGHUP. A second one ends
// the process; the scripts' processes then end themselves.
func onSignal(cancel context.CancelCauseFunc) (stop func()) {
	ch := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// Every write to a pipe without a reader raises SIGPIPE, also one to a server; only the
	// user's own pipe ends the run. As it is caught here, it never ends the process.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	go func() {
		for {
			select {
			case sig := <-ch:
				signal.Stop(ch)
				cancel(signalled{sig})
				return
			case sig := <-pipe:
				if unread(os.Stdout) || unread(os.Stderr) {
					cancel(signalled{sig})
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(done)
	}
}

// unread reports whether a file is a pipe whose reader has gone.
func unread(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

//go:embed help
var helpFiles embed.FS

// help returns the embedded help text of a command, or the template of its output.
func help(name string) string {
	text, err := helpFiles.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// Command returns the whole command, from which its man page and completions are made.
func Command() *cobra.Command {
	root := &cobra.Command{
		Use:           "mcp-conform [run]",
		Short:         "Replay the gaps of libtmux issue #670 against real tmux programs",
		Long:          help("run"),
		Example:       help("run-examples"),
		Version:       version.String(),
		Args:          noSuchCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("mcp-conform {{.Version}}\n")
	terminal.FitHelp(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w\n  see %s --help", err, cmd.CommandPath())
	})
	terminal.SuggestFlags(root, map[string]string{"gap": "run", "gaps": "run"})
	run := &cobra.Command{
		Use:     "run",
		Short:   "Run the scripts and print the matrix (the default)",
		Example: help("run-examples"),
		Args:    noSuchCommand,
	}
	for _, cmd := range []*cobra.Command{root, run} {
		var o runOptions
		o.flags(cmd)
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }
	}
	root.AddCommand(run, newList(), newExplain(), newReproduce(), newVerdict(), newDiff(), newTokens(), newInit(), newAPI(), newDialect(), newTmux(),
		&cobra.Command{Use: "environment", Short: "The variables that mcp-conform reads", Long: help("environment") + "\n" + terminal.Environment},
		&cobra.Command{Use: "files", Short: "The files of mcp-conform", Long: help("files")})
	return root
}

// wantArgs returns a check for n arguments, whose error is want.
func wantArgs(n int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return errors.New(want)
		}
		return nil
	}
}

// showHelp runs a command that has subcommands. Without it, cobra would show the help for an
// unknown subcommand, and succeed.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// noSuchCommand returns an error for an unknown subcommand, with suggestions.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if gap, err := strconv.ParseUint(args[0], 10, 8); err == nil && cmd.Flags().Lookup("run") != nil {
		return fmt.Errorf("unknown command %q: run a gap with --run ^%02d, or read about it with explain %d", args[0], gap, gap)
	}
	if err := terminal.NoSuchCommand(cmd, args); err != nil {
		return fmt.Errorf("%w\n  see %s --help", err, cmd.CommandPath())
	}
	return nil
}
