package cli

import (
	"fmt"
	"io"
	"slices"

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
		Short:   "Compare the typed format tokens with what tmux programs have",
		Long:    help("tokens"),
		Example: help("tokens-examples"),
		Args:    cobra.NoArgs,
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
				// The version grows when a field changes its meaning or goes.
				if err := report.EncodeJSON(cmd.OutOrStdout(), struct {
					Version int                  `json:"version"`
					Tmux    []conform.TokenDrift `json:"tmux"`
				}{1, drifts}); err != nil {
					return err
				}
			} else {
				tokensText(cmd.OutOrStdout(), drifts)
			}
			if slices.ContainsFunc(drifts, func(d conform.TokenDrift) bool { return len(d.Drift) > 0 }) {
				return errFailed
			}
			return nil
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

func tokensText(w io.Writer, drifts []conform.TokenDrift) {
	for _, d := range drifts {
		what := "no drift"
		if n := len(d.Drift); n == 1 {
			what = "1 difference"
		} else if n > 1 {
			what = fmt.Sprintf("%d differences", n)
		}
		name := report.Printable(d.Name)
		if name != d.Version {
			name += " (" + d.Version + ")"
		}
		among := ""
		if d.From == "server" {
			among = ", looking only for known ones: its program cannot be read"
		}
		fmt.Fprintf(w, "tmux %s: %s; %d tokens%s\n", name, what, d.Tokens, among)
		for _, c := range d.Drift {
			mark, meaning := "+", "not known here"
			switch c.Change {
			case conform.TokenRemoved:
				mark, meaning = "-", "known, but not in this tmux"
			case conform.TokenEarly:
				mark, meaning = "<", "known to come later, with "+c.Since
			case conform.TokenBack:
				mark, meaning = ">", "known to be last in "+c.Until
			}
			fmt.Fprintf(w, "  %s %-28s %-8s %-7s %s\n", mark, c.Token, c.Scope, c.Type, meaning)
		}
	}
}
