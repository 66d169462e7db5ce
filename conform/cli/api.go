package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
	"tmuxmcp/docs"
	"tmuxmcp/tmux"
)

// newAPI returns the command api, which is for the authors of adapters.
func newAPI() *cobra.Command {
	cmd := &cobra.Command{
		Use: "api", Short: "Check a wrapper's adapter, or start writing one", Long: help("api"), Example: help("api-examples"),
		Args: noSuchCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newCheckAPI(), newAPISchema(), newAPIExample())
	return cmd
}

func newCheckAPI() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:     "check COMMAND",
		Short:   "Call every verb of an adapter once, and check each answer",
		Long:    help("api-check"),
		Example: "  mcp-conform api check 'python3 adapter.py'\n  mcp-conform api check -v --tmux debian:sid 'python3 adapter.py'",
		Args:    wantArgs(1, "api check: want the command of one adapter, as in api check 'python3 adapter.py'"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := conform.ParseAPI(args[0])
			if err != nil {
				return errors.New("api check: want a command, as in api check 'python3 adapter.py'")
			}
			all, err := o.targets(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			bad := false
			for i := range all {
				found, err := o.checkAPI(cmd.Context(), a, all[i])
				if err != nil {
					return fmt.Errorf("api check %s: %w", args[0], err)
				}
				bad = !printFindings(cmd.OutOrStdout(), found, all[i]) || bad
			}
			if bad {
				return errFailed
			}
			return nil
		},
		ValidArgsFunction: orFile(report.BuiltIn),
	}
	o.targetFlags(cmd)
	cmd.Flags().BoolVarP(&o.Verbose, "verbose", "v", false, "also print the messages")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", conform.DefaultTimeout, "time limit `D` of the check, as in 90s")
	completion(cmd, "timeout", cobra.NoFileCompletions)
	o.archive.flags(cmd.Flags())
	return cmd
}

// checkAPI starts an adapter and calls every verb, on a server of the target.
func (o *runOptions) checkAPI(ctx context.Context, a report.API, target report.Target) (child.Message, error) {
	dir, err := os.Getwd()
	if err != nil {
		return child.Message{}, fmt.Errorf("find the current directory, to start the adapter in: %w", err)
	}
	words := adapter.Shell(a.Command)
	if a.Command == "" {
		exe, err := os.Executable()
		if err != nil {
			return child.Message{}, fmt.Errorf("find this program, which is the adapter: %w", err)
		}
		words = []string{exe, conform.APIArg}
	}
	defer child.EndAdopted()
	return child.Ask(ctx, child.Request{
		Ask: child.AskCheck, Target: target, API: words, APIDir: dir, Transport: tmux.TransportExec, Timeout: o.Timeout, Verbose: o.Verbose,
	})
}

// printFindings prints the findings about an adapter, and reports whether there is no fault.
func printFindings(w io.Writer, found child.Message, on report.Target) bool {
	is := found.Described
	about := slices.DeleteFunc([]string{is.Language, is.URL}, func(s string) bool { return s == "" })
	name := is.String()
	if len(about) > 0 {
		name += " (" + strings.Join(about, "; ") + ")"
	}
	fmt.Fprintf(w, "%s on tmux %s\n", report.Printable(name), on.Name)
	offered, faults := 0, 0
	for _, f := range found.Findings {
		mark := " "
		if f.Fault {
			mark = "✗"
			faults++
		}
		if f.Offered {
			offered++
		}
		fmt.Fprintf(w, "%s %-17s  %s\n", mark, f.Verb, report.Printable(f.Text))
		for _, m := range f.Messages {
			fmt.Fprintf(w, "    %s\n", report.Printable(m))
		}
	}
	verdict := "the adapter is right"
	if faults > 0 {
		verdict = fmt.Sprintf("faults: %d", faults)
	}
	fmt.Fprintf(w, "%d of %d verbs are offered; %s\n", offered, len(adapter.Verbs)-2, verdict) // without describe and open
	return faults == 0
}

func newAPISchema() *cobra.Command {
	var requests bool
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schema of an adapter's answers",
		Example: "  mcp-conform api schema >adapter.schema.json\n  mcp-conform api schema --requests",
		Args:    noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !requests {
				_, err := cmd.OutOrStdout().Write(docs.AdapterSchema)
				return err
			}
			to := json.NewEncoder(cmd.OutOrStdout())
			to.SetIndent("", "  ")
			to.SetEscapeHTML(false)
			return to.Encode(adapter.RequestSchema())
		},
	}
	cmd.Flags().BoolVar(&requests, "requests", false, "print the schema of requests instead")
	return cmd
}

func newAPIExample() *cobra.Command {
	all := map[string][]byte{"python": docs.PythonAdapter, "sh": docs.ShellAdapter}
	names := slices.Sorted(maps.Keys(all))
	return &cobra.Command{
		Use:     "example LANGUAGE",
		Short:   "Print an example adapter, in " + strings.Join(names, " or "),
		Example: "  mcp-conform api example python >adapter.py\n  mcp-conform api example sh >adapter.sh",
		Args:    wantArgs(1, "api example: want one of "+strings.Join(names, ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, ok := all[args[0]]
			if !ok {
				return fmt.Errorf("api example %s: want one of %s", args[0], strings.Join(names, ", "))
			}
			_, err := cmd.OutOrStdout().Write(text)
			return err
		},
		ValidArgsFunction: words(names...),
	}
}
