package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
)

func newReproduce() *cobra.Command {
	var o runOptions
	var file string
	cmd := &cobra.Command{
		Use:     "reproduce GAP/LAYER[/TMUX]",
		Short:   "Print what a cell did as a shell script",
		Long:    help("reproduce"),
		Example: help("reproduce-examples"),
		Args:    wantArgs(1, "reproduce: want one cell, GAP/LAYER or GAP/LAYER/TMUX, as in 101/tmux/3.7"),
		RunE: func(cmd *cobra.Command, args []string) error {
			gap, layer, target, err := parseCell(args[0])
			if err != nil {
				return err
			}
			o.Layers, o.Reproduce = []report.Layer{layer}, true
			if err := o.findDialect(cmd); err != nil {
				return err
			}
			if file != "" {
				return reproduceFrom(cmd.OutOrStdout(), file, gap, layer, target)
			}
			g, err := findGap(o.scripts, gap, layer)
			if err != nil {
				return fmt.Errorf("reproduce %s: %w", args[0], err)
			}
			targets, err := o.targets(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			claim, _ := strconv.Atoi(target)
			claimed := claim > 0 && claim <= conform.ClaimsOf([]*conform.Gap{g})[g.Number][layer]
			if (target == "" || claimed) && len(targets) == 1 {
				target = targets[0].Name
			}
			all := each(targets, func(t report.Target) string { return t.Name })
			i := slices.Index(all, target)
			if i < 0 {
				return fmt.Errorf("reproduce %s: want /TMUX behind it, one of: %s (--tmux names others)",
					args[0], strings.Join(all, ", "))
			}
			o.Targets, o.Gaps = targets[i:i+1], []*conform.Gap{g}
			r, err := conform.Run(cmd.Context(), o.Options)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), r.Cells[0].Reproducer)
			return err
		},
	}
	f := cmd.Flags()
	o.targetFlags(cmd)
	f.StringVar(&o.scripts, "scripts", "", "look among the scripts in `DIR` in place of the built-in ones")
	o.serverFlags(cmd)
	f.StringVar(&file, "report", "", "take the failure from this JSON `FILE`, and run nothing")
	o.archive.flags(f)
	return cmd
}

// parseCell reads GAP/LAYER or GAP/LAYER/TMUX, where GAP is a number or a name. In the place of
// TMUX there may be the number of a claim, as reports write it, which is one of a whole script.
func parseCell(s string) (gap string, layer report.Layer, target string, err error) {
	gap, rest, ok := strings.Cut(s, "/")
	name, target, _ := strings.Cut(rest, "/")
	layers, err := parseLayers([]string{name})
	switch {
	case !ok:
		return "", "", "", fmt.Errorf("reproduce %s: want GAP/LAYER or GAP/LAYER/TMUX, as in 101/tmux/3.7", s)
	case err != nil:
		return "", "", "", fmt.Errorf("reproduce %s: layer %q: want tmux, api or mcp", s, name)
	}
	return gap, layers[0], target, nil
}

func hasClaim(c report.Cell, number string) bool {
	return slices.ContainsFunc(c.Claims, func(cl report.Claim) bool { return strconv.Itoa(cl.Number) == number })
}

// reproduceFrom prints the script of a failure in a report.
func reproduceFrom(w io.Writer, file, gap string, layer report.Layer, target string) error {
	r, err := readReport("reproduce", file)
	if err != nil {
		return err
	}
	var failed []string
	for _, c := range r.Cells {
		if c.Reproducer == "" {
			continue
		}
		if (gap == strconv.Itoa(c.Gap) || gap == r.Gap(c.Gap).Name) && c.Layer == layer && (target == "" || c.Tmux == target || hasClaim(c, target)) {
			_, err := io.WriteString(w, c.Reproducer)
			return err
		}
		failed = append(failed, fmt.Sprintf("%d/%s/%s", c.Gap, c.Layer, c.Tmux))
	}
	return fmt.Errorf("reproduce: %s: no such failure; it has: %s", file, cmp.Or(strings.Join(failed, ", "), "none"))
}
