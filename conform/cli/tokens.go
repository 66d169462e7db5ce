package cli

import (
	"fmt"
	"slices"
	"text/template"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

func newTokens() *cobra.Command {
	var o runOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "tokens",
		Short:   "Compare the typed format tokens with those of tmux programs",
		Long:    help("tokens"),
		Example: help("tokens-examples"),
		Args:    noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			targets, err := o.targets(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			var drifts []conform.TokenDrift
			for _, t := range targets {
				d, err := conform.TakeTokens(cmd.Context(), t)
				if err != nil {
					return fmt.Errorf("--tmux %s: %w", t.Spec, err)
				}
				drifts = append(drifts, d)
			}
			slices.SortStableFunc(drifts, func(a, b conform.TokenDrift) int {
				v, _ := tmux.ParseVersion(a.Version)
				w, _ := tmux.ParseVersion(b.Version)
				return v.Compare(w)
			})
			if asJSON {
				// Increment the version when a field changes its meaning or is removed.
				err = report.EncodeJSON(cmd.OutOrStdout(), struct {
					Version int                  `json:"version"`
					Tmux    []conform.TokenDrift `json:"tmux"`
				}{1, drifts})
			} else {
				err = show(cmd.OutOrStdout(), "drift", drifts, template.FuncMap{"printable": report.Printable})
			}
			if err == nil && slices.ContainsFunc(drifts, func(d conform.TokenDrift) bool { return len(d.Drift) > 0 }) {
				err = errFailed
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.tmux, "tmux", nil, "compare with the tmux at `SPEC`, as for run; may be repeated (default: system)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	o.archive.flags(f)
	completion(cmd, "tmux", orFile(append([]string{"system"}, suites...)...))
	completion(cmd, "debian-mirror", cobra.NoFileCompletions)
	return cmd
}
