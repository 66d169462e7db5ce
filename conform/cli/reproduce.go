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
		Use:     "reproduce GAP/LAYER[/TMUX[/API]]",
		Short:   "Print what a cell did as a shell script",
		Long:    help("reproduce"),
		Example: help("reproduce-examples"),
		Args:    wantArgs(1, "reproduce: want one cell, GAP/LAYER or GAP/LAYER/TMUX, as in 101/tmux/3.7"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cell, err := parseCell(args[0])
			if err != nil {
				return err
			}
			layer, target := cell.layer, cell.tmux
			o.Layers, o.Reproduce = []report.Layer{layer}, true
			if err := o.findPeers(cmd); err != nil {
				return err
			}
			if file != "" {
				return reproduceFrom(cmd.OutOrStdout(), file, cell)
			}
			g, err := findGap(o.scripts, cell.gap, layer)
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
			if c := &r.Cells[0]; !cell.asks(c) {
				return fmt.Errorf("reproduce %s: the wrapper is %s (--api names others)", args[0], c.API)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), r.Cells[0].Reproducer)
			return err
		},
	}
	f := cmd.Flags()
	o.targetFlags(cmd)
	f.StringVar(&o.scripts, "scripts", "", "look in `DIR` instead of among the built-in scripts")
	o.apiFlag(cmd)
	o.serverFlags(cmd)
	f.StringVar(&file, "report", "", "take the failure from this JSON report `FILE`, and run nothing")
	o.archive.flags(f)
	return cmd
}

// cellName is the name of a cell on the command line.
type cellName struct {
	gap   string // its number or name
	layer report.Layer
	tmux  string
	api   string // the wrapper's name
}

// parseCell reads GAP/LAYER, GAP/LAYER/TMUX or GAP/LAYER/TMUX/API. In the place of TMUX there may
// be the number of a claim, as reports write it, which is one of a whole script.
func parseCell(s string) (c cellName, err error) {
	gap, rest, ok := strings.Cut(s, "/")
	name, rest, _ := strings.Cut(rest, "/")
	layers, err := parseLayers([]string{name})
	switch {
	case !ok:
		return c, fmt.Errorf("reproduce %s: want GAP/LAYER or GAP/LAYER/TMUX, as in 101/tmux/3.7", s)
	case err != nil:
		return c, fmt.Errorf("reproduce %s: layer %q: want tmux, api or mcp", s, name)
	}
	c.gap, c.layer, c.tmux = gap, layers[0], rest
	if c.layer == report.APILayer {
		c.tmux, c.api, _ = strings.Cut(rest, "/")
	}
	return c, nil
}

// is reports whether the name is a cell's, whatever its wrapper.
func (n cellName) is(r *report.Report, c *report.Cell) bool {
	claim := slices.ContainsFunc(c.Claims, func(cl report.Claim) bool { return strconv.Itoa(cl.Number) == n.tmux })
	return (n.gap == strconv.Itoa(c.Gap) || n.gap == r.Gap(c.Gap).Name) && c.Layer == n.layer && (n.tmux == "" || c.Tmux == n.tmux || claim)
}

// asks reports whether a cell is of the named wrapper, with or without its version, or none is
// named.
func (n cellName) asks(c *report.Cell) bool {
	return n.api == "" || n.api == c.API || strings.HasPrefix(c.API, n.api+" ")
}

// reproduceFrom prints the script of a failure in a report.
func reproduceFrom(w io.Writer, file string, name cellName) error {
	r, err := readReport("reproduce", file)
	if err != nil {
		return err
	}
	var failed, apis []string
	var found *report.Cell
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Reproducer == "" {
			continue
		}
		id := fmt.Sprintf("%d/%s/%s", c.Gap, c.Layer, c.Tmux)
		if len(r.APIs) > 1 && c.API != "" {
			id += "/" + c.API
		}
		if failed = append(failed, id); !name.is(r, c) || !name.asks(c) {
			continue
		}
		if found == nil {
			found = c
		}
		if !slices.Contains(apis, c.API) {
			apis = append(apis, c.API)
		}
	}
	switch {
	case found == nil:
		return fmt.Errorf("reproduce: %s: no such failure; it has: %s", file, cmp.Or(strings.Join(failed, ", "), "none"))
	case len(apis) > 1:
		return fmt.Errorf("reproduce: %s: it fails with several wrappers: want GAP/LAYER/TMUX/API, where API is one of: %s", file, strings.Join(apis, ", "))
	}
	_, err = io.WriteString(w, found.Reproducer)
	return err
}
