package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/debian"
)

// newTmux is the command that looks after the tmux binaries in the cache.
func newTmux() *cobra.Command {
	var archive archiveFlags
	cmd := &cobra.Command{
		Use:   "tmux",
		Short: "Fetch, list and remove Debian's tmux binaries in the cache",
		Long:  help("tmux"),
		Args:  noSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	archive.flags(cmd.PersistentFlags())
	fetcher := func(cmd *cobra.Command) *debian.Fetcher { return archive.fetcher(cmd.ErrOrStderr()) }
	list := newTmuxList(fetcher)
	cmd.AddCommand(
		&cobra.Command{
			Use:     "get debian:SUITE...",
			Short:   "Fetch the tmux of each suite if needed, and print its path",
			Example: "  mcp-conform tmux get debian:trixie debian:3.7c",
			Args:    someSuites,

			ValidArgsFunction: words(suites...),
			RunE: eachSuite(func(cmd *cobra.Command, suite string) error {
				got, err := fetcher(cmd).Get(cmd.Context(), suite)
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), got.Binary)
				}
				return err
			}),
		},
		&cobra.Command{
			Use:     "path debian:SUITE...",
			Short:   "Print the path of the tmux of each suite, which has been fetched",
			Example: "  mcp-conform tmux path debian:trixie",
			Args:    someSuites,

			ValidArgsFunction: cachedSuites,
			RunE: eachSuite(func(cmd *cobra.Command, suite string) error {
				path, err := fetcher(cmd).Path(suite)
				switch {
				case err == nil:
					fmt.Fprintln(cmd.OutOrStdout(), path)
				case errors.Is(err, debian.ErrNotFetched):
					err = fmt.Errorf("%w (fetch it with mcp-conform tmux get debian:%s)", err, suite)
				}
				return err
			}),
		},
		&cobra.Command{
			Use:     "remove debian:SUITE...",
			Short:   "Remove the tmux of each suite from the cache",
			Example: "  mcp-conform tmux remove debian:trixie",
			Args:    someSuites,

			ValidArgsFunction: cachedSuites,

			RunE: eachSuite(func(cmd *cobra.Command, suite string) error { return fetcher(cmd).Remove(suite) }),
		},
		list,
	)
	return cmd
}

func newTmuxList(fetcher func(*cobra.Command) *debian.Fetcher) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what is in the cache",
		Example: "  mcp-conform tmux list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetcher(cmd).List()
			if asJSON && err == nil {
				if all == nil {
					all = []debian.Installed{}
				}
				return report.EncodeJSON(cmd.OutOrStdout(), map[string]any{"version": 1, "binaries": all})
			}
			for _, got := range all {
				fmt.Fprintf(cmd.OutOrStdout(), "%-25s %-8s %-20s %s\n", "debian:"+got.Suite, got.Version, got.Package, got.Binary)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func someSuites(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("tmux %s: want debian:SUITE, as in debian:trixie", cmd.Name())
	}
	for _, spec := range args {
		if suite, ok := strings.CutPrefix(spec, "debian:"); !ok || suite == "" {
			return fmt.Errorf("tmux %s %s: want debian:SUITE, as in debian:trixie", cmd.Name(), spec)
		}
	}
	return nil
}

// eachSuite does something for each suite, also after one that fails.
func eachSuite(do func(cmd *cobra.Command, suite string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		var errs []error
		for _, spec := range args {
			errs = append(errs, do(cmd, strings.TrimPrefix(spec, "debian:")))
		}
		return errors.Join(errs...)
	}
}
