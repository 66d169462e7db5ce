package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tmuxmcp/internal/runner"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/server"
)

// A Setup makes the command that adds the server of a program to the configs of clients, under a
// name. flags returns the server's flags that the user has given. If an error of the command has
// the method PrintedExit, which returns the exit code, it has been printed already. This package
// knows nothing of clients: a main passes its Setup to [Main].
type Setup func(program, name string, stderr io.Writer, flags func(*cobra.Command) ([]string, error)) *cobra.Command

func setupCommand(setup Setup, stderr io.Writer) *cobra.Command {
	c := setup("tmux-mcp", "tmux", stderr, givenFlags)
	c.Args = usage(terminal.NoSuchCommand)
	c.Example = `  tmux-mcp setup --dry-run
  tmux-mcp setup
  tmux-mcp setup --client claude,codex --safety readonly
  tmux-mcp setup --name tmux-work --socket-name work
  tmux-mcp setup --uninstall`
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		f := cmd.Flags()
		var printed interface{ PrintedExit() int }
		misused := errors.As(err, &printed) && printed.PrintedExit() == exitUsage
		if all, _ := f.GetBool("uninstall"); misused || !all || f.Changed("dry-run") || f.Changed("client") || f.Changed("name") {
			return err
		}
		used, kept := runner.Uninstall()
		for _, dir := range used {
			fmt.Fprintf(stderr, "tmux-mcp: %s stays: a tmux-mcp or a job uses it, or it has files of something else; run this again when no tmux-mcp runs any more\n", dir)
		}
		for _, dir := range kept {
			fmt.Fprintf(stderr, "tmux-mcp: %s is empty and stays until the system restarts, so that nobody else can take its name: "+
				"the histories of shells may still have it\n", dir)
		}
		return err
	}
	return c
}

// givenFlags returns the flags of the server that were given, as another start is to get them:
// with absolute paths, since a client starts it in another directory.
func givenFlags(cmd *cobra.Command) (args []string, err error) {
	flags := cmd.Flags()
	if err := setFlags(&server.Config{}, flags); err != nil {
		return nil, err
	}
	flags.Visit(func(f *pflag.Flag) {
		if err != nil || cmd.Root().PersistentFlags().Lookup(f.Name) != f {
			return
		}
		value := f.Value.String()
		isPath := f.Name == "socket-path" || f.Name == "audit-log" && value != "-" || f.Name == "tmux" && value != filepath.Base(value)
		switch {
		case value == "":
			err = fmt.Errorf("--%s is empty: leave it out", f.Name)
		case isPath:
			value, err = filepath.Abs(value)
		}
		switch {
		case f.Value.Type() != "bool":
			args = append(args, "--"+f.Name, value)
		case value == "true":
			args = append(args, "--"+f.Name)
		default:
			args = append(args, "--"+f.Name+"="+value)
		}
	})
	return args, err
}
