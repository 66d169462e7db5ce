package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
)

// newDialect returns the command dialect, with init.
func newDialect() *cobra.Command {
	const example = "  mcp-conform dialect init --server other-mcp >other.toml\n  mcp-conform --layer mcp --server other-mcp --dialect other.toml"
	var o runOptions
	init := &cobra.Command{
		Use:     "init",
		Short:   "Draft the dialect of an MCP server from its list of tools",
		Example: example,
		Args:    noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Server == "" {
				return errors.New("dialect init: want --server, the command that starts the server")
			}
			var err error
			if o.Targets, err = o.targets(cmd.Context(), cmd.ErrOrStderr()); err != nil {
				return err
			}
			text, err := conform.DraftDialect(cmd.Context(), o.Options)
			if err == nil {
				_, err = io.WriteString(cmd.OutOrStdout(), text)
			}
			return err
		},
	}
	o.targetFlags(init)
	init.Flags().StringVar(&o.Server, "server", "", "start the MCP server by this shell `COMMAND`, which speaks MCP on its standard input and output")
	completion(init, "server", cobra.NoFileCompletions)
	o.archive.flags(init.Flags())
	cmd := &cobra.Command{
		Use: "dialect", Short: "Map scripts' names to those of an MCP server", Example: example, Args: noSuchCommand, RunE: showHelp,
	}
	cmd.AddCommand(init)
	return cmd
}
