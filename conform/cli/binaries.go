package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/debian"
)

// newTmux returns the command that manages the tmux binaries in the cache.
func newTmux() *cobra.Command {
	var archive archiveFlags
	cmd := &cobra.Command{
		Use:     "tmux",
		Short:   "Fetch, list and remove Debian's tmux binaries in the cache",
		Long:    help("tmux"),
		Example: help("tmux-examples"),
		Args:    noSuchCommand,
		RunE:    showHelp,
	}
	archive.flags(cmd.PersistentFlags())
	fetcher := func(cmd *cobra.Command) *debian.Fetcher { return archive.fetcher(cmd.ErrOrStderr()) }
	for _, c := range []struct {
		use, short string
		complete   cobra.CompletionFunc
		// do returns what to print of a suite.
		do func(ctx context.Context, f *debian.Fetcher, suite string) (string, error)
	}{
		{"get", "Fetch the tmux of each suite if needed, and print its path", words(suites...),
			func(ctx context.Context, f *debian.Fetcher, suite string) (string, error) {
				got, err := f.Get(ctx, suite)
				return got.Binary, err
			}},
		{"path", "Print the path of each suite's tmux, which must have been fetched", cachedSuites,
			func(_ context.Context, f *debian.Fetcher, suite string) (string, error) { return f.Path(suite) }},
		{"remove", "Remove the tmux of each suite from the cache", cachedSuites,
			func(_ context.Context, f *debian.Fetcher, suite string) (string, error) { return "", f.Remove(suite) }},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: c.use + " debian:SUITE...", Short: c.short, Example: "  mcp-conform tmux " + c.use + " debian:trixie", Args: someSuites, ValidArgsFunction: c.complete,
			// Go on after a suite that fails.
			RunE: func(cmd *cobra.Command, args []string) error {
				var errs []error
				for _, spec := range args {
					text, err := c.do(cmd.Context(), fetcher(cmd), strings.TrimPrefix(spec, "debian:"))
					if errs = append(errs, err); err == nil && text != "" {
						fmt.Fprintln(cmd.OutOrStdout(), text)
					}
				}
				return errors.Join(errs...)
			},
		})
	}
	cmd.AddCommand(newTmuxList(fetcher))
	return cmd
}

func newTmuxList(fetcher func(*cobra.Command) *debian.Fetcher) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the cached binaries",
		Example: "  mcp-conform tmux list --json",
		Args:    noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetcher(cmd).List()
			if asJSON && err == nil {
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
