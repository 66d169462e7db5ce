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

// exitCode ends the command with a code and no further message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func newVerdict() *cobra.Command {
	var o runOptions
	var strict bool
	cmd := &cobra.Command{
		Use:     "verdict GAP[/LAYER]/CLAIM",
		Short:   "Report whether one claim holds, for git bisect run",
		Long:    help("verdict"),
		Example: help("verdict-examples"),
		Args:    wantArgs(1, "verdict: want one claim, GAP/CLAIM or GAP/LAYER/CLAIM, as in 106/1 or 9/api/1"),
		RunE: func(cmd *cobra.Command, args []string) error {
			gap, layer, number, err := o.claim(args[0])
			if err != nil {
				return err
			}
			o.Gaps, o.Layers = []*conform.Gap{gap}, []report.Layer{layer}
			if err := o.findPeers(cmd); err != nil {
				return err
			}
			if len(o.tmux) > 1 || o.targetsIn != "" && len(o.tmux) > 0 {
				return errors.New("verdict: want one tmux")
			}
			o.Targets, err = o.targets(cmd.Context(), cmd.ErrOrStderr())
			if err == nil && len(o.Targets) != 1 {
				return errors.New("verdict: want one tmux")
			}
			// Run the script even if nothing that it asks for is offered.
			o.Reproduce = true
			var r *report.Report
			if err == nil {
				r, err = conform.Run(cmd.Context(), o.Options)
			}
			if r == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "mcp-conform: %s\n", report.Printable(err.Error()))
				return exitCode(exitUntestable)
			}
			return exitCodeFor(cmd, r, args[0], number, strict)
		},
	}
	f := cmd.Flags()
	o.targetFlags(cmd)
	f.StringVar(&o.scripts, "scripts", "", "look in `DIR` instead of among the built-in scripts")
	o.apiFlag(cmd)
	o.serverFlags(cmd)
	f.BoolVar(&strict, "strict", false, "also exit with 1 if the wrapper or server does not offer what the claim is about")
	f.DurationVar(&o.Timeout, "timeout", conform.DefaultTimeout, "time limit `D` of the script, as in 90s")
	completion(cmd, "timeout", cobra.NoFileCompletions)
	o.archive.flags(f)
	return cmd
}

// claim reads GAP/CLAIM, which is of layer tmux, or GAP/LAYER/CLAIM as in reports.
func (o *runOptions) claim(s string) (*conform.Gap, report.Layer, int, error) {
	gap, claim, _ := strings.Cut(s, "/")
	layer := report.TmuxLayer
	if name, rest, ok := strings.Cut(claim, "/"); ok && slices.Contains(report.Layers(), report.Layer(name)) {
		layer, claim = report.Layer(name), rest
	}
	number, err := strconv.Atoi(claim)
	if err != nil || number < 1 {
		return nil, "", 0, fmt.Errorf("verdict %s: want GAP/CLAIM or GAP/LAYER/CLAIM, as in 106/1 or 9/api/1", s)
	}
	g, err := findGap(o.scripts, gap, layer)
	if err != nil {
		return nil, "", 0, fmt.Errorf("verdict %s: %w", s, err)
	}
	return g, layer, number, nil
}

// exitCodeFor prints the verdict of a claim in the only cell of a report, or why there is none,
// and returns the error that stands for its exit code.
func exitCodeFor(cmd *cobra.Command, r *report.Report, claim string, number int, strict bool) error {
	c, out := &r.Cells[0], cmd.OutOrStdout()
	i := slices.IndexFunc(c.Claims, func(cl report.Claim) bool { return cl.Number == number })
	if i < 0 {
		n, claims := len(c.Claims), "claims"
		if n == 1 {
			claims = "claim"
		}
		return fmt.Errorf("verdict %s: layer %s of the script has %d %s (see mcp-conform explain %d)", claim, c.Layer, n, claims, c.Gap)
	}
	cl := c.Claims[i]
	about := fmt.Sprintf("tmux %s: %d/%d", r.Targets[0].Version, c.Gap, number)
	verdict, why := string(cl.Verdict), cl.Why
	code := map[report.Verdict]error{report.Confirmed: nil, report.Refuted: errFailed}
	end, ok := code[cl.Verdict]
	if c.Layer != report.TmuxLayer {
		about = fmt.Sprintf("%s, tmux %s: %d/%s/%d", cmp.Or(c.API, r.ServerName, "the MCP server"), r.Targets[0].Version, c.Gap, c.Layer, number)
		verdict = string(cl.Outcome)
		switch cl.Outcome {
		case report.True:
			end, ok = nil, true
		case report.Open:
			end, ok = errFailed, true
		default:
			end, ok = errFailed, strict && cl.Outcome == report.Outcome(report.NotOffered)
		}
	}
	if !ok {
		end, why = exitCode(exitUntestable), cmp.Or(why, c.Reason)
		verdict = "no verdict: " + string(cl.Outcome)
	}
	fmt.Fprintf(out, "%s: %s: %s\n", report.Printable(about), verdict, report.Printable(cl.Text))
	if why != "" {
		fmt.Fprintf(out, "  %s\n", report.Printable(why))
	}
	return end
}
