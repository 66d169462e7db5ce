package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
)

// The exit codes of verdict, besides 0 and 1, as git bisect run takes them.
const (
	exitUntestable = 125 // this tmux cannot be judged: try another
	exitAbort      = 128 // the command line is wrong: end the bisection
)

// exitCode ends the command with a code when all has been said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func newVerdict() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:     "verdict GAP/CLAIM",
		Short:   "Say whether one claim holds, for git bisect run",
		Long:    help("verdict"),
		Example: help("verdict-examples"),
		Args:    wantArgs(1, "verdict: want one claim, GAP/CLAIM, as in 106/1"),
		RunE: func(cmd *cobra.Command, args []string) error {
			gap, number, err := o.claim(args[0])
			if err != nil {
				return err
			}
			if len(o.tmux) > 1 || o.targetsIn != "" && len(o.tmux) > 0 {
				return errors.New("verdict: want one tmux")
			}
			o.Targets, err = o.targets(cmd.Context(), cmd.ErrOrStderr())
			if err == nil && len(o.Targets) != 1 {
				return errors.New("verdict: want one tmux")
			}
			o.Gaps, o.Layers = []*conform.Gap{gap}, []report.Layer{report.TmuxLayer}
			var r *report.Report
			if err == nil {
				r, err = conform.Run(cmd.Context(), o.Options)
			}
			if r == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "mcp-conform: %s\n", report.Printable(err.Error()))
				return exitCode(exitUntestable)
			}
			return exitCodeFor(cmd, &r.Cells[0], o.Targets[0], number)
		},
	}
	o.targetFlags(cmd)
	cmd.Flags().StringVar(&o.scripts, "scripts", "", "look among the scripts in `DIR` in place of the built-in ones")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", conform.DefaultTimeout, "the time `D` that the script has, as in 90s")
	completion(cmd, "timeout", cobra.NoFileCompletions)
	o.archive.flags(cmd.Flags())
	return cmd
}

// claim reads GAP/CLAIM, or GAP/tmux/CLAIM as in reports.
func (o *runOptions) claim(s string) (*conform.Gap, int, error) {
	gap, claim, _ := strings.Cut(s, "/")
	if layer, rest, ok := strings.Cut(claim, "/"); ok && slices.Contains(report.Layers(), report.Layer(layer)) {
		if claim = rest; layer != string(report.TmuxLayer) {
			return nil, 0, fmt.Errorf("verdict %s: only claims of layer tmux have a verdict: want GAP/CLAIM, as in 106/1", s)
		}
	}
	number, err := strconv.Atoi(claim)
	if err != nil || number < 1 {
		return nil, 0, fmt.Errorf("verdict %s: want GAP/CLAIM, as in 106/1 or 106/tmux/1", s)
	}
	g, err := findGap(o.scripts, gap, report.TmuxLayer)
	if err != nil {
		return nil, 0, fmt.Errorf("verdict %s: %w", s, err)
	}
	return g, number, nil
}

// exitCodeFor prints the verdict of a claim, or why there is none, and returns the error that
// stands for its exit code.
func exitCodeFor(cmd *cobra.Command, c *report.Cell, target report.Target, number int) error {
	about := fmt.Sprintf("tmux %s: %d/%d", target.Version, c.Gap, number)
	i := slices.IndexFunc(c.Claims, func(cl report.Claim) bool { return cl.Number == number })
	if i < 0 {
		return fmt.Errorf("verdict %d/%d: the script has %d claims (see mcp-conform explain %[1]d)", c.Gap, number, len(c.Claims))
	}
	cl := c.Claims[i]
	verdict, why := string(cl.Verdict), cl.Why
	if verdict == "" {
		verdict, why = "no verdict: "+string(cl.Outcome), cmp.Or(why, c.Reason)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: %s: %s\n", about, verdict, report.Printable(cl.Text))
	if why != "" {
		fmt.Fprintf(out, "  %s\n", report.Printable(why))
	}
	switch cl.Verdict {
	case report.Confirmed:
		return nil
	case report.Refuted:
		return errFailed
	}
	return exitCode(exitUntestable)
}
